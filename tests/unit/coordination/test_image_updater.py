"""The image follows the tree."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from cluster_kit import TreeKit, TurnClock
from moldau.coordination import tree_layout as layout
from moldau.coordination.image import ClusterImage, ImageDelta
from moldau.coordination.image_updater import ImageUpdater
from moldau.coordination.partition_states import StateWrite, write_states
from moldau.core.ids import TopicPartition

Result = TypeVar("Result")


class Listener:
    def __init__(self) -> None:
        self.deltas: list[ImageDelta] = []
        self.said: list[str] = []

    def image_changed(self, image: ClusterImage, delta: ImageDelta) -> None:
        self.deltas.append(delta)

    def disconnected(self) -> None:
        self.said.append("disconnected")

    def connected(self, *, new_session: bool) -> None:
        self.said.append("new session" if new_session else "same session")


def follow(kit: TreeKit) -> tuple[ImageUpdater, Listener, Callable[[], None]]:
    clock = TurnClock()
    kit.sessions[0] = kit.tree.connect()
    follower = ImageUpdater(kit.sessions[0], clock, clock.call_soon)
    listener = Listener()
    follower.subscribe(listener)
    follower.load()
    return follower, listener, lambda: clock.advance(1000)


def test_what_happens_to_the_tree_happens_to_the_image() -> None:
    kit = TreeKit()
    kit.start(1)
    follower, listener, settle = follow(kit)
    assert set(follower.image.brokers) == {1}
    kit.start(2)
    kit.topic("t", [(1, 2)])
    settle()
    assert listener.deltas == [ImageDelta(brokers=frozenset({2}), topics=frozenset({"t"}))]
    state = follower.image.topics["t"].state(0)
    write_states(kit.store, [StateWrite(TopicPartition("t", 0), state._replace(leader=2))])
    kit.stop(1)
    settle()
    assert follower.image == kit.image()
    kit.store.create(layout.CONTROLLER_EPOCH, b"3")
    settle()
    assert follower.image.controller_epoch == 3
    assert listener.deltas[-1] == ImageDelta(controller=True)


def test_states_told_of_before_their_topic_are_not_lost() -> None:
    kit = TreeKit()
    kit.start(1, 2)
    follower, _, settle = follow(kit)
    kit.topic("t", [(1, 2)])
    state = kit.image().topics["t"].state(0)
    write_states(kit.store, [StateWrite(TopicPartition("t", 0), state._replace(leader=2))])
    follower._dirty.discard(layout.state_path("t", 0))
    settle()
    assert follower.image == kit.image()


def test_everything_is_read_anew_after_a_time_out_of_reach() -> None:
    kit = TreeKit()
    kit.start(1)
    follower, listener, settle = follow(kit)
    session = kit.sessions[0]
    session.disconnect()
    kit.topic("t", [(1,)])
    settle()
    assert "t" not in follower.image.topics
    session.reconnect()
    settle()
    assert follower.image == kit.image()
    assert listener.said == ["disconnected", "same session"]
    assert listener.deltas == [ImageDelta(topics=frozenset({"t"}))]


def test_a_read_that_failed_is_tried_again() -> None:
    kit = TreeKit()
    follower, _, settle = follow(kit)
    kit.start(1)
    kit.sessions[0].disconnect()
    settle()
    assert follower.image.brokers == {}
    kit.sessions[0].reconnect()
    settle()
    assert set(follower.image.brokers) == {1}


def test_folders_are_not_read() -> None:
    kit = TreeKit()
    _, listener, settle = follow(kit)
    kit.store.create("/brokers/topics/t", b"not read either way")
    kit.store.delete("/brokers/topics/t")
    kit.store.create("/other")
    settle()
    assert listener.deltas == []


class BusyLoading(TurnClock):
    """Its one worker reads the first image when the first news comes."""

    follower: ImageUpdater

    def run_in_worker(self, job: Callable[[], Result]) -> Awaitable[Result]:
        self.follower.load()
        return super().run_in_worker(job)


def test_what_is_told_while_the_first_image_is_read_is_added_to_it() -> None:
    kit = TreeKit()
    kit.start(1, 2)
    kit.topic("t", [(1,)])
    clock = BusyLoading()
    clock.follower = follower = ImageUpdater(kit.store, clock, clock.call_soon)
    follower.note(layout.broker_path(2))
    clock.advance(1000)
    assert follower.image == kit.image()
