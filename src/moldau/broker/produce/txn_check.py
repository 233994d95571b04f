"""Whether the partitions of a transactional produce request are part of its transaction (KIP-890)."""

from collections.abc import Awaitable
from typing import Final

from moldau.broker.request.client_session import ClientSession
from moldau.broker.transactions.txn_membership import Refused, join_transaction
from moldau.core.error_codes import ErrorCode
from moldau.core.ids import TopicPartition
from moldau.protocol.fast.produce_codec import ProduceTopics
from moldau.protocol.records.batch import HEADER_SIZE, read_header

ABORTABLE_SINCE: Final = 11
JOINS_SINCE: Final = 12
"""From this version on the broker makes a partition part of the transaction (KIP-890); before, the client does."""


def outside_transaction(
    session: ClientSession, version: int, transactional_id: str, topics: ProduceTopics
) -> Refused | Awaitable[Refused]:
    """The partitions that could not be made part of the producer's transaction, and why."""
    topic_partitions: list[TopicPartition] = []
    producer = (-1, -1)
    find = session.broker.partitions.find
    for topic, partitions in topics:
        for index, records in partitions:
            partition = find(topic, index)
            if partition is None or partition.log is None or not partition.is_leader:
                continue
            if records is None or len(records) < HEADER_SIZE:
                continue
            header = read_header(records)
            producer = (header.producer_id, header.producer_epoch)
            if not partition.log.producers.has_open_transaction(*producer):
                topic_partitions.append(TopicPartition(partition.topic, index))
    if not topic_partitions:
        return {}
    joins = version >= JOINS_SINCE
    joined = join_transaction(
        session.broker, session.client, transactional_id, *producer, topic_partitions, verify_only=not joins
    )
    if isinstance(joined, Awaitable):
        return _outside_later(joined, version)
    return _as_produce_errors(joined, version)


async def _outside_later(joined: Awaitable[Refused], version: int) -> Refused:
    return _as_produce_errors(await joined, version)


def _as_produce_errors(refused: Refused, version: int) -> Refused:
    return {topic_partition: _as_produce_error(code, version) for topic_partition, code in refused.items()}


def _as_produce_error(code: ErrorCode, version: int) -> ErrorCode:
    """Translates a coordinator's error into one a producer of this version understands (KIP-890)."""
    if code is ErrorCode.CONCURRENT_TRANSACTIONS and version < JOINS_SINCE:
        return ErrorCode.NOT_ENOUGH_REPLICAS
    if code is ErrorCode.TRANSACTION_ABORTABLE and version < ABORTABLE_SINCE:
        return ErrorCode.INVALID_TXN_STATE
    if code is ErrorCode.PRODUCER_FENCED:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    return code
