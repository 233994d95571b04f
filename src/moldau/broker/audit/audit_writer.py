"""Writes records to the partition of the audit topic: here if this broker leads it, otherwise through its leader."""

from collections.abc import Iterator, Sequence
from typing import Final

from moldau.broker.configs.config_store import ConfigStore
from moldau.broker.fetch.parked_fetches import ParkedFetches
from moldau.broker.hosting.hosted_partitions import HostedPartitions, Partition
from moldau.broker.peers import Peers
from moldau.broker.topics.catalog import TopicCatalog, TopicEntry
from moldau.broker.topics.topic_admin import TopicAdmin
from moldau.broker.topics.topic_rules import NewTopic
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.core.ids import BrokerId
from moldau.protocol.messages.log.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from moldau.protocol.records.builder import build_batch
from moldau.protocol.records.record import Record
from moldau.security.audit.audit_events import AUDIT_TOPIC, CONTENT_TYPE

PARTITION: Final = 0
BATCH_BYTES_MAX: Final = 512 * 1024
"""Half of the default `max.message.bytes`."""
PRODUCE_VERSION: Final = 9
ACKS_ALL: Final = -1
WRITE_TIMEOUT_MS: Final = 10_000
_HEADERS: Final = (("content-type", CONTENT_TYPE.encode()),)


class AuditWriter:
    def __init__(
        self,
        broker_id: BrokerId,
        catalog: TopicCatalog,
        configs: ConfigStore,
        topics: TopicAdmin,
        partitions: HostedPartitions,
        parked_fetches: ParkedFetches,
        peers: Peers,
        *,
        is_alone: bool,
    ) -> None:
        self._broker_id = broker_id
        self._catalog = catalog
        self._configs = configs
        self._topics = topics
        self._partitions = partitions
        self._parked_fetches = parked_fetches
        self._peers = peers
        self._is_alone = is_alone

    async def write(self, events: Sequence[tuple[bytes, bytes]], now_ms: int) -> None:
        """Keys and values. ApiError or StorageFault if they could not be written; part of them may have been."""
        entry = await self._topic()
        leader = entry.partitions[PARTITION].leader
        for batch in _batches(events, now_ms):
            if leader == self._broker_id:
                self._append(batch, now_ms)
            else:
                await self._send(leader, batch)

    async def _topic(self) -> TopicEntry:
        """Created when first needed. One partition, so that events have an order."""
        found = self._catalog.find(AUDIT_TOPIC)
        if found is not None:
            return found
        factor = 1 if self._is_alone else self._configs.broker.default_replication_factor
        try:
            return await self._topics.create(NewTopic(AUDIT_TOPIC, 1, factor))
        except ApiError as error:
            found = self._catalog.find(AUDIT_TOPIC)
            if error.code is not ErrorCode.TOPIC_ALREADY_EXISTS or found is None:
                raise
            return found

    def _append(self, batch: bytearray, now_ms: int) -> None:
        partition: Partition | None = self._partitions.find(AUDIT_TOPIC, PARTITION)
        if partition is None or partition.log is None or not partition.is_leader:
            raise ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER, f"{AUDIT_TOPIC} is not ready here yet")
        log, leading = partition.log, partition.leading
        log.append_as_leader(
            memoryview(batch), leader_epoch=partition.leader_epoch, now_ms=now_ms, is_client=False
        )
        if leading is not None:
            leading.appended()
            return
        log.advance_high_watermark(log.end_offset)
        if partition.waiters:
            self._parked_fetches.appended(partition)

    async def _send(self, leader: int, batch: bytearray) -> None:
        data = PartitionProduceData(index=PARTITION, records=bytes(batch))
        request = ProduceRequest(
            acks=ACKS_ALL,
            timeout_ms=WRITE_TIMEOUT_MS,
            topic_data=[TopicProduceData(name=AUDIT_TOPIC, partition_data=[data])],
        )
        answer = await self._peers.ask(leader, request, PRODUCE_VERSION, ProduceResponse)
        for topic in answer.responses:
            for partition in topic.partition_responses:
                if partition.error_code:
                    raise ApiError(ErrorCode(partition.error_code), f"broker {leader} refused it")


def _batches(events: Sequence[tuple[bytes, bytes]], now_ms: int) -> Iterator[bytearray]:
    waiting: list[Record] = []
    size = 0
    for key, value in events:
        if waiting and size + len(key) + len(value) > BATCH_BYTES_MAX:
            yield build_batch(waiting)
            waiting, size = [], 0
        waiting.append(Record(len(waiting), now_ms, key, value, _HEADERS))
        size += len(key) + len(value)
    if waiting:
        yield build_batch(waiting)
