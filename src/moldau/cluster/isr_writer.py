"""Writes the in-sync replicas leaders decide on, off the owner's thread. Implements `leading.IsrWriter`."""

import logging
from collections.abc import Callable
from functools import partial
from typing import Final

from moldau.cluster.leading import PartitionLeading
from moldau.coordination import tree
from moldau.coordination.image import ClusterImage
from moldau.coordination.states import StaleState, write_isr
from moldau.coordination.store import Store, StoreError
from moldau.coordination.tree import PartitionState
from moldau.core.errors import StorageFault
from moldau.core.ids import BrokerId, TopicPartition
from moldau.core.ports import Scheduler

_log = logging.getLogger("moldau.replication")

LOOK_AGAIN_MS: Final = 1000


class StoreIsrWriter:
    def __init__(self, store: Store, store_thread: Scheduler, image: Callable[[], ClusterImage]) -> None:
        self._store = store
        self._store_thread = store_thread
        self._image = image

    def write(self, leading: PartitionLeading, isr: tuple[BrokerId, ...]) -> None:
        self._store_thread.spawn(self._write(leading, isr))

    async def _write(self, leading: PartitionLeading, isr: tuple[BrokerId, ...]) -> None:
        partition, before = leading.partition, leading.state
        place = TopicPartition(partition.topic, partition.index)
        known = dict(zip(before.isr, before.isr_epochs, strict=True))
        brokers = self._image().brokers
        epochs = [
            known[each] if each in known else brokers[each].epoch if each in brokers else None for each in isr
        ]
        if None in epochs:  # It has gone since this was decided.
            leading.isr_unwritten()
            return
        found = [epoch for epoch in epochs if epoch is not None]
        try:
            state = await self._store_thread.run_in_worker(
                partial(write_isr, self._store, place, before, isr, found)
            )
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
