"""Whatever happens to brokers, a controller's decisions keep to the rules, and come to an end."""

from hypothesis import given, settings
from hypothesis import strategies as st

from cluster_kit import TreeKit
from moldau.cluster.controller.balance import decide_balance
from moldau.cluster.controller.machine import Decision, decide_topics
from moldau.cluster.controller.reassignment import decide_start
from moldau.cluster.controller.writing import Term, move_writes, write_decision
from moldau.coordination import tree_layout as layout
from moldau.coordination.partition_states import StateWrite, write_isr, write_states
from moldau.coordination.store import NodeExists
from moldau.coordination.tree_layout import NO_LEADER
from moldau.core.ids import TopicPartition

BROKERS = (1, 2, 3, 4)
PARTITIONS = ((1, 2, 3), (2, 3, 1), (3,))
DECISIONS_MAX = 10

broker = st.sampled_from(BROKERS)
partition = st.sampled_from(range(len(PARTITIONS)))
step = st.one_of(
    st.tuples(st.just("kill"), broker),
    st.tuples(st.just("start"), broker),
    st.tuples(st.just("start damaged"), broker),
    st.tuples(st.just("announce stop"), broker),
    st.tuples(st.just("shrink"), partition, broker),
    st.tuples(st.just("grow"), partition, broker),
    st.tuples(st.just("move"), partition, st.lists(broker, min_size=1, max_size=3, unique=True)),
    st.tuples(
        st.just("balance"),
    ),
)


class World:
    def __init__(self) -> None:
        self.kit = TreeKit()
        self.kit.start(*BROKERS)
        self.kit.topic("t", PARTITIONS)
        self.kit.store.create(layout.CONTROLLER_EPOCH, b"1")
        self.leaders: dict[tuple[int, int], int] = {}
        self.epochs = [0] * len(PARTITIONS)

    def take(self, step: tuple) -> None:  # type: ignore[type-arg]
        match step:
            case ("kill", number) if number in self.kit.sessions:
                self.kit.stop(number)
            case ("start", number) if number not in self.kit.sessions:
                self.kit.start(number)
            case ("start damaged", number) if number not in self.kit.sessions:
                self.kit.start(number, intact_since=None)
            case ("announce stop", number) if number in self.kit.sessions:
                try:
                    self.kit.sessions[number].create(layout.shutdown_path(number), ephemeral=True)
                except NodeExists:
                    return
            case ("shrink", place, number):
                self._change_isr(place, lambda isr: [each for each in isr if each != number])
            case ("grow", place, number) if number in self.kit.sessions:
                self._change_isr(place, lambda isr: [*isr, number] if number not in isr else isr)
            case ("move", place, target) if all(each in self.kit.sessions for each in target):
                topic = self.kit.image().topics["t"]
                states, ops = move_writes(topic, decide_start(topic, {place: tuple(target)}), 1)
                write_states(self.kit.store, states, after=ops)
            case ("balance",):
                writes = decide_balance(self.kit.image(), 10)
                write_decision(self.kit.store, Term(1, 0), Decision(states=writes))

    def _change_isr(self, place: int, change) -> None:  # type: ignore[no-untyped-def]
        """What a leader does: it stays a member, and takes in none but replicas."""
        image = self.kit.image()
        topic = image.topics["t"]
        state = topic.state(place)
        wanted = [each for each in change(list(state.isr)) if each in topic.replicas[place]]
        if not image.may_lead(state, state.leader) or state.leader not in wanted:
            return
        known = dict(zip(state.isr, state.isr_epochs, strict=True))
        epochs = [
            known.get(each, image.brokers[each].epoch if each in image.brokers else 0) for each in wanted
        ]
        write_isr(self.kit.store, TopicPartition("t", place), state, wanted, epochs)

    def control(self) -> None:
        for _ in range(DECISIONS_MAX):
            decision = decide_topics(self.kit.image(), ["t"])
            if decision.is_empty:
                return
            write_decision(self.kit.store, Term(1, 0), decision)
        raise AssertionError("the controller finds something to decide for ever")

    def check(self) -> None:
        image = self.kit.image()
        topic = image.topics["t"]
        for place, state in topic.states():
            assert state.isr, "somebody was the last to have everything"
            assert set(state.isr) <= set(topic.replicas[place])
            assert len(state.isr) == len(state.isr_epochs) == len(set(state.isr))
            assert state.leader_epoch >= self.epochs[place]
            self.epochs[place] = state.leader_epoch
            if state.leader == NO_LEADER:
                assert not image.in_sync(state), "somebody could lead"
                continue
            assert state.leader in state.isr
            assert image.may_lead(state, state.leader)
            assert self.leaders.setdefault((place, state.leader_epoch), state.leader) == state.leader


@settings(max_examples=60, deadline=None)
@given(st.lists(step, max_size=25))
def test_leaders_are_in_sync_one_an_epoch_and_there_whenever_one_can_be(steps: list[tuple]) -> None:  # type: ignore[type-arg]
    world = World()
    for each in steps:
        world.take(each)
        world.control()
        world.check()


@settings(max_examples=30, deadline=None)
@given(st.lists(step, max_size=25))
def test_a_controller_that_comes_late_finds_its_way_too(steps: list[tuple]) -> None:  # type: ignore[type-arg]
    world = World()
    for each in steps:
        world.take(each)
    world.control()
    world.check()


def test_a_write_of_a_state_is_one_value() -> None:
    world = World()
    state = world.kit.image().topics["t"].state(0)
    write_states(world.kit.store, [StateWrite(TopicPartition("t", 0), state)])
    after = world.kit.image().topics["t"].state(0)
    assert after == state._replace(version=0)
