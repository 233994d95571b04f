"""Moving replicas from broker to broker (KIP-455). Pure.

While a partition is on the move, its replicas are the wanted ones followed by those to go; `adding` and `removing`
say which is which. Once all wanted ones are in sync the others go, in one step.
"""

from collections.abc import Sequence
from typing import NamedTuple

from moldau.cluster.controller.elections import without_strangers
from moldau.coordination.image import ClusterImage, TopicImage
from moldau.coordination.tree_layout import PartitionState, TopicNode
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError


class Move(NamedTuple):
    """A topic's node as it should be, and where a state must change with it, that too."""

    node: TopicNode
    states: dict[int, PartitionState]


def check_target(
    image: ClusterImage,
    topic: TopicImage,
    partition: int,
    target: Sequence[int],
    *,
    allows_factor_change: bool = True,
) -> None:
    """ApiError when a partition cannot be moved there. The words are Kafka's."""
    said = "The manual partition assignment includes"
    if not target:
        raise _bad_assignment(f"{said} an empty replica list.")
    for broker_id in target:
        if broker_id not in image.brokers:
            raise _bad_assignment(f"{said} broker {broker_id}, but no such broker is registered.")
        if list(target).count(broker_id) > 1:
            raise _bad_assignment(f"{said} the broker {broker_id} more than once.")
    present = len(original(topic, partition))
    if not allows_factor_change and len(target) != present:
        raise ApiError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"The replication factor is changed from {present} to {len(target)}",
        )


def original(topic: TopicImage, partition: int) -> tuple[int, ...]:
    """The replicas before the move under way, if any."""
    coming = topic.adding.get(partition, ())
    return tuple(each for each in topic.replicas[partition] if each not in coming)


def decide_start(topic: TopicImage, targets: dict[int, tuple[int, ...]]) -> Move:
    """Sets partitions on the move, also those that are on another one already."""
    node = _node(topic)
    replicas, adding, removing = list(node.replicas), dict(node.adding), dict(node.removing)
    for partition, target in targets.items():
        before = original(topic, partition)
        leaving = tuple(each for each in before if each not in target)
        coming = tuple(each for each in target if each not in before)
        replicas[partition] = (*target, *leaving)
        _put(adding, partition, coming)
        _put(removing, partition, leaving)
    after = TopicNode(topic.topic_id, tuple(replicas), adding, removing)
    return Move(after, _trimmed(topic, targets, replicas))


def decide_cancel(topic: TopicImage, partitions: Sequence[int]) -> Move:
    """Takes back moves under way. ApiError when a partition would be left without a replica in sync."""
    replicas, adding, removing = list(topic.replicas), dict(topic.adding), dict(topic.removing)
    states = {}
    for partition in partitions:
        if not topic.is_reassigning(partition):
            raise ApiError(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS)
        before = original(topic, partition)
        state = topic.state(partition)
        if not any(each in before for each in state.isr):
            raise ApiError(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                "None of the replicas from before the reassignment is in sync.",
            )
        replicas[partition] = before
        adding.pop(partition, None)
        removing.pop(partition, None)
        states[partition] = without_strangers(state, before)
    changed = {number: state for number, state in states.items() if state != topic.state(number)}
    return Move(TopicNode(topic.topic_id, tuple(replicas), adding, removing), changed)


def decide_done(image: ClusterImage, topic: TopicImage) -> Move | None:
    """Ends the moves whose wanted replicas are all in sync; None when there is none."""
    moving = topic.adding.keys() | topic.removing.keys()
    done = {
        partition: topic.target(partition)
        for partition in moving
        if set(topic.target(partition)) <= set(image.in_sync(topic.state(partition)))
    }
    if not done:
        return None
    replicas = [done.get(index, present) for index, present in enumerate(topic.replicas)]
    adding = {index: each for index, each in topic.adding.items() if index not in done}
    removing = {index: each for index, each in topic.removing.items() if index not in done}
    return Move(TopicNode(topic.topic_id, tuple(replicas), adding, removing), _trimmed(topic, done, replicas))


def _trimmed(
    topic: TopicImage, partitions: dict[int, tuple[int, ...]], replicas: Sequence[tuple[int, ...]]
) -> dict[int, PartitionState]:
    """New states where members of an ISR, or leaders, are no replicas any more."""
    states = {}
    for partition in partitions:
        state = topic.state(partition)
        if any(each in replicas[partition] for each in state.isr):
            after = without_strangers(state, replicas[partition])
            # The newborn state follows the replicas: it must be pinned before they change.
            if after != state or partition not in topic.written:
                states[partition] = after
    return states


def _node(topic: TopicImage) -> TopicNode:
    return TopicNode(topic.topic_id, topic.replicas, topic.adding, topic.removing)


def _put(kept: dict[int, tuple[int, ...]], partition: int, brokers: tuple[int, ...]) -> None:
    if brokers:
        kept[partition] = brokers
    else:
        kept.pop(partition, None)


def _bad_assignment(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)
