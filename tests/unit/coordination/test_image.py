"""The cluster's image: what the tree holds, and what changed."""

from cluster_kit import TreeKit
from moldau.coordination import tree_layout as layout
from moldau.coordination.image import ClusterImage, ImageDelta, load_image
from moldau.coordination.partition_states import StateWrite, write_states
from moldau.coordination.store import Reading
from moldau.coordination.tree_layout import PartitionState
from moldau.core.ids import TopicPartition

PLACE = TopicPartition("t", 0)


def read(kit: TreeKit, *paths: str) -> dict[str, Reading | None]:
    return dict(zip(paths, kit.store.read_many(paths), strict=True))


def test_an_empty_tree_is_an_empty_image() -> None:
    assert load_image(TreeKit().store) == ClusterImage()


def test_a_new_topic_is_led_by_its_first_replicas_all_in_sync() -> None:
    kit = TreeKit()
    kit.start(1, 2, 3)
    kit.topic("t", [(1, 2, 3), (2, 3, 1)], retention_ms="5")
    image = kit.image()
    state = image.state(PLACE)
    assert state is not None
    assert (state.leader, state.leader_epoch, state.isr, state.version) == (1, 0, (1, 2, 3), -1)
    assert image.in_sync(state) == (1, 2, 3)
    assert image.topic_configs("t") == {"retention.ms": "5"}
    assert image.state(TopicPartition("t", 2)) is None
    assert image.state(TopicPartition("u", 0)) is None


def test_the_delta_names_what_changed_and_nothing_else() -> None:
    kit = TreeKit()
    kit.start(1, 2)
    kit.topic("t", [(1, 2)])
    kit.topic("u", [(2, 1)])
    before = kit.image()
    state = before.state(PLACE)
    assert state is not None
    write_states(kit.store, [StateWrite(PLACE, state._replace(leader=2, leader_epoch=1))])
    after, delta = before.apply(read(kit, layout.state_path("t", 0)))
    assert delta == ImageDelta(topics=frozenset({"t"}))
    changed = after.state(PLACE)
    assert changed is not None and (changed.leader, changed.leader_epoch, changed.version) == (2, 1, 0)
    assert before.state(PLACE) == state, "an image is a value"
    kit.stop(2)
    after, delta = after.apply(read(kit, layout.broker_path(2)))
    assert delta == ImageDelta(brokers=frozenset({2}))
    assert after == kit.image()


def test_reading_the_same_again_changes_nothing() -> None:
    kit = TreeKit()
    kit.start(1)
    kit.topic("t", [(1,)])
    image = kit.image()
    again, delta = image.apply(read(kit, layout.topic_path("t"), layout.broker_path(1), layout.CONTROLLER))
    assert delta == ImageDelta()
    assert again == image


def test_a_topic_made_anew_under_its_name_has_none_of_the_old_states() -> None:
    kit = TreeKit()
    kit.start(1, 2)
    kit.topic("t", [(1, 2)])
    state = kit.image().state(PLACE)
    assert state is not None
    write_states(kit.store, [StateWrite(PLACE, state._replace(leader_epoch=7))])
    before = kit.image()
    for path in (
        layout.state_path("t", 0),
        layout.partition_path("t", 0),
        layout.partitions_path("t"),
        layout.topic_path("t"),
    ):
        kit.store.delete(path)
    kit.topic("t", [(2,)])
    after, _ = before.apply(read(kit, layout.topic_path("t")))
    fresh = after.state(PLACE)
    assert fresh is not None and (fresh.leader, fresh.leader_epoch) == (2, 0)


def test_a_broker_that_lost_the_end_of_its_log_is_not_in_sync_until_found_so() -> None:
    kit = TreeKit()
    kit.start(1, 2)
    kit.topic("t", [(1, 2)])
    state = kit.image().state(PLACE)
    assert state is not None
    kit.stop(1)
    kit.start(1, intact_since=None)
    image = kit.image()
    assert image.in_sync(state) == (2,)
    assert not image.may_lead(state, 1)
    found = state._replace(isr_epochs=(image.brokers[1].epoch, state.isr_epochs[1]))
    assert image.in_sync(found) == (1, 2)


def test_a_broker_whose_process_alone_died_is_in_sync_as_before() -> None:
    kit = TreeKit()
    kit.start(1, 2)
    kit.topic("t", [(1, 2)])
    state = kit.image().state(PLACE)
    assert state is not None
    kit.stop(1)
    assert kit.image().in_sync(state) == (2,)
    kit.start(1, intact_since=0)
    assert kit.image().may_lead(state, 1)


def test_the_only_member_is_in_sync_whatever_it_lost() -> None:
    kit = TreeKit()
    kit.start(1)
    kit.topic("t", [(1,)])
    kit.stop(1)
    kit.start(1, intact_since=None)
    image = kit.image()
    state = image.state(PLACE)
    assert state is not None and image.may_lead(state, 1)


def test_states_written_before_there_were_epochs_count_for_brokers_that_lost_nothing() -> None:
    state = layout.decode_state(
        b'{"controller_epoch":1,"leader":1,"version":1,"leader_epoch":2,"isr":[1,2]}', 3
    )
    assert state == PartitionState(1, 2, (1, 2), (0, 0), 1, 3)


def test_what_cannot_be_understood_counts_for_nothing() -> None:
    kit = TreeKit()
    kit.start(1)
    kit.topic("t", [(1,)])
    kit.store.create(layout.topic_path("strange"), b'{"partitions":{"0":[1]},"version":1}')
    kit.store.create(f"{layout.BROKER_IDS}/9", b"not JSON")
    image = kit.image()
    assert set(image.topics) == {"t"}
    assert set(image.brokers) == {1}
    kit.store.set(layout.topic_path("t"), b"torn")
    after, delta = image.apply(read(kit, layout.topic_path("t"), layout.broker_path(1)))
    assert set(after.topics) == set()
    assert delta == ImageDelta(topics=frozenset({"t"}))
