"""A transactional producer in bare frames: any epoch, any version, any order.

It numbers its batches as a producer must. Codes that only mean "not yet" are waited out.
"""

from collections.abc import Callable, Sequence
from typing import Any

from compat.confluent_client import ConfluentClient
from compat.groups.waiting import wait_until
from e2e.conversation import LATEST, batch_of
from e2e.wire import WireClient
from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.groups.find_coordinator import FindCoordinatorRequest
from moldau.protocol.messages.log.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from moldau.protocol.messages.log.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from moldau.protocol.messages.transactions.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from moldau.protocol.messages.transactions.end_txn import EndTxnRequest
from moldau.protocol.messages.transactions.init_producer_id import InitProducerIdRequest

NOT_YET = {
    ErrorCode.CONCURRENT_TRANSACTIONS,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
}
TRANSACTION_KEY = 1
PRODUCE_V1, PRODUCE_V2 = 11, 12
"""From version 12 on a batch adds its partition to the transaction by itself (KIP-890)."""
ADD_PARTITIONS_VERSION = 3
ISOLATION = {True: "read_committed", False: "read_uncommitted"}


class RawTransactional:
    """Writes to partition 0 of one topic, which lends its name to the transactional id."""

    def __init__(self, wire: WireClient, bootstrap: str, topic: str) -> None:
        self._wire = wire
        self._reader = ConfluentClient(bootstrap)
        self._topic = topic
        self.producer_id = -1
        self.epoch = -1
        self._sequence = 0

    def init(self, timeout_ms: int = 60_000) -> None:
        finding = FindCoordinatorRequest(key_type=TRANSACTION_KEY, coordinator_keys=[self._topic])
        self._once_ready(lambda: self._wire.call(finding).coordinators[0])
        request = InitProducerIdRequest(transactional_id=self._topic, transaction_timeout_ms=timeout_ms)
        answer = self._once_ready(lambda: self._wire.call(request))
        assert answer.error_code == 0, ErrorCode(answer.error_code).name
        self._become(answer.producer_id, answer.producer_epoch)

    def batch(self, values: Sequence[bytes]) -> bytes:
        return bytes(
            batch_of(
                values,
                producer_id=self.producer_id,
                producer_epoch=self.epoch,
                base_sequence=self._sequence,
                is_transactional=True,
            )
        )

    def send(self, batch: bytes, version: int = PRODUCE_V2) -> ErrorCode:
        data = [TopicProduceData(name=self._topic, partition_data=[PartitionProduceData(0, batch)])]
        request = ProduceRequest(transactional_id=self._topic, acks=-1, timeout_ms=10_000, topic_data=data)
        answer = self._once_ready(
            lambda: self._wire.call(request, version).responses[0].partition_responses[0]
        )
        return ErrorCode(answer.error_code)

    def produce(self, values: Sequence[bytes], version: int = PRODUCE_V2) -> None:
        code = self.send(self.batch(values), version)
        assert code == ErrorCode.NONE, code.name
        self._sequence += len(values)

    def add_partition(self) -> None:
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self._topic,
            v3_and_below_producer_id=self.producer_id,
            v3_and_below_producer_epoch=self.epoch,
            v3_and_below_topics=[AddPartitionsToTxnTopic(name=self._topic, partitions=[0])],
        )

        def added() -> bool:
            answer = self._wire.call(request, ADD_PARTITIONS_VERSION)
            code = answer.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code
            assert code == 0 or code in NOT_YET, ErrorCode(code).name
            return bool(code == 0)

        wait_until(added, "the partition is added")

    def end(self, version: int, *, committed: bool) -> ErrorCode:
        return self.end_of(version, self.producer_id, self.epoch, committed=committed)

    def end_of(self, version: int, producer_id: int, epoch: int, *, committed: bool) -> ErrorCode:
        """Of that id and epoch; takes over what the answer gives instead."""
        request = EndTxnRequest(
            transactional_id=self._topic, producer_id=producer_id, producer_epoch=epoch, committed=committed
        )
        answer = self._once_ready(lambda: self._wire.call(request, version))
        if answer.error_code == 0 and version >= 5:
            self._become(answer.producer_id, answer.producer_epoch)
        return ErrorCode(answer.error_code)

    def end_offset(self, *, committed: bool) -> int:
        wanted = ListOffsetsPartition(partition_index=0, timestamp=LATEST)
        topics = [ListOffsetsTopic(name=self._topic, partitions=[wanted])]
        request = ListOffsetsRequest(replica_id=-1, isolation_level=int(committed), topics=topics)
        offset: int = self._wire.call(request).topics[0].partitions[0].offset
        return offset

    def read(self, *, committed: bool = True) -> list[bytes | None]:
        settings = {"isolation.level": ISOLATION[committed]}
        return [record.value for record in self._reader.consume(self._topic, settings=settings)]

    def read_when_ended(self) -> list[bytes | None]:
        """What readers see once no transaction is open: markers are written after EndTxn is answered."""
        wait_until(
            lambda: self.end_offset(committed=True) == self.end_offset(committed=False), "all have ended"
        )
        return self.read()

    def _become(self, producer_id: int, epoch: int) -> None:
        if (producer_id, epoch) != (self.producer_id, self.epoch):
            self.producer_id, self.epoch, self._sequence = producer_id, epoch, 0

    @staticmethod
    def _once_ready(ask: Callable[[], Any]) -> Any:
        answer: Any = None

        def is_ready() -> bool:
            nonlocal answer
            answer = ask()
            return answer.error_code not in NOT_YET

        wait_until(is_ready, "the coordinator is ready")
        return answer
