"""Reassignment of replicas to other brokers (KIP-455). Pure.

During a reassignment the replicas of a partition are the target replicas followed by those to remove; `adding` and
`removing` say which is which. Once all target replicas are in sync, the others are removed in one step.
"""

from collections.abc import Sequence
from typing import NamedTuple

from moldau.cluster.controller.elections import only_replicas
from moldau.coordination.image import ClusterImage, TopicImage
from moldau.coordination.tree_layout import PartitionState, TopicNode
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError


class Move(NamedTuple):
    """The new node of a topic, and the states that must change with it."""

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
    """ApiError if a partition cannot be moved there. The messages are Kafka's."""
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
    """The replicas before the reassignment in progress, if any."""
    adding = topic.adding.get(partition, ())
    return tuple(each for each in topic.replicas[partition] if each not in adding)


def decide_start(topic: TopicImage, targets: dict[int, tuple[int, ...]]) -> Move:
    """Starts the reassignment of partitions; one in progress is replaced."""
    node = _node(topic)
    replicas, adding, removing = list(node.replicas), dict(node.adding), dict(node.removing)
    for partition, target in targets.items():
        before = original(topic, partition)
        removed = tuple(each for each in before if each not in target)
        added = tuple(each for each in target if each not in before)
        replicas[partition] = (*target, *removed)
        _put(adding, partition, added)
        _put(removing, partition, removed)
    after = TopicNode(topic.topic_id, tuple(replicas), adding, removing)
    return Move(after, _trimmed(topic, targets, replicas))


def decide_cancel(topic: TopicImage, partitions: Sequence[int]) -> Move:
    """Cancels reassignments. ApiError if a partition would have no replica in sync."""
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
        states[partition] = only_replicas(state, before)
    changed = {number: state for number, state in states.items() if state != topic.state(number)}
    return Move(TopicNode(topic.topic_id, tuple(replicas), adding, removing), changed)


def decide_done(image: ClusterImage, topic: TopicImage) -> Move | None:
    """Completes the reassignments whose target replicas are all in sync; None if there are none."""
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
    """New states for partitions whose leader or ISR members are no longer replicas."""
    states = {}
    for partition in partitions:
        state = topic.state(partition)
        if any(each in replicas[partition] for each in state.isr):
            after = only_replicas(state, replicas[partition])
            # The initial state depends on the replicas: it must be written before they change.
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
