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
    """The state in the tree is not the one the change was decided on: look at the image again, then decide anew."""


class StateWrite(NamedTuple):
    place: TopicPartition
    state: PartitionState
    """The new state, with the version of the one it was decided on."""


def write_isr(
    store: Store,
    place: TopicPartition,
    state: PartitionState,
    isr: Sequence[int],
    isr_epochs: Sequence[int],
) -> PartitionState:
    """A leader's change of its ISR. `state` is the one it leads by; any change to that since makes this
    StaleState, so a leader that was deposed cannot shrink an ISR."""
    (written,) = write_states(
        store, [StateWrite(place, state._replace(isr=tuple(isr), isr_epochs=tuple(isr_epochs)))]
    )
    return written


def write_states(
    store: Store, writes: Sequence[StateWrite], checks: Sequence[Op] = (), after: Sequence[Op] = ()
) -> list[PartitionState]:
    """All of them, with the operations before and after them, or none. StaleState; StoreError when one of `checks`
    is refused. The states as written are returned, with their new versions."""
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
            continue  # Somebody else made or removed a folder in the same moment.
        return [write.state._replace(version=write.state.version + 1) for write in writes]
    raise StaleState("the folders of the partitions kept changing")


def _op(write: StateWrite) -> Op:
    path = layout.state_path(*write.place)
    data = layout.encode_state(write.state)
    return (
        Create(path, data) if write.state.version == NOT_WRITTEN else SetData(path, data, write.state.version)
    )


def _folders(store: Store, writes: Sequence[StateWrite]) -> list[Op]:
    """What must be made first: partitions whose state was never written have no nodes at all."""
    first = [write.place for write in writes if write.state.version == NOT_WRITTEN]
    wanted = dict.fromkeys(layout.partitions_path(place.topic) for place in first)
    wanted.update(dict.fromkeys(layout.partition_path(*place) for place in first))
    paths = list(wanted)
    return [Create(path) for path, found in zip(paths, store.read_many(paths), strict=True) if found is None]


def _is_folder(path: str) -> bool:
    return "/partitions" in path and not path.endswith("/state")


def _are_topics_there(store: Store, writes: Sequence[StateWrite]) -> bool:
    return all(store.exists(layout.topic_path(write.place.topic)) for write in writes)
