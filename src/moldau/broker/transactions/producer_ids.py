"""Producer ids: each is handed out once, across restarts and brokers.

A block of ids is claimed in the coordination store by compare-and-set and used from memory. The rest of a
block is lost at a stop, as in Kafka. The format of the node is that of Kafka on ZooKeeper.
"""

import json
from typing import Final

from moldau.coordination.store import BadVersion, NodeExists, NoNode, Store
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError, StorageFault
from moldau.core.ids import BrokerId, ProducerId
from moldau.core.ports import Scheduler

BLOCK_PATH: Final = "/latest_producer_id_block"
BLOCK_SIZE: Final = 1000
CLAIM_TRIES_MAX: Final = 100


def reserve_producer_ids(store: Store, broker_id: BrokerId, highest: ProducerId) -> None:
    """Makes sure that no id up to `highest` is handed out: they are used in logs written by another
    cluster."""
    try:
        data, version = store.get(BLOCK_PATH)
    except NoNode:
        store.create(BLOCK_PATH, _block(broker_id, highest - BLOCK_SIZE + 1))
        return
    if int(json.loads(data)["block_end"]) < highest:
        store.set(BLOCK_PATH, _block(broker_id, highest - BLOCK_SIZE + 1), version)


def _block(broker_id: BrokerId, start: int) -> bytes:
    end = start + BLOCK_SIZE - 1
    block = {"version": 1, "broker": broker_id, "block_start": str(start), "block_end": str(end)}
    return json.dumps(block).encode()


class ProducerIds:
    def __init__(self, store: Store, scheduler: Scheduler, broker_id: BrokerId) -> None:
        self._store = store
        self._scheduler = scheduler
        self._broker_id = broker_id
        self._next = 0
        self._end = 0

    def take(self) -> ProducerId | None:
        """The next id, or None when a block must be claimed first."""
        if self._next == self._end:
            return None
        self._next += 1
        return ProducerId(self._next - 1)

    async def claim_and_take(self) -> ProducerId:
        """ApiError while the store cannot be reached."""
        while (producer_id := self.take()) is None:
            try:
                self._next = await self._scheduler.run_in_worker(self._claim_block)
            except StorageFault as fault:
                raise ApiError(ErrorCode.COORDINATOR_NOT_AVAILABLE, str(fault)) from None
            self._end = self._next + BLOCK_SIZE
        return producer_id

    def _claim_block(self) -> int:
        for _ in range(CLAIM_TRIES_MAX):
            try:
                data, version = self._store.get(BLOCK_PATH)
                start = int(json.loads(data)["block_end"]) + 1
                self._store.set(BLOCK_PATH, _block(self._broker_id, start), version)
                return start
            except NoNode:
                try:
                    self._store.create(BLOCK_PATH, _block(self._broker_id, 0))
                    return 0
                except NodeExists:
                    continue
            except BadVersion:
                continue
        raise RuntimeError(
            f"no block of producer ids could be claimed at {BLOCK_PATH} in {CLAIM_TRIES_MAX} tries"
        )
