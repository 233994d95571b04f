"""Leader elections, decided from the image alone."""

import pytest

from cluster_kit import TreeKit
from moldau.cluster.controller.balance import decide_balance
from moldau.cluster.controller.elections import decide_preferred, decide_state
from moldau.cluster.controller.machine import decide_topics
from moldau.coordination import tree_layout as layout
from moldau.coordination.partition_states import StateWrite, write_states
from moldau.coordination.tree_layout import NO_LEADER, PartitionState
from moldau.core.ids import TopicPartition

PLACE = TopicPartition("t", 0)


@pytest.fixture
def kit() -> TreeKit:
    """Topic `t` on brokers 1, 2 and 3, led by 1."""
    kit = TreeKit()
    kit.start(1, 2, 3)
    kit.topic("t", [(1, 2, 3)])
    return kit


def decide(kit: TreeKit, *, unclean: bool = False) -> PartitionState | None:
    image = kit.image()
    return decide_state(image, image.topics["t"], 0, allows_unclean=unclean)


def apply(kit: TreeKit, *, unclean: bool = False) -> PartitionState:
    """Decides and writes until there is nothing more to decide."""
    while (state := decide(kit, unclean=unclean)) is not None:
        write_states(kit.store, [StateWrite(PLACE, state)])
    return kit.image().topics["t"].state(0)


def stopping(kit: TreeKit, broker_id: int) -> None:
    kit.sessions[broker_id].create(layout.shutdown_path(broker_id), ephemeral=True)


def test_all_well_needs_no_decision(kit: TreeKit) -> None:
    assert decide(kit) is None


def test_the_next_replica_in_sync_leads_when_the_leader_dies(kit: TreeKit) -> None:
    kit.stop(1)
    state = apply(kit)
    assert (state.leader, state.leader_epoch, state.isr) == (2, 1, (2, 3))


def test_a_dead_follower_leaves_the_isr_and_the_leader_goes_on_in_its_epoch(kit: TreeKit) -> None:
    kit.stop(3)
    state = apply(kit)
    assert (state.leader, state.leader_epoch, state.isr) == (1, 0, (1, 2))


def test_a_replica_out_of_sync_does_not_lead_unless_allowed(kit: TreeKit) -> None:
    kit.stop(2, 3)
    apply(kit)
    kit.start(2, 3)
    kit.stop(1)
    state = apply(kit)
    assert (state.leader, state.leader_epoch, state.isr) == (NO_LEADER, 1, (1,))
    assert apply(kit) == state
    state = apply(kit, unclean=True)
    assert (state.leader, state.leader_epoch, state.isr) == (2, 2, (2,))
    assert state.isr_epochs == (kit.image().brokers[2].epoch,)


def test_the_last_in_sync_leads_again_when_it_returns(kit: TreeKit) -> None:
    kit.stop(2, 3)
    apply(kit)
    kit.stop(1)
    kit.start(2)
    assert apply(kit).leader == NO_LEADER
    kit.start(1, intact_since=None)
    state = apply(kit)
    assert (state.leader, state.leader_epoch, state.isr) == (1, 2, (1,))


def test_a_leader_back_from_a_crash_of_its_machine_is_replaced(kit: TreeKit) -> None:
    kit.stop(1)
    kit.start(1, intact_since=None)
    state = apply(kit)
    assert (state.leader, state.leader_epoch, state.isr) == (2, 1, (2, 3))


def test_a_leader_whose_process_alone_was_restarted_leads_on(kit: TreeKit) -> None:
    kit.stop(1)
    kit.start(1)
    assert decide(kit) is None


def test_after_a_power_cut_of_all_the_last_leader_leads_once_everybody_is_back(kit: TreeKit) -> None:
    kit.stop(1)
    assert apply(kit).leader == 2
    kit.stop(2, 3)
    kit.start(3, intact_since=None)
    assert apply(kit).leader == NO_LEADER, "broker 2 may have more"
    kit.start(2, intact_since=None)
    state = apply(kit)
    assert (state.leader, state.isr) == (2, (2,))


def test_who_is_about_to_stop_hands_over_and_leaves_the_isr(kit: TreeKit) -> None:
    stopping(kit, 1)
    state = apply(kit)
    assert (state.leader, state.leader_epoch, state.isr) == (2, 1, (2, 3))
    stopping(kit, 2)
    state = apply(kit)
    assert (state.leader, state.leader_epoch, state.isr) == (3, 2, (3,))
    stopping(kit, 3)
    assert apply(kit) == state, "nobody is left to hand over to"


def test_the_preferred_replica_leads_when_asked_and_in_sync(kit: TreeKit) -> None:
    kit.stop(1)
    apply(kit)
    kit.start(1)
    image = kit.image()
    assert decide_preferred(image, image.topics["t"], 0) is None, "it is not in sync yet"
    state = image.topics["t"].state(0)
    write_states(
        kit.store, [StateWrite(PLACE, state._replace(isr=(2, 3, 1), isr_epochs=(*state.isr_epochs, 99)))]
    )
    image = kit.image()
    preferred = decide_preferred(image, image.topics["t"], 0)
    assert preferred is not None and (preferred.leader, preferred.leader_epoch) == (1, 2)


def test_leaders_go_back_when_too_many_are_away() -> None:
    kit = TreeKit()
    kit.start(1, 2)
    kit.topic("t", [(1, 2)] * 10 + [(2, 1)] * 10)
    state = kit.image().topics["t"].state(0)
    away = [StateWrite(TopicPartition("t", index), state._replace(leader=2)) for index in (0, 1)]
    write_states(kit.store, away[:1])
    assert decide_balance(kit.image(), 10) == [], "one of ten is within the limit"
    write_states(kit.store, away[1:])
    writes = decide_balance(kit.image(), 10)
    assert [(write.topic_partition.partition, write.state.leader) for write in writes] == [(0, 1), (1, 1)]


def test_a_topics_own_setting_decides_about_unclean_leaders() -> None:
    kit = TreeKit()
    kit.start(1, 2)
    kit.topic("strict", [(1, 2)])
    kit.topic("loose", [(1, 2)], unclean_leader_election_enable="true")
    for name in ("strict", "loose"):
        state = kit.image().topics[name].state(0)
        write_states(
            kit.store, [StateWrite(TopicPartition(name, 0), state._replace(isr=(1,), isr_epochs=(1,)))]
        )
    kit.stop(1)
    decision = decide_topics(kit.image(), ["strict", "loose"])
    assert {write.topic_partition.topic: write.state.leader for write in decision.states} == {
        "strict": NO_LEADER,
        "loose": 2,
    }
