"""Elections and reassignments requested by clients, in a cluster and at a broker that stands alone."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import pytest

from cluster_kit import TreeKit
from moldau.broker.topics.catalog import PartitionEntry, TopicCatalog, TopicEntry
from moldau.broker.topics.partition_admin import (
    ElectionType,
    PartitionResult,
    Reassignment,
    StandalonePartitionAdmin,
)
from moldau.cluster.controller.cluster_partition_admin import ClusterPartitionAdmin
from moldau.coordination.partition_states import StateWrite, write_states
from moldau.core.ids import BrokerId, TopicId, TopicPartition

Result = TypeVar("Result")
PLACE = TopicPartition("t", 0)
OTHER = TopicPartition("t", 1)


def at_once(job: Callable[[], Result], /) -> Awaitable[Result]:
    async def run() -> Result:
        return job()

    return run()


@pytest.fixture
def kit() -> TreeKit:
    """Both partitions of `t` are led by broker 2; the first should be by 1."""
    kit = TreeKit()
    kit.start(1, 2, 3)
    kit.topic("t", [(1, 2), (2, 1)])
    state = kit.image().topics["t"].state(0)
    write_states(kit.store, [StateWrite(PLACE, state._replace(leader=2, leader_epoch=1))])
    return kit


def admin(kit: TreeKit, *, stale: bool = False) -> ClusterPartitionAdmin:
    old = kit.image()
    return ClusterPartitionAdmin(kit.store, (lambda: old) if stale else kit.image, at_once)


def codes(results: Sequence[PartitionResult]) -> dict[str, str]:
    return {str(each.topic_partition): each.code.name for each in results}


async def test_the_preferred_replica_is_elected_where_it_does_not_lead(kit: TreeKit) -> None:
    results = await admin(kit).elect(ElectionType.PREFERRED, [PLACE, OTHER, TopicPartition("t", 9)])
    assert codes(results) == {
        "t-0": "NONE",
        "t-1": "ELECTION_NOT_NEEDED",
        "t-9": "UNKNOWN_TOPIC_OR_PARTITION",
    }
    state = kit.image().topics["t"].state(0)
    assert (state.leader, state.leader_epoch) == (1, 2)


async def test_electing_for_all_tells_only_of_what_was_needed(kit: TreeKit) -> None:
    assert codes(await admin(kit).elect(ElectionType.PREFERRED, None)) == {"t-0": "NONE"}
    assert codes(await admin(kit).elect(ElectionType.PREFERRED, None)) == {}


async def test_a_preferred_replica_that_is_away_cannot_be_elected(kit: TreeKit) -> None:
    kit.stop(1)
    assert codes(await admin(kit).elect(ElectionType.PREFERRED, [PLACE])) == {
        "t-0": "PREFERRED_LEADER_NOT_AVAILABLE"
    }


async def test_an_unclean_leader_is_elected_by_hand_for_a_partition_without_one(kit: TreeKit) -> None:
    state = kit.image().topics["t"].state(0)
    write_states(kit.store, [StateWrite(PLACE, state._replace(leader=-1, isr=(2,), isr_epochs=(1,)))])
    kit.stop(2)
    results = await admin(kit).elect(ElectionType.UNCLEAN, [PLACE, OTHER])
    assert codes(results) == {"t-0": "NONE", "t-1": "ELECTION_NOT_NEEDED"}
    assert kit.image().topics["t"].state(0).leader == 1
    kit.stop(1)
    state = kit.image().topics["t"].state(0)
    write_states(kit.store, [StateWrite(PLACE, state._replace(leader=-1))])
    assert codes(await admin(kit).elect(ElectionType.UNCLEAN, [PLACE])) == {
        "t-0": "ELIGIBLE_LEADERS_NOT_AVAILABLE"
    }


async def test_what_was_decided_on_an_old_image_is_decided_anew(kit: TreeKit) -> None:
    old = admin(kit, stale=True)
    state = kit.image().topics["t"].state(0)
    write_states(kit.store, [StateWrite(PLACE, state._replace(leader_epoch=7))])
    assert codes(await old.elect(ElectionType.PREFERRED, [PLACE])) == {"t-0": "NONE"}
    assert kit.image().topics["t"].state(0).leader_epoch == 8
    assert codes(await old.reassign({PLACE: [1, 3]}, allows_factor_change=True)) == {"t-0": "NONE"}


async def test_moves_begin_are_listed_and_taken_back(kit: TreeKit) -> None:
    partitions = admin(kit)
    results = await partitions.reassign(
        {PLACE: [1, 3], OTHER: [9], TopicPartition("none", 0): [1]}, allows_factor_change=True
    )
    assert codes(results) == {
        "t-0": "NONE",
        "t-1": "INVALID_REPLICA_ASSIGNMENT",
        "none-0": "UNKNOWN_TOPIC_OR_PARTITION",
    }
    moving = [Reassignment(PLACE, (1, 3, 2), (3,), (2,))]
    assert partitions.reassignments(None) == moving
    assert partitions.reassignments([PLACE, OTHER]) == moving
    assert partitions.reassignments([OTHER]) == []
    assert codes(await partitions.reassign({PLACE: None, OTHER: None}, allows_factor_change=True)) == {
        "t-0": "NONE",
        "t-1": "NO_REASSIGNMENT_IN_PROGRESS",
    }
    assert partitions.reassignments(None) == []


async def test_a_move_to_where_it_is_already_changes_nothing(kit: TreeKit) -> None:
    before = kit.image()
    assert codes(await admin(kit).reassign({PLACE: [1, 2]}, allows_factor_change=False)) == {"t-0": "NONE"}
    assert kit.image() == before


async def test_a_store_out_of_reach_is_said(kit: TreeKit) -> None:
    partitions = admin(kit, stale=True)
    kit.store.disconnect()
    assert codes(await partitions.reassign({PLACE: [1, 3]}, allows_factor_change=True)) == {
        "t-0": "REQUEST_TIMED_OUT"
    }
    kit.store.reconnect()


async def test_a_broker_alone_has_nothing_to_elect_and_nowhere_to_move_to() -> None:
    catalog = TopicCatalog()
    catalog.put(TopicEntry("t", TopicId(bytes(16)), (PartitionEntry(1, 0, (1,), (1,)),) * 2, {}))
    alone = StandalonePartitionAdmin(catalog, BrokerId(1))
    assert codes(await alone.elect(ElectionType.PREFERRED, [PLACE, TopicPartition("t", 2)])) == {
        "t-0": "ELECTION_NOT_NEEDED",
        "t-2": "UNKNOWN_TOPIC_OR_PARTITION",
    }
    assert list(await alone.elect(ElectionType.PREFERRED, None)) == []
    results = await alone.reassign({PLACE: [1], OTHER: [2]}, allows_factor_change=True)
    assert codes(results) == {"t-0": "NONE", "t-1": "INVALID_REPLICA_ASSIGNMENT"}
    assert codes(await alone.reassign({PLACE: None}, allows_factor_change=True)) == {
        "t-0": "NO_REASSIGNMENT_IN_PROGRESS"
    }
    assert list(alone.reassignments(None)) == []
