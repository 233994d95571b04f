"""One controller at a time, and what it does about the cluster."""

from cluster_kit import TreeKit, TurnClock, registration
from moldau.cluster.controller.runner import ControllerRunner, ControllerSettings
from moldau.coordination import tree_layout as layout
from moldau.coordination.image import TopicImage
from moldau.coordination.image_updater import ImageUpdater
from moldau.coordination.partition_states import StateWrite, write_states
from moldau.core.ids import TopicPartition


class Brokers:
    """Brokers that only control, each with a session of its own, on one clock."""

    def __init__(self, *brokers: int) -> None:
        self.kit = TreeKit()
        self.clock = TurnClock()
        self.runners: dict[int, ControllerRunner] = {}
        for broker_id in brokers:
            self.start(broker_id)

    def start(self, broker_id: int) -> None:
        self.kit.start(broker_id)
        session = self.kit.sessions[broker_id]
        follower = ImageUpdater(session, self.clock, self.clock.call_soon)
        follower.load()
        runner = ControllerRunner(
            session,
            follower,
            broker_id,
            self.clock,
            self.clock,
            ControllerSettings(tidying_interval_ms=60_000),
        )
        runner.start()
        self.runners[broker_id] = runner
        self.settle()

    def settle(self) -> None:
        self.clock.advance(2000)

    def kill(self, broker_id: int) -> None:
        self.runners.pop(broker_id)._is_stopped = True
        self.kit.stop(broker_id)
        self.settle()

    def topic(self, name: str = "t") -> TopicImage:
        return self.kit.image().topics[name]

    @property
    def active(self) -> list[int]:
        return [broker_id for broker_id, runner in self.runners.items() if runner.is_active]


def test_the_first_broker_is_the_controller_and_stays_it() -> None:
    brokers = Brokers(1, 2, 3)
    assert brokers.active == [1]
    image = brokers.kit.image()
    assert (image.controller_id, image.controller_epoch) == (1, 1)
    assert brokers.kit.store.get(layout.CONTROLLER).data.startswith(
        b'{"version":1,"brokerid":1,"timestamp":"'
    )


def test_another_takes_over_with_a_larger_epoch_and_finishes_the_work() -> None:
    brokers = Brokers(1, 2, 3)
    brokers.kit.topic("t", [(1, 2, 3)])
    brokers.kill(1)
    image = brokers.kit.image()
    assert image.controller_id in (2, 3) and image.controller_epoch == 2
    assert brokers.active == [image.controller_id]
    state = brokers.topic().state(0)
    assert (state.leader, state.isr, state.controller_epoch) == (2, (2, 3), 2)


def test_deleting_the_node_moves_the_controller() -> None:
    brokers = Brokers(1, 2, 3)
    brokers.kit.store.delete(layout.CONTROLLER)
    brokers.settle()
    image = brokers.kit.image()
    assert image.controller_epoch == 2
    assert brokers.active == [image.controller_id]


def test_a_controller_cut_off_writes_nothing_after_another_was_elected() -> None:
    brokers = Brokers(1, 2, 3)
    brokers.kit.topic("t", [(2, 3, 1)])
    brokers.settle()
    old = brokers.kit.sessions[1]
    old.expire()
    brokers.settle()
    assert brokers.kit.image().controller_id == 2
    assert brokers.runners[1].is_active, "it has not heard"
    old.reconnect()
    brokers.kit.stop(3)
    brokers.settle()
    assert brokers.active == [2]
    state = brokers.topic().state(0)
    assert (state.leader, state.isr, state.controller_epoch) == (2, (2,), 2)


def test_a_broker_whose_session_expired_stands_again_once_registered() -> None:
    brokers = Brokers(1)
    session = brokers.kit.sessions[1]
    session.expire()
    session.reconnect()
    brokers.settle()
    assert brokers.active == []
    registration(session, 1).register(0)
    brokers.settle()
    assert brokers.active == [1]
    assert brokers.kit.image().controller_epoch == 2


def test_leaders_of_a_dead_broker_are_elected_and_go_back_after_a_while() -> None:
    brokers = Brokers(1, 2, 3)
    brokers.kit.topic("t", [(3, 1), (1, 2)])
    brokers.kill(3)
    state = brokers.topic().state(0)
    assert (state.leader, state.isr) == (1, (1,))
    brokers.start(3)
    grown = state._replace(isr=(1, 3), isr_epochs=(*state.isr_epochs, brokers.kit.image().brokers[3].epoch))
    write_states(brokers.kit.store, [StateWrite(TopicPartition("t", 0), grown)])
    brokers.clock.advance(120_000)
    assert brokers.topic().state(0).leader == 3


def test_a_broker_that_wants_to_stop_loses_its_leaderships() -> None:
    brokers = Brokers(1, 2, 3)
    brokers.kit.topic("t", [(3, 1), (1, 3)])
    brokers.kit.sessions[3].create(layout.shutdown_path(3), ephemeral=True)
    brokers.settle()
    topic = brokers.topic()
    assert [state.leader for _, state in topic.states()] == [1, 1]
    assert [state.isr for _, state in topic.states()] == [(1,), (1,)]


def test_one_stale_state_does_not_hold_up_the_others() -> None:
    brokers = Brokers(1, 2)
    brokers.kit.topic("t", [(2, 1)] * 5)
    brokers.settle()
    state = brokers.topic().state(3)
    brokers.kit.sessions[1].disconnect()
    write_states(brokers.kit.store, [StateWrite(TopicPartition("t", 3), state._replace(leader_epoch=7))])
    brokers.kit.stop(2)
    brokers.kit.sessions[1].reconnect()
    brokers.settle()
    assert [state.leader for _, state in brokers.topic().states()] == [1] * 5
    assert brokers.topic().state(3).leader_epoch == 8


def test_marks_of_deleted_topics_go_once_every_broker_has_seen_them() -> None:
    brokers = Brokers(1, 2)
    mark = f"{layout.DELETIONS}/some-id"
    brokers.kit.topic("other", [(1, 2)])
    brokers.kit.store.create(mark, b"t")
    brokers.kill(2)
    brokers.clock.advance(200_000)
    assert brokers.kit.store.exists(mark), "broker 2 may have logs of it"
    brokers.start(2)
    brokers.clock.advance(200_000)
    assert not brokers.kit.store.exists(mark)
