"""Writes partition states by compare-and-set. Blocks: runs on a worker thread.

A leader changes its own ISR here; a controller adds a check of its epoch, so that a deposed one changes nothing.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from moldau.coordination import tree_layout as layout
from moldau.coordination.store import (
    BadVersion,
    Create,
    NodeExists,
    NoNode,
    Op,
    SetData,
    Store,
)
from moldau.coordination.tree_layout import NOT_WRITTEN, PartitionState
from moldau.core.errors import MoldauError
from moldau.core.ids import TopicPartition

FOLDER_TRIES_MAX: Final = 4


class StaleState(MoldauError):
    """The state in the tree is not the one the change was based on: decide again, on the latest image."""


class StateWrite(NamedTuple):
    topic_partition: TopicPartition
    state: PartitionState
    """The new state, with the version of the state it replaces."""


def write_isr(
    store: Store,
    topic_partition: TopicPartition,
    state: PartitionState,
    isr: Sequence[int],
    isr_epochs: Sequence[int],
) -> PartitionState:
    """Writes a leader's change of its ISR. `state` is the one it leads by. If that has changed, this raises StaleState:
    a deposed leader cannot shrink an ISR."""
    (written,) = write_states(
        store, [StateWrite(topic_partition, state._replace(isr=tuple(isr), isr_epochs=tuple(isr_epochs)))]
    )
    return written


def write_states(
    store: Store, writes: Sequence[StateWrite], checks: Sequence[Op] = (), after: Sequence[Op] = ()
) -> list[PartitionState]:
    """Writes all of the states, with `checks` before and `after` after them, or nothing. Returns the states with their
    new versions. StaleState; StoreError if one of `checks` fails."""
    checked = {op.path for op in checks}
    for _ in range(FOLDER_TRIES_MAX):
        ops = [*checks, *_folders(store, writes), *(_op(write) for write in writes), *after]
        try:
            store.multi(ops)
        except (NoNode, NodeExists, BadVersion) as refusal:
            if refusal.path in checked:
                raise
            if not _is_folder(refusal.path) or not _are_topics_there(store, writes):
                raise StaleState(str(refusal)) from None
            continue  # Another broker created or removed a folder at the same time.
        return [write.state._replace(version=write.state.version + 1) for write in writes]
    raise StaleState("the folders of the partitions kept changing")


def _op(write: StateWrite) -> Op:
    path = layout.state_path(*write.topic_partition)
    data = layout.encode_state(write.state)
    return (
        Create(path, data) if write.state.version == NOT_WRITTEN else SetData(path, data, write.state.version)
    )


def _folders(store: Store, writes: Sequence[StateWrite]) -> list[Op]:
    """The folders to create first: a partition whose state was never written has no nodes."""
    first = [write.topic_partition for write in writes if write.state.version == NOT_WRITTEN]
    wanted = dict.fromkeys(layout.partitions_path(topic_partition.topic) for topic_partition in first)
    wanted.update(dict.fromkeys(layout.partition_path(*topic_partition) for topic_partition in first))
    paths = list(wanted)
    return [Create(path) for path, found in zip(paths, store.read_many(paths), strict=True) if found is None]


def _is_folder(path: str) -> bool:
    return "/partitions" in path and not path.endswith("/state")


def _are_topics_there(store: Store, writes: Sequence[StateWrite]) -> bool:
    return all(store.exists(layout.topic_path(write.topic_partition.topic)) for write in writes)
