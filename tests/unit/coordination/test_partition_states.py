"""Partition states written by compare-and-set."""

import pytest

from cluster_kit import TreeKit
from moldau.coordination import tree_layout as layout
from moldau.coordination.partition_states import StaleState, StateWrite, write_isr, write_states
from moldau.coordination.store import BadVersion, CheckVersion
from moldau.coordination.tree_layout import PartitionState
from moldau.core.ids import TopicPartition

PLACE = TopicPartition("t", 0)


def born(kit: TreeKit) -> PartitionState:
    kit.start(1, 2, 3)
    kit.topic("t", [(1, 2, 3), (2, 3, 1)])
    state = kit.image().state(PLACE)
    assert state is not None
    return state


def test_a_leader_shrinks_and_grows_its_isr() -> None:
    kit = TreeKit()
    state = born(kit)
    shrunk = write_isr(kit.store, PLACE, state, (1, 2), state.isr_epochs[:2])
    assert kit.image().state(PLACE) == shrunk
    grown = write_isr(kit.store, PLACE, shrunk, (1, 2, 3), (*shrunk.isr_epochs, 99))
    assert kit.image().state(PLACE) == grown
    assert (grown.version, grown.isr_epochs[2]) == (1, 99)


def test_a_deposed_leader_cannot_shrink_an_isr() -> None:
    kit = TreeKit()
    state = born(kit)
    (elected,) = write_states(kit.store, [StateWrite(PLACE, state._replace(leader=2, leader_epoch=1))])
    with pytest.raises(StaleState):
        write_isr(kit.store, PLACE, state, (1,), state.isr_epochs[:1])
    assert kit.image().state(PLACE) == elected


def test_a_deposed_controller_changes_nothing() -> None:
    kit = TreeKit()
    state = born(kit)
    kit.store.create(layout.CONTROLLER_EPOCH, b"1")
    kit.store.set(layout.CONTROLLER_EPOCH, b"2")
    with pytest.raises(BadVersion) as refusal:
        write_states(
            kit.store,
            [StateWrite(PLACE, state._replace(leader=3))],
            [CheckVersion(layout.CONTROLLER_EPOCH, 0)],
        )
    assert refusal.value.path == layout.CONTROLLER_EPOCH
    assert kit.image().state(PLACE) == state


def test_several_are_written_together_or_not_at_all() -> None:
    kit = TreeKit()
    state = born(kit)
    other = kit.image().topics["t"].state(1)
    write_states(kit.store, [StateWrite(TopicPartition("t", 1), other._replace(leader_epoch=5))])
    with pytest.raises(StaleState):
        write_states(
            kit.store,
            [StateWrite(PLACE, state._replace(leader_epoch=1)), StateWrite(TopicPartition("t", 1), other)],
        )
    assert kit.image().state(PLACE) == state


def test_a_deleted_topic_has_no_states() -> None:
    kit = TreeKit()
    state = born(kit)
    kit.store.delete(layout.topic_path("t"))
    with pytest.raises(StaleState):
        write_isr(kit.store, PLACE, state, (1,), state.isr_epochs[:1])
