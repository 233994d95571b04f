"""Batches: which offsets they cover, who runs which task, what a marker says; back-off; the cause of a failure."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'moldau[spark]'")

from moldau.core.errors import ConfigError, MoldauError
from moldau.pipeline.lifecycle import BACK_OFF_MS_MAX, BackOff
from moldau.pipeline.operators.records import Columns, OutputRecord
from moldau.pipeline.spark.checkpoint.application_record import ApplicationRecord, check_topics
from moldau.pipeline.spark.checkpoint.folder import Folder
from moldau.pipeline.spark.driver.batch_plan import BatchPlan
from moldau.pipeline.spark.driver.failures import cause_of
from moldau.pipeline.spark.marker import Marker
from moldau.pipeline.spark.orders import Application, TaskId
from moldau.pipeline.spark.planning.ledger import Ledger
from moldau.pipeline.spark.planning.planner import Plan
from moldau.pipeline.spark.positions import OffsetRange, Positions, ranges_between
from moldau.pipeline.spark.topic_offsets import TopicFacts
from moldau.pipeline.spark.worker.repartition_headers import by_writer, stamped
from moldau.pipeline.streams import STRING, StreamsBuilder, Topology

APPLICATION = Application("app", "c", "nowhere:1", {}, True, None, "state", b"", {}, "run")


def plan(starts: Positions, ends: Positions, **more: Any) -> Plan:
    return Plan(7, starts, ends, 1_000, **more)


def joining() -> Topology:
    builder = StreamsBuilder("app", key=STRING, value=STRING)
    builder.stream("orders").join(builder.table("users"), lambda order, user: order + user).to("out")
    return builder.build()


def test_tasks_bring_together_what_is_joined_and_rest_when_nothing_came() -> None:
    batches = BatchPlan(joining(), APPLICATION, 2)
    starts = {"orders": {0: 0, 1: 3}, "users": {0: 1, 1: 2}}
    (order,) = batches.orders(plan(starts, {"orders": {0: 4, 1: 3}, "users": {0: 1, 1: 2}}), rests=True)
    assert [task.task for task in order.tasks] == [TaskId(0, 0)]
    assert {one.topic for one in order.tasks[0].ranges} == {"orders", "users"}
    assert order.rests and order.batch_id == 7 and order.clock_ms == 1_000


def test_a_task_is_called_without_input_when_its_timer_asks() -> None:
    batches = BatchPlan(joining(), APPLICATION, 2)
    still = {"orders": {0: 4, 1: 3}, "users": {0: 1, 1: 2}}
    assert batches.orders(plan(still, still), rests=True) == []
    (order,) = batches.orders(plan(still, still, woken=("0_1",)), rests=True)
    assert [task.task for task in order.tasks] == [TaskId(0, 1)]
    everywhere = batches.orders(plan(still, still, advance_ms=5_000), rests=True)
    assert [task.task for one in everywhere for task in one.tasks] == [TaskId(0, 0), TaskId(0, 1)]
    assert {one.advance_ms for one in everywhere} == {5_000}


def test_a_partition_that_was_added_begins_at_its_first_record() -> None:
    ranges = list(ranges_between({"t": {0: 5}}, {"t": {0: 5, 1: 7}}))
    assert ranges == [OffsetRange("t", 0, 5, 5), OffsetRange("t", 1, 0, 7)]


def test_the_ledger_gives_back_the_last_plan(tmp_path: Path) -> None:
    ledger = Ledger(Folder(str(tmp_path)))
    assert ledger.last() is None
    for batch in range(9):
        written = Plan(
            batch,
            {"t": {0: batch}},
            {"t": {0: batch + 1}},
            batch,
            delayed={"u": ({0: 3}, {0: 4, 1: 9})},
            frontier_ms=17,
            woken=("0_1",),
        )
        ledger.write(written)
    assert ledger.last() == written
    # The history does not grow with the application.
    assert len(list(tmp_path.iterdir())) <= 5


def test_a_plan_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "4").write_text("{")
    with pytest.raises(MoldauError, match=r"plan .*4 cannot be read.*restore the checkpoint"):
        Ledger(Folder(str(tmp_path))).last()


@pytest.mark.parametrize("metadata", [None, "", "moldau", "moldau c x", "someone else", "moldau c 1 2"])
def test_what_others_commit_is_no_marker(metadata: str | None) -> None:
    assert Marker.parse(metadata) is None


def test_a_marker_survives_its_text() -> None:
    assert Marker.parse(str(Marker("abc", 17))) == Marker("abc", 17)


def test_back_off_grows_and_forgets() -> None:
    back_off = BackOff()
    waits = [back_off.failed() for _ in range(12)]
    assert waits == sorted(waits) and waits[0] < waits[1] and waits[-1] == BACK_OFF_MS_MAX
    back_off.progressed()
    assert back_off.failed() == waits[0]


def test_the_cause_is_the_users_exception() -> None:
    text = "\n".join(
        [
            "[STREAM_FAILED] Query terminated: org.apache.spark.SparkException: Job aborted",
            "pyspark.errors.exceptions.captured.PythonException: An exception was thrown from the Python worker:",
            "Traceback (most recent call last):",
            '  File "app.py", line 3, in mapper',
            "moldau.core.errors.ConfigError: the topic t was deleted",
            "\tat org.apache.spark.Foo",
        ]
    )
    assert cause_of(RuntimeError(text)) == "ConfigError: the topic t was deleted"
    assert cause_of(RuntimeError("plain")) == "plain"


def test_a_checkpoint_refuses_what_it_does_not_fit(tmp_path: Path) -> None:
    folder = Folder(str(tmp_path / "app"))
    ApplicationRecord.new("app", "print", {"t": "id-1"}, {"t": {"0": 0}}, 2, {}).save(folder)
    record = ApplicationRecord.load(folder, "app")
    assert record is not None
    record.check_form("app", "print")
    check_topics("app", record.topic_ids, {"t": TopicFacts("id-1", 3)})
    with pytest.raises(ConfigError, match="deleted and created again"):
        check_topics("app", record.topic_ids, {"t": TopicFacts("id-2", 3)})
    with pytest.raises(ConfigError, match="was deleted"):
        check_topics("app", record.topic_ids, {})
    with pytest.raises(ConfigError, match="not the one that made its checkpoint"):
        record.check_form("app", "other")


def test_a_checkpoint_of_another_application_is_refused(tmp_path: Path) -> None:
    folder = Folder(str(tmp_path))
    ApplicationRecord.new("app", "print", {}, {}, 1, {}).save(folder)
    with pytest.raises(
        ConfigError, match="belongs to the application app, not to other: name another folder"
    ):
        ApplicationRecord.load(folder, "other")
    (tmp_path / "application.json").write_text('{"checkpoint_id": "c"}')
    with pytest.raises(ConfigError, match=r"another version of Moldau.*moldau streams reset app"):
        ApplicationRecord.load(folder, "app")
    (tmp_path / "application.json").write_text("{")
    with pytest.raises(ConfigError, match="cannot be read"):
        ApplicationRecord.load(folder, "app")


def test_a_repartition_topic_is_read_as_one_queue_for_each_writer() -> None:
    written = [
        OutputRecord("app-x-repartition", None, 5, b"a", b"1", (("own", b"h"),), 70),
        OutputRecord("out", None, 5, b"a", b"1"),
        OutputRecord("app-x-repartition", None, 9, b"b", None, (), 71),
    ]
    one = stamped(written, frozenset({"app-x-repartition"}), TaskId(0, 1))
    other = stamped(written, frozenset({"app-x-repartition"}), TaskId(0, 300))
    assert one[1] == written[1]
    lying = [one[0], other[0], one[2]]
    columns = Columns(
        "app-x-repartition",
        0,
        [3, 4, 5],
        [record.timestamp_ms for record in lying],
        [record.key for record in lying],
        [record.value for record in lying],
        [record.headers for record in lying],
    )
    first, second = by_writer(columns)
    assert (first.offsets, first.order_ms, first.headers) == ([3, 5], [70, 71], [(("own", b"h"),), ()])
    assert (second.offsets, second.keys, second.writer != first.writer) == ([4], [b"a"], True)
    (alone,) = by_writer(replace(columns, offsets=[3], headers=[one[2].headers], timestamps_ms=[9]))
    assert (alone.order_ms, alone.headers) == ((71,), None)


def test_a_record_without_a_stamp_is_a_writer_of_its_own() -> None:
    """A dead letter that was put back where it came from."""
    (stamp,) = stamped([OutputRecord("r", None, 5, b"a", b"1", (), 70)], frozenset({"r"}), TaskId(0, 0))
    columns = Columns("r", 0, [1, 2], [5, 9], [b"a", b"b"], [b"1", b"2"], [stamp.headers, (("mine", b"h"),)])
    first, second = by_writer(columns)
    assert (first.offsets, first.order_ms) == ([1], [70])
    assert (second.offsets, second.order_ms, second.headers) == ([2], [9], [(("mine", b"h"),)])
    (alone,) = by_writer(replace(columns, headers=None))
    assert (alone.order_ms, alone.headers) == ((5, 9), None)
