"""What becomes of stores and topics when a topology changes: names, shapes, numbers, choices."""

import json
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'moldau[spark]'")

from moldau.core.errors import ConfigError
from moldau.pipeline.plan.topology import Topology
from moldau.pipeline.spark.upgrades.comparison import Fate, Upgrade, compare
from moldau.pipeline.spark.upgrades.inventory import Inventory
from moldau.pipeline.streams import (
    JSON,
    LONG,
    STRING,
    JoinWindows,
    KStream,
    StreamsBuilder,
    sessions,
    sliding,
    tumbling,
)


def built(write: Callable[[StreamsBuilder], object]) -> Topology:
    builder = StreamsBuilder("app", key=STRING, value=STRING)
    write(builder)
    return builder.build()


def upgrade(
    old: Callable[[StreamsBuilder], object],
    new: Callable[[StreamsBuilder], object],
    unread: dict[str, int] | None = None,
) -> Upgrade:
    before = Inventory.from_json(json.loads(json.dumps(Inventory.of(built(old)).to_json())))
    return compare(before, built(new), unread or {})


def fates(found: Upgrade, kind: str = "store") -> dict[str, Fate]:
    return {one.name: one.fate for one in found.changes if one.kind == kind}


def stateless(builder: StreamsBuilder) -> None:
    builder.stream("in").map_values(str.upper).to("out")


def named_count(builder: StreamsBuilder) -> None:
    builder.stream("in").group_by_key().count(store="counts").to_stream().to("out", value=LONG)


def filtered_named_count(builder: StreamsBuilder) -> None:
    some = builder.stream("in").filter(lambda _, value: bool(value)).peek(print)
    some.group_by_key().count(store="counts").to_stream().to("out", value=LONG)


def unnamed_count(builder: StreamsBuilder) -> None:
    builder.stream("in").group_by_key().count().to_stream().to("out", value=LONG)


def filtered_unnamed_count(builder: StreamsBuilder) -> None:
    some = builder.stream("in").filter(lambda _, value: bool(value))
    some.group_by_key().count().to_stream().to("out", value=LONG)


def regrouped(builder: StreamsBuilder) -> None:
    builder.stream("in").group_by(lambda _, value: value).count().to_stream().to("out", value=LONG)


def test_a_filter_in_a_stateless_topology_changes_nothing() -> None:
    found = upgrade(
        stateless, lambda b: b.stream("in").filter(lambda k, v: True).map_values(str.upper).to("out")
    )
    assert not found.is_needed
    assert {one.fate for one in found.changes} == {Fate.KEPT}


def test_a_named_store_is_found_by_its_name_and_its_operator_keeps_its_times() -> None:
    found = upgrade(named_count, filtered_named_count)
    assert not found.is_needed and fates(found) == {"counts": Fate.KEPT}
    owners = [node.name for node in found.topology.nodes if node.stores()]
    assert owners == [node.name for node in built(named_count).nodes if node.stores()]
    assert owners != [node.name for node in built(filtered_named_count).nodes if node.stores()]


def test_a_generated_name_is_found_by_its_shape_and_gets_its_old_number() -> None:
    found = upgrade(unnamed_count, filtered_unnamed_count)
    assert not found.is_needed
    assert list(found.topology.stores) == list(built(unnamed_count).stores)
    assert len({node.name for node in found.topology.nodes}) == len(found.topology.nodes)
    # And it stays found at the next start.
    assert not compare(Inventory.of(found.topology), built(filtered_unnamed_count), {}).is_needed


def test_a_generated_repartition_topic_keeps_its_name() -> None:
    def later(builder: StreamsBuilder) -> None:
        some = builder.stream("in").filter(lambda _, value: bool(value))
        some.group_by(lambda _, value: value).count().to_stream().to("out", value=LONG)

    found = upgrade(regrouped, later)
    assert not found.is_needed
    assert found.topology.internal_topics == built(regrouped).internal_topics
    sinks = {topic for part in found.topology.sub_topologies for topic in part.sink_topics}
    assert found.topology.internal_topics <= sinks


def test_an_application_that_is_mixed_with_a_new_one_keeps_its_own() -> None:
    def more(builder: StreamsBuilder) -> None:
        other = builder.stream("other", value=STRING).group_by_key().windowed_by(tumbling(10)).count()
        other.to_stream().to("out2", value=LONG)
        unnamed_count(builder)

    found = upgrade(unnamed_count, more)
    (old,) = built(unnamed_count).stores
    assert fates(found)[old] is Fate.KEPT and sorted(fates(found).values()) == [Fate.ADDED, Fate.KEPT]
    assert found.inherits == ((), (0,))
    found.require("app", "refuse")
    again = compare(Inventory.of(found.topology), built(more), {})
    assert not again.is_needed and again.topology.stores.keys() == found.topology.stores.keys()


