"""Reassignment of replicas."""

import pytest

from cluster_kit import TreeKit
from moldau.cluster.controller.machine import decide_asked, decide_topics
from moldau.cluster.controller.reassignment import Move, check_target, decide_cancel, decide_start
from moldau.cluster.controller.writing import Term, move_writes, write_decision
from moldau.coordination import tree_layout as layout
from moldau.coordination.image import TopicImage
from moldau.coordination.partition_states import StateWrite, write_states
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.core.ids import TopicPartition

PLACE = TopicPartition("t", 0)
TERM = Term(1, 0)


@pytest.fixture
def kit() -> TreeKit:
    kit = TreeKit()
    kit.start(1, 2, 3, 4)
    kit.topic("t", [(1, 2)])
    kit.store.create(layout.CONTROLLER_EPOCH, b"1")
    return kit


def topic(kit: TreeKit) -> TopicImage:
    return kit.image().topics["t"]


def write(kit: TreeKit, move: Move) -> None:
    states, ops = move_writes(topic(kit), move, 1)
    write_states(kit.store, states, after=ops)


def control(kit: TreeKit) -> None:
    write_decision(kit.store, TERM, decide_asked(kit.image()))
    write_decision(kit.store, TERM, decide_topics(kit.image(), ["t"]))


def join(kit: TreeKit, *brokers: int) -> None:
    """Followers have caught up: their leader takes them into the ISR."""
    image = kit.image()
    state = image.topics["t"].state(0)
    epochs = tuple(image.brokers[each].epoch for each in brokers)
    grown = state._replace(isr=(*state.isr, *brokers), isr_epochs=(*state.isr_epochs, *epochs))
    write_states(kit.store, [StateWrite(PLACE, grown)])


def test_a_new_replica_is_not_in_sync_before_it_is(kit: TreeKit) -> None:
    write(kit, decide_start(topic(kit), {0: (1, 2, 3)}))
    moving = topic(kit)
    assert (moving.replicas[0], moving.adding, moving.removing) == ((1, 2, 3), {0: (3,)}, {})
    assert moving.state(0).isr == (1, 2)
    control(kit)
    assert topic(kit).is_reassigning(0)


def test_more_replicas_are_there_once_in_sync(kit: TreeKit) -> None:
    write(kit, decide_start(topic(kit), {0: (1, 2, 3)}))
    join(kit, 3)
    control(kit)
    done = topic(kit)
    assert (done.replicas[0], done.adding, done.removing) == ((1, 2, 3), {}, {})
    assert (done.state(0).leader, done.state(0).isr) == (1, (1, 2, 3))


def test_a_partition_moves_to_other_brokers_leader_and_all(kit: TreeKit) -> None:
    write(kit, decide_start(topic(kit), {0: (3, 4)}))
    assert topic(kit).replicas[0] == (3, 4, 1, 2)
    join(kit, 3)
    control(kit)
    assert topic(kit).state(0).leader == 1, "one of two is not enough"
    join(kit, 4)
    control(kit)
    done = topic(kit)
    assert (done.replicas[0], done.is_reassigning(0)) == ((3, 4), False)
    assert (done.state(0).leader, done.state(0).leader_epoch, done.state(0).isr) == (3, 1, (3, 4))


def test_fewer_replicas_are_left_at_once_when_they_are_in_sync(kit: TreeKit) -> None:
    write(kit, decide_start(topic(kit), {0: (2,)}))
    control(kit)
    done = topic(kit)
    assert (done.replicas[0], done.state(0).leader, done.state(0).isr) == ((2,), 2, (2,))


def test_a_move_can_be_taken_back(kit: TreeKit) -> None:
    write(kit, decide_start(topic(kit), {0: (3, 4)}))
    join(kit, 3)
    write(kit, decide_cancel(topic(kit), [0]))
    back = topic(kit)
    assert (back.replicas[0], back.is_reassigning(0), back.state(0).isr) == ((1, 2), False, (1, 2))
    with pytest.raises(ApiError) as refusal:
        decide_cancel(back, [0])
    assert refusal.value.code is ErrorCode.NO_REASSIGNMENT_IN_PROGRESS


def test_a_leader_that_was_only_coming_does_not_lead_after_a_cancel(kit: TreeKit) -> None:
    write(kit, decide_start(topic(kit), {0: (3, 4)}))
    join(kit, 3)
    kit.stop(1, 2)
    control(kit)
    assert topic(kit).state(0).leader == 3
    with pytest.raises(ApiError) as refusal:
        decide_cancel(topic(kit), [0])
    assert refusal.value.code is ErrorCode.INVALID_REPLICA_ASSIGNMENT


def test_a_second_move_replaces_the_first(kit: TreeKit) -> None:
    write(kit, decide_start(topic(kit), {0: (3, 4)}))
    write(kit, decide_start(topic(kit), {0: (1, 3)}))
    moving = topic(kit)
    assert (moving.replicas[0], moving.adding, moving.removing) == ((1, 3, 2), {0: (3,)}, {0: (2,)})


@pytest.mark.parametrize(
    ("target", "code", "words"),
    [
        ([], ErrorCode.INVALID_REPLICA_ASSIGNMENT, "empty replica list"),
        ([1, 9], ErrorCode.INVALID_REPLICA_ASSIGNMENT, "broker 9, but no such broker is registered"),
        ([1, 1], ErrorCode.INVALID_REPLICA_ASSIGNMENT, "the broker 1 more than once"),
        ([1, 2, 3], ErrorCode.INVALID_REPLICATION_FACTOR, "changed from 2 to 3"),
    ],
)
def test_an_illegal_move_is_refused(kit: TreeKit, target: list[int], code: ErrorCode, words: str) -> None:
    image = kit.image()
    with pytest.raises(ApiError, match=words) as refusal:
        check_target(image, image.topics["t"], 0, target, allows_factor_change=False)
    assert refusal.value.code is code


def test_moves_and_elections_asked_for_in_the_tree_are_done(kit: TreeKit) -> None:
    kit.store.create(
        layout.REASSIGNMENT,
        b'{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[2]},'
        b'{"topic":"t","partition":7,"replicas":[2]},{"topic":"none","partition":0,"replicas":[2]}]}',
    )
    control(kit)
    assert not kit.store.exists(layout.REASSIGNMENT)
    assert topic(kit).replicas[0] == (2,)
    kit.store.create(layout.PREFERRED_ELECTION, b"not what was expected")
    control(kit)
    assert not kit.store.exists(layout.PREFERRED_ELECTION)
