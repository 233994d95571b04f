"""Writes the ISRs that leaders propose to the store, off the owner's thread. Implements `leading.IsrWriter`."""

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

READ_AGAIN_MS: Final = 1000


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
        topic_partition = TopicPartition(leading.partition.topic, leading.partition.index)
        try:
            state = await self._store_thread.run_in_worker(
                partial(write_isr, self._store, topic_partition, before, isr, isr_epochs)
            )
        except StaleState:
            # The state has changed. Both the old and the proposed ISR count until the present one is known.
            await self._read_again(leading, before, topic_partition)
        except (StoreError, StorageFault) as problem:
            _log.warning("%s: the ISR %s could not be written: %s", topic_partition, list(isr), problem)
            self._read_later(leading, before, topic_partition)
        else:
            _log.info("%s: the ISR is %s in leader epoch %d", topic_partition, list(isr), state.leader_epoch)
            leading.isr_written(state)

    def _read_later(
        self, leading: PartitionLeading, before: PartitionState, topic_partition: TopicPartition
    ) -> None:
        self._store_thread.call_later(
            READ_AGAIN_MS,
            lambda: self._store_thread.spawn(self._read_again(leading, before, topic_partition)),
        )

    async def _read_again(
        self, leading: PartitionLeading, before: PartitionState, topic_partition: TopicPartition
    ) -> None:
        """Reads the present state; retries later if the store does not answer."""
        try:
            state = await self._store_thread.run_in_worker(partial(_read_state, self._store, topic_partition))
        except (StoreError, StorageFault):
            self._read_later(leading, before, topic_partition)
            return
        if leading.state.version != before.version:
            return  # The image has brought a later state meanwhile, and another change may be in progress.
        if state is None or state.version == before.version:
            leading.isr_not_written()
        elif state.leader_epoch == before.leader_epoch:
            leading.isr_written(state)


def _read_state(store: Store, topic_partition: TopicPartition) -> PartitionState | None:
    # The ensemble as a whole makes a check, after all earlier changes; a single server, which may lag, answers a read.
    store.multi([CheckVersion(layout.TOPICS, ANY_VERSION)])
    (node,) = store.read_many([layout.state_path(*topic_partition)])
    return None if node is None else layout.decode_state(node.data, node.stat.version)
