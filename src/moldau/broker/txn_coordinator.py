"""The transactions of this broker: which shard looks after a transactional id, and a producer id if it needs one.

What a transaction may do is decided in `txn/`, what is written and when in `txn_shard` and `shard_runner`.
"""

from typing import TYPE_CHECKING

from moldau.broker.coordinator_shards import CoordinatorShards
from moldau.broker.producer_ids import ProducerIds
from moldau.core.ids import ProducerId

if TYPE_CHECKING:
    from moldau.broker.txn_shard import TxnShard


class TxnCoordinator:
    def __init__(self, shards: "CoordinatorShards[TxnShard]", producer_ids: ProducerIds) -> None:
        self.shards = shards
        self._producer_ids = producer_ids

    async def fresh_producer_id(self, shard: "TxnShard", transactional_id: str) -> ProducerId | None:
        """One for this id to use if it needs to."""
        if not shard.machine.wants_producer_id(transactional_id):
            return None
        return await self._producer_ids.claim_and_take()
