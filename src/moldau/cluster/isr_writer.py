"""Writes the in-sync replicas leaders decide on, off the owner's thread. Implements `leading.IsrWriter`."""

import logging
from functools import partial
from typing import Final

from moldau.cluster.leading import PartitionLeading
from moldau.coordination import tree_layout as layout
from moldau.coordination.partition_states import StaleState, write_isr
from moldau.coordination.store import ANY_VERSION, CheckVersion, Store, StoreError
from moldau.coordination.tree_layout import PartitionState
from moldau.core.errors import StorageFault
from moldau.core.ids import BrokerId, TopicPartition
from moldau.core.ports import Scheduler

_log = logging.getLogger("moldau.replication")

LOOK_AGAIN_MS: Final = 1000


class StoreIsrWriter:
    def __init__(self, store: Store, store_thread: Scheduler) -> None:
        self._store = store
        self._store_thread = store_thread

    def write(
        self, leading: PartitionLeading, isr: tuple[BrokerId, ...], isr_epochs: tuple[int, ...]
    ) -> None:
        self._store_thread.spawn(self._write(leading, leading.state, isr, isr_epochs))

    async def _write(
        self,
        leading: PartitionLeading,
        before: PartitionState,
        isr: tuple[BrokerId, ...],
        isr_epochs: tuple[int, ...],
    ) -> None:
        place = TopicPartition(leading.partition.topic, leading.partition.index)
        try:
            state = await self._store_thread.run_in_worker(
                partial(write_isr, self._store, place, before, isr, isr_epochs)
            )
        except StaleState:
            # Somebody decided otherwise. Both sets count until we hear what holds.
            await self._look_again(leading, before, place)
        except (StoreError, StorageFault) as problem:
            _log.warning("%s: the in-sync replicas %s could not be written: %s", place, list(isr), problem)
            self._look_later(leading, before, place)
        else:
            _log.info("%s: in sync are %s, in epoch %d", place, list(isr), state.leader_epoch)
            leading.isr_written(state)

    def _look_later(self, leading: PartitionLeading, before: PartitionState, place: TopicPartition) -> None:
        self._store_thread.call_later(
            LOOK_AGAIN_MS, lambda: self._store_thread.spawn(self._look_again(leading, before, place))
        )

    async def _look_again(
        self, leading: PartitionLeading, before: PartitionState, place: TopicPartition
    ) -> None:
        """What the store holds now; without an answer, later."""
        try:
            state = await self._store_thread.run_in_worker(partial(_read_state, self._store, place))
        except (StoreError, StorageFault):
            self._look_later(leading, before, place)
            return
        if leading.state.version != before.version:
            return  # The image has told meanwhile, and what is being written by now is another change.
        if state is None or state.version == before.version:
            leading.isr_unwritten()
        elif state.leader_epoch == before.leader_epoch:
            leading.isr_written(state)


def _read_state(store: Store, place: TopicPartition) -> PartitionState | None:
    # A check is made by the whole ensemble, after all that was sent before it; a read by one server, which may lag.
    store.multi([CheckVersion(layout.TOPICS, ANY_VERSION)])
    (node,) = store.read_many([layout.state_path(*place)])
    return None if node is None else layout.decode_state(node.data, node.stat.version)
