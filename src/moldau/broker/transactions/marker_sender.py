"""Sends the markers of a transaction to the leaders of its partitions: this broker and others."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from moldau.broker.peers import Peers
from moldau.broker.topics.catalog import TopicCatalog
from moldau.broker.transactions.marker_writer import MarkerWriter
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.core.ids import BrokerId, TopicPartition
from moldau.core.ports import Scheduler
from moldau.protocol.messages.transactions.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)

if TYPE_CHECKING:
    from moldau.broker.txn.markers import WriteMarkers

REQUEST_VERSION: Final = 2
RETRIED: Final = frozenset(
    {
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.NOT_ENOUGH_REPLICAS,
        ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
        ErrorCode.REQUEST_TIMED_OUT,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.BROKER_NOT_AVAILABLE,
    }
)
"""A marker rejected with any other error is no longer needed: there was a newer epoch, or the marker
itself."""

Written = Callable[[list[TopicPartition]], None]


class MarkerSender:
    def __init__(
        self,
        writer: MarkerWriter,
        catalog: TopicCatalog,
        broker_id: BrokerId,
        peers: Peers,
        scheduler: Scheduler,
    ) -> None:
        self._writer = writer
        self._catalog = catalog
        self._broker_id = broker_id
        self._peers = peers
        self._scheduler = scheduler

    def send(self, markers: "WriteMarkers", written: Written) -> None:
        """Calls `written` once all partitions were tried, with those that have their marker or no longer need
        one."""
        results: dict[TopicPartition, ErrorCode] = {}

        def tell(topic_partition: TopicPartition, code: ErrorCode) -> None:
            results[topic_partition] = code
            if len(results) == len(markers.partitions):
                written([each for each, its in results.items() if its not in RETRIED])

        by_leader: dict[int, list[TopicPartition]] = {}
        for topic_partition in markers.partitions:
            by_leader.setdefault(self._leader_of(topic_partition), []).append(topic_partition)
        for leader, topic_partitions in by_leader.items():
            if leader == self._broker_id:
                for topic_partition in topic_partitions:
                    self._write_here(markers, topic_partition, tell)
            else:
                self._scheduler.spawn(self._send_there(leader, markers, topic_partitions, tell))
        if not markers.partitions:
            written([])

    def _leader_of(self, topic_partition: TopicPartition) -> int:
        entry = self._catalog.find(topic_partition.topic)
        if entry is None or topic_partition.partition >= len(entry.partitions):
            return self._broker_id  # The partition is gone: the writer will find nothing.
        return entry.partitions[topic_partition.partition].leader

    def _write_here(
        self,
        markers: "WriteMarkers",
        topic_partition: TopicPartition,
        tell: Callable[[TopicPartition, ErrorCode], None],
    ) -> None:
        is_known = self._catalog.find(topic_partition.topic) is not None

        def done(code: ErrorCode) -> None:
            is_gone = code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION and not is_known
            tell(topic_partition, ErrorCode.NONE if is_gone else code)

        self._writer.write(
            topic_partition,
            done,
            producer_id=markers.producer_id,
            producer_epoch=markers.producer_epoch,
            coordinator_epoch=markers.coordinator_epoch,
            committed=markers.committed,
            transaction_version=markers.transaction_version,
        )

    async def _send_there(
        self,
        leader: int,
        markers: "WriteMarkers",
        topic_partitions: Sequence[TopicPartition],
        tell: Callable[[TopicPartition, ErrorCode], None],
    ) -> None:
        by_topic: dict[str, list[int]] = {}
        for topic, partition in topic_partitions:
            by_topic.setdefault(topic, []).append(partition)
        marker = WritableTxnMarker(
            producer_id=markers.producer_id,
            producer_epoch=markers.producer_epoch,
            transaction_result=markers.committed,
            topics=[
                WritableTxnMarkerTopic(name=name, partition_indexes=indexes)
                for name, indexes in by_topic.items()
            ],
            coordinator_epoch=markers.coordinator_epoch,
            transaction_version=markers.transaction_version,
        )
        codes = dict.fromkeys(topic_partitions, ErrorCode.BROKER_NOT_AVAILABLE)
        try:
            request = WriteTxnMarkersRequest(markers=[marker])
            answer = await self._peers.ask(leader, request, REQUEST_VERSION, WriteTxnMarkersResponse)
            for topic_result in (each for result in answer.markers for each in result.topics):
                for each in topic_result.partitions:
                    codes[TopicPartition(topic_result.name, each.partition_index)] = ErrorCode(
                        each.error_code
                    )
        except ApiError as error:
            codes = dict.fromkeys(topic_partitions, error.code)
        for topic_partition in topic_partitions:
            tell(topic_partition, codes[topic_partition])
