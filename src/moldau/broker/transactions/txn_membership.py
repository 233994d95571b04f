"""Makes partitions part of a transaction before records are written to them (KIP-890).

Clients of transactions v2 leave that to the broker. Older clients have done it themselves, and the broker
only verifies it: a late write must not open a transaction that nobody will end.
"""

from collections.abc import Awaitable, Iterable, Sequence
from typing import TYPE_CHECKING, Final

from moldau.broker.coordinator.router import client_facts
from moldau.broker.request.client_session import Client
from moldau.broker.transactions.verification import WaitingWrite
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.core.ids import TopicPartition
from moldau.protocol.messages.transactions.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)

if TYPE_CHECKING:
    from moldau.broker.broker import Broker

REQUEST_VERSION: Final = 5
NOBODY: Final = -1
COORDINATOR_MOVING: Final = frozenset(
    {
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
    }
)
"""The producer gets NOT_ENOUGH_REPLICAS instead, which makes it try again (KIP-890)."""
Refused = dict[TopicPartition, ErrorCode]


def join_transaction(
    broker: "Broker",
    client: Client,
    transactional_id: str,
    producer_id: int,
    producer_epoch: int,
    topic_partitions: Sequence[TopicPartition],
    *,
    verify_only: bool,
) -> Refused | Awaitable[Refused]:
    """The partitions that must not be written to, and why; empty when all are allowed. An awaitable of it
    where the coordinator is another broker, or where its decision must be replicated first."""
    request = AddPartitionsToTxnRequest(
        transactions=[
            AddPartitionsToTxnTransaction(
                transactional_id=transactional_id,
                producer_id=producer_id,
                producer_epoch=producer_epoch,
                verify_only=verify_only,
                topics=_by_topic(topic_partitions),
            )
        ]
    )
    shards = broker.transactions.shards
    shard = shards.find(transactional_id)
    if shard is None:
        topic_partition = shards.partition_of(transactional_id)
        if topic_partition is None:  # There has never been a transaction.
            return dict.fromkeys(topic_partitions, ErrorCode.INVALID_TXN_STATE)
        leader = broker.catalog.leader_of(topic_partition)
        if leader in (NOBODY, broker.broker_id):  # The coordinator is being elected or is still loading.
            return dict.fromkeys(topic_partitions, ErrorCode.NOT_ENOUGH_REPLICAS)
        return _still_open(
            broker, producer_id, _ask_coordinator(broker, leader, request, topic_partitions), topic_partitions
        )
    facts = client_facts(client)
    try:
        reply = shard.ask_now(
            lambda machine, request_id, now_ms: machine.decide_add_partitions(
                request_id, request, REQUEST_VERSION, facts, now_ms
            )
        )
    except ApiError:
        return dict.fromkeys(topic_partitions, ErrorCode.NOT_ENOUGH_REPLICAS)
    if isinstance(reply, Awaitable):
        return _still_open(broker, producer_id, _committed(reply, topic_partitions), topic_partitions)
    return _refused(reply, topic_partitions)


def _still_open(
    broker: "Broker", producer_id: int, word: Awaitable[Refused], topic_partitions: Sequence[TopicPartition]
) -> Awaitable[Refused]:
    """The coordinator's answer. For partitions where it is outdated the producer must try again."""
    found = (
        (topic_partition, broker.partitions.find(*topic_partition)) for topic_partition in topic_partitions
    )
    waiting = [
        (topic_partition, partition.verifying.begin(producer_id))
        for topic_partition, partition in found
        if partition is not None
    ]
    return _unless_old(word, waiting)


async def _unless_old(
    word: Awaitable[Refused], waiting: Sequence[tuple[TopicPartition, WaitingWrite]]
) -> Refused:
    refused: Refused = {}
    try:
        refused = await word
    finally:
        old = [topic_partition for topic_partition, write in waiting if not write.end()]
    return {**dict.fromkeys(old, ErrorCode.NOT_ENOUGH_REPLICAS), **refused}


async def _committed(
    reply: Awaitable[AddPartitionsToTxnResponse], topic_partitions: Sequence[TopicPartition]
) -> Refused:
    try:
        return _refused(await reply, topic_partitions)
    except ApiError:
        return dict.fromkeys(topic_partitions, ErrorCode.NOT_ENOUGH_REPLICAS)


async def _ask_coordinator(
    broker: "Broker",
    leader: int,
    request: AddPartitionsToTxnRequest,
    topic_partitions: Sequence[TopicPartition],
) -> Refused:
    try:
        answer = await broker.peers.ask(leader, request, REQUEST_VERSION, AddPartitionsToTxnResponse)
    except ApiError:
        return dict.fromkeys(topic_partitions, ErrorCode.NOT_ENOUGH_REPLICAS)
    refused = _refused(answer, topic_partitions)
    return {
        topic_partition: ErrorCode.NOT_ENOUGH_REPLICAS if code in COORDINATOR_MOVING else code
        for topic_partition, code in refused.items()
    }


def _refused(reply: AddPartitionsToTxnResponse, topic_partitions: Sequence[TopicPartition]) -> Refused:
    if reply.error_code:
        return dict.fromkeys(topic_partitions, ErrorCode(reply.error_code))
    return {
        TopicPartition(topic.name, result.partition_index): ErrorCode(result.partition_error_code)
        for transaction in reply.results_by_transaction
        for topic in transaction.topic_results
        for result in topic.results_by_partition
        if result.partition_error_code
    }


def _by_topic(topic_partitions: Iterable[TopicPartition]) -> list[AddPartitionsToTxnTopic]:
    by_topic: dict[str, list[int]] = {}
    for topic, partition in topic_partitions:
        by_topic.setdefault(topic, []).append(partition)
    return [AddPartitionsToTxnTopic(name=name, partitions=indexes) for name, indexes in by_topic.items()]