def windowed(size_ms: int, name: str | None = "counts") -> Callable[[StreamsBuilder], object]:
    def write(builder: StreamsBuilder) -> None:
        grouped = builder.stream("in").group_by_key().windowed_by(tumbling(size_ms))
        grouped.count(store=name).to_stream().to("out", value=LONG)

    return write


@pytest.mark.parametrize("name", ["counts", None])
def test_other_windows_ask_and_the_message_says_what_differs(name: str | None) -> None:
    found = upgrade(windowed(1_000, name), windowed(2_000, name))
    (changed,) = [one for one in found.changes if one.fate is Fate.CHANGED]
    with pytest.raises(ConfigError, match=r"window size 2000 ms, before 1000 ms") as refused:
        found.require("app", "refuse")
    for way in (changed.name, "--on-change drop", "--on-change keep", "moldau streams reset app"):
        assert way in str(refused.value)
    assert ("give it its old name" in str(refused.value)) is (name is None)
    found.require("app", "keep")
    assert found.forgotten("keep") == []
    found.require("app", "drop")
    assert changed.name in found.forgotten("drop")


@pytest.mark.parametrize(
    ("new", "difference"),
    [
        (lambda g: g.reduce(lambda a, b: a + b, store="s"), "values string, before long"),
        (lambda g: g.windowed_by(tumbling(5)).count(store="s"), "store window, before key-value"),
        (lambda g: g.windowed_by(sessions(5)).count(store="s"), "store session, before key-value"),
        (lambda g: g.windowed_by(sliding(5)).count(store="s"), "operator window-aggregate, before aggregate"),
    ],
)
def test_what_makes_a_store_another(new: Callable[..., object], difference: str) -> None:
    found = upgrade(
        lambda b: b.stream("in").group_by_key().count(store="s"),
        lambda b: new(b.stream("in").group_by_key()),
    )
    (changed,) = [one for one in found.changes if one.fate is Fate.CHANGED]
    assert changed.name == "s" and difference in changed.details


def test_a_removed_store_is_lost_only_when_it_is_dropped() -> None:
    found = upgrade(named_count, lambda b: b.stream("in").to("out"))
    for choice in ("refuse", "keep"):
        with pytest.raises(ConfigError, match="store counts is removed: its state would be lost"):
            found.require("app", choice)  # type: ignore[arg-type]
    found.require("app", "drop")
    assert "counts" in found.forgotten("drop") and len(found.forgotten("drop")) == 2


def test_the_times_of_an_operator_stay_when_one_of_its_stores_goes() -> None:
    def joined(kind: str) -> Callable[[StreamsBuilder], object]:

        def write(builder: StreamsBuilder) -> None:
            left, right = builder.stream("a"), builder.stream("b")
            getattr(left, kind)(right, lambda a, b: a, windows=JoinWindows(5, 5, 0)).to("out")

        return write

    found = upgrade(joined("left_join"), joined("join"))
    assert sorted(fates(found).values()) == [Fate.KEPT, Fate.KEPT, Fate.REMOVED]
    assert all(name.endswith("-outer") for name in found.forgotten("drop"))


def test_stores_that_look_alike_and_are_not_named_are_not_guessed() -> None:
    def twice(builder: StreamsBuilder) -> None:
        count_twice(builder.stream("in"))

    def twice_later(builder: StreamsBuilder) -> None:
        count_twice(builder.stream("in").filter(lambda _, value: bool(value)))

    def count_twice(lines: KStream[Any, Any]) -> None:
        for _ in range(2):
            lines.group_by_key().count().to_stream().to("out", value=LONG)

    found = upgrade(unnamed_count, twice)
    with pytest.raises(
        ConfigError, match="1 like it without a name before, 2 now: it is not clear which is which"
    ):
        found.require("app", "refuse")
    found.require("app", "keep")
    # As many as before are found in their order.
    assert not upgrade(twice, twice_later).is_needed


def test_a_store_that_is_given_its_old_name_is_kept() -> None:
    (old,) = built(unnamed_count).stores
    found = upgrade(
        unnamed_count,
        lambda b: b.stream("in").group_by_key().count(store=old).to_stream().to("out", value=LONG),
    )
    assert fates(found) == {old: Fate.KEPT}
    found.require("app", "refuse")


