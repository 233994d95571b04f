"""The groups of this broker: which shard a group belongs to, and getting questions to it.

Owns the shards, one for each partition of `__consumer_offsets` this broker leads. What a group does is decided in
`group/`, what is written and when in `shard_runner`.
"""

import uuid
from collections.abc import Awaitable, Iterable
from typing import Any

from moldau.broker.catalog import TopicCatalog, TopicEntry
from moldau.broker.configs import ConfigStore
from moldau.broker.group.call import GroupOutcome
from moldau.broker.group.client import ClientFacts
from moldau.broker.group.facts import GroupFact, OffsetCommitted, TransactionEnded, is_durable
from moldau.broker.group.records import from_record, to_record
from moldau.broker.group.settings import GroupSettings
from moldau.broker.group.shard import Groups
from moldau.broker.internal_topics import OFFSETS_TOPIC, InternalTopics, java_hash
from moldau.broker.parked_fetches import ParkedFetches
from moldau.broker.partitions import HostedPartitions
from moldau.broker.session import Client
from moldau.broker.shard_log import ShardLog, StoredMarker, StoredRecord
from moldau.broker.shard_runner import ShardRunner
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.core.ids import Millis
from moldau.core.ports import Clock, Scheduler
from moldau.core.settings.broker_keys import BrokerSettings
from moldau.protocol.spec import Request


class GroupShard:
    """One partition's groups: the machine and what drives it."""

    def __init__(self, machine: Groups, log: ShardLog, clock: Clock, scheduler: Scheduler) -> None:
        self.machine = machine
        self._log = log
        self.runner: ShardRunner[GroupFact] = ShardRunner(machine, _stored, log, clock, scheduler)

    def load(self) -> None:
        """Replays the partition. Blocks: before it is served."""
        for stored in self._log.read():
            if isinstance(stored, StoredMarker):
                self.machine.replay(TransactionEnded(stored.producer_id, stored.is_commit))
                continue
            fact = from_record(stored.key, stored.value, stored.producer_id)
            if fact is not None:
                self.machine.replay(fact)

    def ask(self, request: Request, version: int, client: Client) -> Any:
        """The reply, or an awaitable of it."""
        facts = ClientFacts(client.client_id or "", f"/{client.connection.peer.rpartition(':')[0]}")

        def decide(request_id: int, now_ms: Millis) -> GroupOutcome:
            return self.machine.decide(request_id, request, version, facts, now_ms, str(uuid.uuid4()))

        return self.runner.ask(decide)

    def forget_topics(self, topics: frozenset[str]) -> None:
        """Offsets of topics that are gone go too."""
        self.runner.tell(lambda now_ms: self.machine.decide_topics_deleted(topics, now_ms))


class GroupCoordinator:
    def __init__(
        self,
        catalog: TopicCatalog,
        configs: ConfigStore,
        partitions: HostedPartitions,
        parked_fetches: ParkedFetches,
        internal_topics: InternalTopics,
        clock: Clock,
        scheduler: Scheduler,
    ) -> None:
        self._catalog = catalog
        self._configs = configs
        self._partitions = partitions
        self._parked_fetches = parked_fetches
        self._internal_topics = internal_topics
        self._clock = clock
        self._scheduler = scheduler
        self._shards: list[GroupShard] = []

    def load(self) -> None:
        """Replays what is on disk. Blocks: before anything is served."""
        entry = self._catalog.find(OFFSETS_TOPIC)
        if entry is not None:
            self._shards = self._make_shards(entry)
            for shard in self._shards:
                shard.load()

    def start(self) -> None:
        for shard in self._shards:
            shard.runner.tell(shard.machine.decide_loaded)

    def stop(self) -> None:
        for shard in self._shards:
            shard.runner.close(shard.machine.decide_unloaded())

    def shards(self) -> Iterable[GroupShard]:
        return self._shards

    def find_shard(self, group_id: str) -> GroupShard | None:
        """None while there is no group at all: `ready` makes the topic they are kept in."""
        if not self._shards:
            return None
        return self._shards[java_hash(group_id) % len(self._shards)]

    async def ready(self) -> None:
        """Returns once there are shards; the first caller makes their topic."""
        if not self._shards:
            entry = await self._internal_topics.ensure_offsets()
            if not self._shards:
                self._shards = self._make_shards(entry)
                self.start()

    def ask(self, group_id: str, request: Request, version: int, client: Client) -> Any:
        """The reply of the group's shard, or an awaitable of it."""
        shard = self.find_shard(group_id)
        if shard is None:
            return self._ask_when_ready(group_id, request, version, client)
        return shard.ask(request, version, client)

    def topics_deleted(self, topics: Iterable[str]) -> None:
        names = frozenset(topics)
        for shard in self._shards:
            shard.forget_topics(names)

    async def _ask_when_ready(self, group_id: str, request: Request, version: int, client: Client) -> Any:
        await self.ready()
        shard = self.find_shard(group_id)
        assert shard is not None
        reply = shard.ask(request, version, client)
        return await reply if isinstance(reply, Awaitable) else reply

    def _make_shards(self, entry: TopicEntry) -> list[GroupShard]:
        settings = _group_settings(self._configs.broker)
        return [self._make_shard(index, settings) for index in range(len(entry.partitions))]

    def _make_shard(self, index: int, settings: GroupSettings) -> GroupShard:
        partition = self._partitions.find(OFFSETS_TOPIC, index)
        if partition is None:
            raise ApiError(ErrorCode.COORDINATOR_NOT_AVAILABLE, f"{OFFSETS_TOPIC}-{index} is not hosted here")
        log = ShardLog(partition, self._parked_fetches)
        return GroupShard(Groups(settings), log, self._clock, self._scheduler)


def _stored(fact: GroupFact) -> StoredRecord | None:
    if not is_durable(fact):
        return None
    key, value = to_record(fact)
    if isinstance(fact, OffsetCommitted):
        return StoredRecord(key, value, fact.producer_id, fact.producer_epoch)
    return StoredRecord(key, value)


def _group_settings(settings: BrokerSettings) -> GroupSettings:
    return GroupSettings(
        initial_rebalance_delay_ms=settings.group_initial_rebalance_delay_ms,
        session_timeout_min_ms=settings.group_min_session_timeout_ms,
        session_timeout_max_ms=settings.group_max_session_timeout_ms,
        group_size_max=settings.group_max_size,
        offset_metadata_length_max=settings.offset_metadata_max_bytes,
        offsets_retention_ms=settings.offsets_retention_minutes * 60_000,
        offsets_retention_check_interval_ms=settings.offsets_retention_check_interval_ms,
    )
