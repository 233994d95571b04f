"""Routes requests to the shard of a group or a transactional id.

`group/` and `txn/` decide what happens to a group or a transaction; `runner` and the shards decide what is
written, and when.
"""

from collections.abc import Awaitable, Iterable
from typing import TYPE_CHECKING, Any

from moldau.broker.coordinator.shards import CoordinatorShards, coordinator_error
from moldau.broker.group.client import ClientFacts
from moldau.broker.request.client_session import Client
from moldau.broker.transactions.producer_ids import ProducerIds
from moldau.core.errors import ApiError
from moldau.core.ids import ProducerId
from moldau.protocol.spec import Request

if TYPE_CHECKING:
    from moldau.broker.coordinator.group_shard import GroupShard
    from moldau.broker.coordinator.txn_shard import TxnShard


class GroupRouter:
    def __init__(self, shards: "CoordinatorShards[GroupShard]") -> None:
        self.shards = shards

    def ask(self, group_id: str, request: Request, version: int, client: Client) -> Any:
        """The reply of the group's shard, or an awaitable of it."""
        shard = self.shards.find(group_id)
        if shard is None:
            return self._ask_when_ready(group_id, request, version, client)
        return shard.ask(request, version, client)

    def topics_changed(self) -> None:
        for shard in self.shards:
            shard.topics_changed()

    def topics_deleted(self, topics: Iterable[str]) -> None:
        names = frozenset(topics)
        for shard in self.shards:
            shard.forget_topics(names)

    async def _ask_when_ready(self, group_id: str, request: Request, version: int, client: Client) -> Any:
        try:
            shard = await self.shards.ready(group_id)
        except ApiError as error:
            # Not imported at the top: it imports the answers of all group requests.
            from moldau.broker.group.refusals import refused

            return refused(request, version, coordinator_error(error))
        reply = shard.ask(request, version, client)
        return await reply if isinstance(reply, Awaitable) else reply


class TxnRouter:
    def __init__(self, shards: "CoordinatorShards[TxnShard]", producer_ids: ProducerIds) -> None:
        self.shards = shards
        self._producer_ids = producer_ids

    async def fresh_producer_id(self, shard: "TxnShard", transactional_id: str) -> ProducerId | None:
        """A new id for this transactional id, if it needs one."""
        if not shard.wants_producer_id(transactional_id):
            return None
        return await self._producer_ids.claim_and_take()


def client_facts(client: Client) -> ClientFacts:
    return ClientFacts(client.client_id or "", f"/{client.connection.peer.rpartition(':')[0]}")
