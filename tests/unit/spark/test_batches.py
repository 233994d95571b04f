"""Batches: which offsets they cover, who runs which task, what a marker says; back-off; the cause of a failure."""

import json
from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'moldau[spark]'")

from moldau.core.errors import ConfigError, MoldauError
from moldau.pipeline.lifecycle import BACK_OFF_MS_MAX, BackOff
from moldau.pipeline.spark.application_record import ApplicationRecord
from moldau.pipeline.spark.batch_plan import BatchPlan
from moldau.pipeline.spark.failures import cause_of
from moldau.pipeline.spark.folder import Folder
from moldau.pipeline.spark.positions import OffsetLog, OffsetRange
from moldau.pipeline.spark.orders import Application, TaskId
from moldau.pipeline.spark.sink import Marker
from moldau.pipeline.spark.topic_offsets import TopicFacts
from moldau.pipeline.streams import STRING, StreamsBuilder

APPLICATION = Application("app", "c", "nowhere:1", {}, True, None, "state", b"", {}, "run")


def write_offsets(folder: Path, batch: int, **positions: dict[int, int]) -> None:
    (folder / "offsets").mkdir(exist_ok=True)
    (folder / "offsets" / str(batch)).write_text("\n".join(["v1", "{}", json.dumps(positions)]))


def test_a_batch_covers_what_lies_between_two_entries_of_the_log(tmp_path: Path) -> None:
    write_offsets(tmp_path, 0, t={0: 5, 1: 0})
    write_offsets(tmp_path, 1, t={0: 5, 1: 7, 2: 3})
    log = OffsetLog(Folder(str(tmp_path)), {"t": {0: 2, 1: 0}})
    assert log.ranges(0) == [OffsetRange("t", 0, 2, 5), OffsetRange("t", 1, 0, 0)]
    # A partition that was added begins at its first record.
    assert log.ranges(1) == [OffsetRange("t", 0, 5, 5), OffsetRange("t", 1, 0, 7), OffsetRange("t", 2, 0, 3)]


def test_the_count_of_time_is_no_partition(tmp_path: Path) -> None:
    write_offsets(tmp_path, 0, **{"t": {0: 5}, "": {0: 123}})
    assert OffsetLog(Folder(str(tmp_path)), {}).ranges(0) == [OffsetRange("t", 0, 0, 5)]


def test_a_lost_entry_of_the_log_is_told(tmp_path: Path) -> None:
    with pytest.raises(MoldauError, match="no offsets of batch 4"):
        OffsetLog(Folder(str(tmp_path)), {}).ranges(4)


def test_tasks_bring_together_what_is_joined_and_rest_when_nothing_came() -> None:
    builder = StreamsBuilder("app", key=STRING, value=STRING)
    builder.stream("orders").join(builder.table("users"), lambda order, user: order + user).to("out")
    plan = BatchPlan(builder.build(), APPLICATION, 2, ticks=False)
    ranges = [
        OffsetRange("orders", 0, 0, 4),
        OffsetRange("users", 0, 1, 1),
        OffsetRange("orders", 1, 3, 3),
        OffsetRange("users", 1, 2, 2),
    ]
    (order,) = plan.orders(7, ranges)
    assert [task.task for task in order.tasks] == [TaskId(0, 0)]
    assert {one.topic for one in order.tasks[0].ranges} == {"orders", "users"}
    with_timers = BatchPlan(builder.build(), APPLICATION, 2, ticks=True)
    assert [order.slot for order in with_timers.orders(7, ranges)] == [0, 1]


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
    ApplicationRecord.new("print", {"t": "id-1"}, {"t": {"0": 0}}, 2).save(folder)
    record = ApplicationRecord.load(folder)
    assert record is not None
    record.check("app", "print", {"t": TopicFacts("id-1", 3)})
    with pytest.raises(ConfigError, match="deleted and created again"):
        record.check("app", "print", {"t": TopicFacts("id-2", 3)})
    with pytest.raises(ConfigError, match="was deleted"):
        record.check("app", "print", {})
    with pytest.raises(ConfigError, match="not the one its checkpoint was made by"):
        record.check("app", "other", {"t": TopicFacts("id-1", 3)})
