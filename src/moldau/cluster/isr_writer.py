"""Writes the in-sync replicas leaders decide on, off the owner's thread. Implements `leading.IsrWriter`."""

import logging
from collections.abc import Callable
from functools import partial
from typing import Final

from moldau.cluster.leading import PartitionLeading
from moldau.coordination import tree
from moldau.coordination.states import StaleState, write_isr
from moldau.coordination.store import Store, StoreError
from moldau.coordination.tree import PartitionState
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
        place = TopicPartition(leading.partition.topic, leading.partition.index)
        job = partial(write_isr, self._store, place, leading.state, isr, isr_epochs)
        self._store_thread.spawn(self._write(leading, place, isr, job))

    async def _write(
        self,
        leading: PartitionLeading,
        place: TopicPartition,
        isr: tuple[BrokerId, ...],
        job: Callable[[], PartitionState],
    ) -> None:
        try:
            state = await self._store_thread.run_in_worker(job)
        except StaleState:
            # Somebody decided otherwise. Both sets count until we hear what holds.
            await self._look_again(leading, place)
        except (StoreError, StorageFault) as problem:
            _log.warning("%s: the in-sync replicas %s could not be written: %s", place, list(isr), problem)
            self._store_thread.call_later(
                LOOK_AGAIN_MS, lambda: self._store_thread.spawn(self._look_again(leading, place))
            )
        else:
            _log.info("%s: in sync are %s, in epoch %d", place, list(isr), state.leader_epoch)
            leading.isr_written(state)

    async def _look_again(self, leading: PartitionLeading, place: TopicPartition) -> None:
        """What the store holds now; without an answer, later."""
        try:
            state = await self._store_thread.run_in_worker(partial(_read_state, self._store, place))
        except StorageFault:
            self._store_thread.call_later(
                LOOK_AGAIN_MS, lambda: self._store_thread.spawn(self._look_again(leading, place))
            )
            return
        if state is None or state.version == leading.state.version:
            leading.isr_unwritten()
        elif state.leader_epoch == leading.state.leader_epoch:
            leading.isr_written(state)


def _read_state(store: Store, place: TopicPartition) -> PartitionState | None:
    (node,) = store.read_many([tree.state_path(*place)])
    return None if node is None else tree.decode_state(node.data, node.stat.version)
