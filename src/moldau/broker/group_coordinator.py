"""The groups of this broker: getting questions to the shard that looks after a group.

What a group does is decided in `group/`, what is written and when in `group_shard` and `shard_runner`.
"""

from collections.abc import Awaitable, Iterable
from typing import TYPE_CHECKING, Any

from moldau.broker.coordinator_shards import CoordinatorShards, coordinator_error
from moldau.broker.group.client import ClientFacts
from moldau.broker.session import Client
from moldau.core.errors import ApiError
from moldau.protocol.spec import Request

if TYPE_CHECKING:
    from moldau.broker.group_shard import GroupShard


class GroupCoordinator:
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
            # Not above: it brings the answers of every request there is.
            from moldau.broker.group.refusals import refused

            return refused(request, version, coordinator_error(error))
        reply = shard.ask(request, version, client)
        return await reply if isinstance(reply, Awaitable) else reply


def client_facts(client: Client) -> ClientFacts:
    return ClientFacts(client.client_id or "", f"/{client.connection.peer.rpartition(':')[0]}")
