"""A produce request in progress: the results of its partitions, and the answer made of them."""

from typing import Final, NamedTuple

from moldau.broker.hosting.hosted_partitions import Leading, Partition, TopicKey
from moldau.broker.request.client_session import NO_ANSWER, ClientSession, frame_answer
from moldau.broker.transactions.verification import WaitingWrite
from moldau.core.chunks import Chunk
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError, StorageFault
from moldau.protocol.fast.produce_codec import PartitionProduced, encode_produce_response
from moldau.storage.log.append_check import RecordsRefused
from moldau.storage.log.partition_log import PartitionLog

FLEXIBLE_FROM: Final = 9

Produced = list[tuple[TopicKey, list[PartitionProduced]]]


class DeferredBatch(NamedTuple):
    """A batch that must be decompressed before it is appended, and the position of its result in the
    answer."""

    partition: Partition
    write: WaitingWrite
    records: memoryview
    answers: list[PartitionProduced]
    at: int


class ProduceInProgress:
    """What the request asked for, what has been done so far, and what its answer still waits for."""

    __slots__ = (
        "acks",
        "correlation_id",
        "deferred",
        "now_ms",
        "produced",
        "session",
        "timeout_ms",
        "uncommitted",
        "unflushed",
        "version",
    )

    def __init__(
        self,
        session: ClientSession,
        version: int,
        correlation_id: int,
        acks: int,
        timeout_ms: int,
        now_ms: int,
    ) -> None:
        self.session = session
        self.version = version
        self.correlation_id = correlation_id
        self.acks = acks
        self.timeout_ms = timeout_ms
        self.now_ms = now_ms
        self.produced: Produced = []
        self.uncommitted: list[tuple[Partition, Leading, int]] = []
        """Partitions with other replicas, and the offset up to which they must be committed."""
        self.unflushed: list[PartitionLog] = []
        self.deferred: list[DeferredBatch] = []

    def answer(self) -> list[Chunk]:
        if self.acks == 0:
            return self._answer_without_acks()
        body = encode_produce_response(self.version, self.session.throttle_ms, self.produced)
        return frame_answer(self.correlation_id, body, has_tags=self.version >= FLEXIBLE_FROM)

    def failed(self, partition: Partition, error: ApiError | StorageFault) -> PartitionProduced:
        if isinstance(error, StorageFault):
            self.session.broker.disks.fail(error)
            return rejected(partition.index, ErrorCode.KAFKA_STORAGE_ERROR, str(error))
        if isinstance(error, RecordsRefused):
            return (partition.index, int(error.code), -1, -1, -1, error.record_errors, error.message)
        return rejected(partition.index, error.code, error.message)

    def withdraw(self, partition: Partition, code: ErrorCode) -> None:
        """Replaces the result of a partition by an error: the batch was appended but may not be safe."""
        for topic, answers in self.produced:
            if topic in (partition.topic, partition.topic_id):
                for at, answer in enumerate(answers):
                    if answer[0] == partition.index and answer[1] == 0:
                        answers[at] = rejected(partition.index, code)

    def withdraw_all(self, fault: StorageFault) -> None:
        """A failed flush fails the whole request."""
        code = ErrorCode.KAFKA_STORAGE_ERROR
        self.produced = [
            (topic, [rejected(answer[0], code, str(fault)) for answer in answers])
            for topic, answers in self.produced
        ]

    def _answer_without_acks(self) -> list[Chunk]:
        """With acks=0 closing the connection is the only way to report an error."""
        for topic, answers in self.produced:
            for index, code, *_, message in answers:
                if code:
                    name = topic if isinstance(topic, str) else topic.hex()
                    self.session.connection.abort(
                        f"a produce request with acks=0 to {name}-{index} failed: "
                        f"{ErrorCode(code).name} {message or ''}".rstrip()
                    )
                    return NO_ANSWER
        return NO_ANSWER


def rejected(index: int, code: ErrorCode, message: str | None = None) -> PartitionProduced:
    return (index, int(code), -1, -1, -1, None, message)
