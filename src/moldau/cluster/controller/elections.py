"""Elections: which replica leads a partition and which replicas are in its ISR. Pure.

Each decision depends on the image alone, so a new controller needs no state of its predecessor.
"""

from collections.abc import Iterable

from moldau.coordination.image import ClusterImage, TopicImage
from moldau.coordination.tree_layout import NO_LEADER, PartitionState


def decide_state(
    image: ClusterImage, topic: TopicImage, partition: int, *, allows_unclean: bool
) -> PartitionState | None:
    """The state a partition should have, or None if it already has it."""
    state = topic.state(partition)
    replicas = topic.replicas[partition]
    in_sync = [each for each in image.in_sync(state) if each in replicas]
    if not in_sync:
        return _without_in_sync(image, state, replicas, allows_unclean=allows_unclean)
    # A broker that is shutting down neither leads nor stays in the ISR, unless no other broker is left.
    staying = [each for each in in_sync if not image.is_stopping(each)] or in_sync
    leader = state.leader if state.leader in staying else _first(replicas, staying)
    return _changed(state, leader, staying)


def _without_in_sync(
    image: ClusterImage, state: PartitionState, replicas: tuple[int, ...], *, allows_unclean: bool
) -> PartitionState | None:
    present = [each for each in replicas if each in image.brokers]
    lost_all = [each for each in state.isr if each in present]
    if len(lost_all) == len(state.isr):
        # Every ISR member is back and each may have lost records: no better replica will appear. The last leader had
        # the most.
        leader = state.leader if state.leader in lost_all else _first(replicas, lost_all)
    elif allows_unclean and present:
        staying = [each for each in present if not image.is_stopping(each)] or present
        leader = _first(replicas, staying)
    elif state.leader == NO_LEADER:
        return None
    else:
        return state._replace(leader=NO_LEADER, leader_epoch=state.leader_epoch + 1)
    epoch = image.brokers[leader].epoch
    return state._replace(
        leader=leader, leader_epoch=state.leader_epoch + 1, isr=(leader,), isr_epochs=(epoch,)
    )


def decide_preferred(image: ClusterImage, topic: TopicImage, partition: int) -> PartitionState | None:
    """The state with the preferred replica as leader; None if it already leads or cannot."""
    state = topic.state(partition)
    preferred = topic.target(partition)[0]
    may = preferred in image.in_sync(state) and not image.is_stopping(preferred)
    if not may or state.leader == preferred:
        return None
    return state._replace(leader=preferred, leader_epoch=state.leader_epoch + 1)


def decide_unclean(image: ClusterImage, topic: TopicImage, partition: int) -> PartitionState | None:
    """For a partition without a leader: the state with any live replica as leader; None if there is none."""
    return decide_state(image, topic, partition, allows_unclean=True)


def only_replicas(state: PartitionState, replicas: Iterable[int]) -> PartitionState:
    """The state with its leader and ISR reduced to these replicas. At least one of them must be in the ISR."""
    kept = [each for each in state.isr if each in set(replicas)]
    leader = state.leader if state.leader in kept else _first(replicas, kept)
    return _changed(state, leader, kept) or state


def _changed(state: PartitionState, leader: int, isr: list[int]) -> PartitionState | None:
    epochs = dict(zip(state.isr, state.isr_epochs, strict=True))
    if leader == state.leader and len(isr) == len(state.isr):
        return None
    return state._replace(
        leader=leader,
        leader_epoch=state.leader_epoch + (leader != state.leader),
        isr=tuple(isr),
        isr_epochs=tuple(epochs[each] for each in isr),
    )


def _first(replicas: Iterable[int], among: Iterable[int]) -> int:
    """In the order of the replicas: the preferred leader first."""
    chosen = set(among)
    return next(each for each in replicas if each in chosen)