@pytest.mark.parametrize("filters", [1, 2, 3])
def test_a_name_that_was_written_down_is_not_renumbered(filters: int) -> None:
    (old,) = built(regrouped).stores

    def write(builder: StreamsBuilder) -> None:
        some = builder.stream("in")
        for _ in range(filters):
            some = some.filter(lambda _, value: bool(value))
        some.group_by(lambda _, value: value).count(store=old).to_stream().to("out", value=LONG)

    found = upgrade(regrouped, write)
    assert fates(found) == {old: Fate.KEPT}
    assert fates(found, "internal topic") == {f"app-{old}-repartition": Fate.KEPT}


def test_unread_records_of_a_topic_that_goes_ask() -> None:
    (topic,) = built(regrouped).internal_topics

    def without(builder: StreamsBuilder) -> None:
        builder.stream("in").to("out")

    found = upgrade(regrouped, without, {topic: 7})
    with pytest.raises(ConfigError, match=f"internal topic {topic} is removed: 7 records in it are unread"):
        found.require("app", "keep")
    with pytest.raises(ConfigError, match="run the old topology until its lag is 0"):
        found.require("app", "refuse")
    found.require("app", "drop")


def test_records_of_another_form_in_a_topic_ask_while_they_are_unread() -> None:
    def with_value(serde: object) -> Callable[[StreamsBuilder], object]:
        def write(builder: StreamsBuilder) -> None:
            builder.stream("in").repartition(value=serde, name="again").to("out")

        return write

    topic = "app-again-repartition"
    assert upgrade(with_value(STRING), with_value(JSON)).refused("refuse") == []
    found = upgrade(with_value(STRING), with_value(JSON), {topic: 3})
    assert [one.name for one in found.refused("refuse")] == [topic]
    assert found.refused("keep") == [] and found.skipped_topics("keep") == []
    assert found.refused("drop") == [] and found.skipped_topics("drop") == [topic]


def test_source_topics_come_and_go() -> None:
    found = upgrade(stateless, lambda b: b.stream("in2").to("out"))
    assert fates(found, "source topic") == {"in": Fate.REMOVED, "in2": Fate.ADDED}
    assert found.is_needed and found.refused("refuse") == []


def test_keys_that_lie_elsewhere_now_are_noticed() -> None:
    found = upgrade(
        named_count,
        lambda b: b.stream("in").group_by(lambda _, value: value).count(store="counts"),
    )
    (changed,) = found.refused("refuse")
    assert "its tasks read app-counts-repartition, before in: equal keys may lie in other" in changed.details
    assert found.inherits == ((), (0,))


def test_parts_that_are_joined_or_cut_apart_bring_their_stores_along() -> None:
    def apart(builder: StreamsBuilder) -> None:
        for topic in ("a", "b"):
            builder.stream(topic).group_by_key().count(store=f"{topic}s")

    def together(builder: StreamsBuilder) -> None:
        one, other = (builder.stream(topic).group_by_key().count(store=f"{topic}s") for topic in ("a", "b"))
        one.join(other, lambda a, b: a + b).to_stream().to("out", value=LONG)

    joined, cut = upgrade(apart, together), upgrade(together, apart)
    assert joined.inherits == ((0, 1),) and cut.inherits == ((0,), (0,))
    for found in (joined, cut):
        assert {fates(found)[name] for name in ("as", "bs")} == {Fate.KEPT}


def test_a_user_topic_that_looks_like_a_generated_name_keeps_its_name() -> None:
    def write(builder: StreamsBuilder) -> None:
        builder.stream("IN-0000000003").group_by_key().count().to_stream().to("OUT", value=LONG)

    def filtered(builder: StreamsBuilder) -> None:
        some = builder.stream("IN-0000000003").filter(lambda _, value: True).peek(print)
        some.group_by_key().count().to_stream().to("OUT", value=LONG)

    found = upgrade(write, filtered)
    assert not found.is_needed and found.topology.source_topics == ("IN-0000000003",)


def test_a_generated_store_is_found_when_its_source_has_another_topic_too() -> None:
    def two_topics(builder: StreamsBuilder) -> None:
        some = builder.stream("in", "in2").filter(lambda _, value: bool(value))
        some.group_by_key().count().to_stream().to("out", value=LONG)

    found = upgrade(unnamed_count, two_topics)
    assert set(fates(found).values()) == {Fate.KEPT} and found.inherits == ((0,),)
    assert fates(found, "source topic") == {"in": Fate.KEPT, "in2": Fate.ADDED}
