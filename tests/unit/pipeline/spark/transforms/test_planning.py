"""What the driver of an application makes of a function of DataFrames: who runs it, and what an upgrade finds."""

import pytest

from moldau.pipeline.operators.records import OutputRecord
from moldau.pipeline.spark.driver.batch_plan import BatchPlan, transactional_ids
from moldau.pipeline.spark.orders import Application, TaskId
from moldau.pipeline.spark.planning.planner import Plan
from moldau.pipeline.spark.planning.shape import Shape
from moldau.pipeline.spark.upgrades.comparison import Fate, compare
from moldau.pipeline.spark.upgrades.inventory import Inventory
from moldau.pipeline.spark.worker.repartition_headers import in_own_partition
from moldau.pipeline.streams import STRING, KStream, StreamsBuilder, Topology

TOPIC_IN, TOPIC_OUT = "app-step-transform-in", "app-step-transform-out"


def built(name: str | None = "step", *, filtered: bool = False, transforms: bool = True) -> Topology:
    builder = StreamsBuilder("app", key=STRING, value=STRING)
    stream: KStream[str, str] = builder.stream("in")
    if filtered:
        stream = stream.filter(lambda _, value: bool(value))
    if transforms:
        stream = stream.transform(lambda df: df, name=name)
    stream.to("out")
    return builder.build()


def test_the_tasks_of_slots_are_those_before_it_and_behind_it() -> None:
    application = Application("app", "c", "nowhere:1", {}, True, None, "state", b"", {}, "run")
    ends = {topic: {0: 5} for topic in ("in", TOPIC_IN, TOPIC_OUT)}
    (order,) = BatchPlan(built(), application, 1).orders(Plan(3, {}, ends, 1_000), rests=True)
    assert [task.task for task in order.tasks] == [TaskId(0, 0), TaskId(2, 0)]


def test_it_is_a_level_of_its_own() -> None:
    places = {place.topic: place for place in Shape.of(built()).topics}
    assert [places[topic].part for topic in ("in", TOPIC_IN, TOPIC_OUT)] == [0, 1, 2]
    assert places[TOPIC_IN].is_internal and places[TOPIC_OUT].is_internal


def test_a_task_writes_to_its_own_partition_of_the_topic_before_it() -> None:
    records = [OutputRecord(TOPIC_IN, None, 1, b"k", b"v"), OutputRecord("out", None, 1, b"k", b"v")]
    placed = in_own_partition(records, {TOPIC_IN: 4}, TaskId(0, 6))
    assert [one.partition for one in placed] == [2, None]


def test_its_transactions_are_fenced_with_those_of_the_slots() -> None:
    inventory = Inventory.of(built())
    assert transactional_ids("app", 1, inventory.topics) == ["app-0", "app-step-transform"]


@pytest.mark.parametrize("name", ["step", None])
def test_an_upgrade_finds_its_topics_again(name: str | None) -> None:
    before = Inventory.of(built(name))
    upgrade = compare(before, built(name, filtered=True), {})
    assert {one.fate for one in upgrade.changes} == {Fate.KEPT}
    assert upgrade.topology.internal_topics == built(name).internal_topics


def test_one_that_is_removed_must_leave_nothing_unread() -> None:
    before = Inventory.of(built())
    changes = {one.name: one for one in compare(before, built(transforms=False), {TOPIC_IN: 3}).changes}
    assert changes[TOPIC_IN].is_refused("refuse") and not changes[TOPIC_OUT].is_refused("refuse")
    assert changes[TOPIC_IN].asks == "3 records in it are unread and would be lost"
