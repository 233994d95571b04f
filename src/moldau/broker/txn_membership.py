"""Making partitions part of a transaction before something is written to them for it (KIP-890).

Clients of transactions v2 leave that to us; older ones have done it, and we only see to it that they have: a write
that arrives late must not open a transaction nobody will end.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from moldau.broker.group_coordinator import client_facts
from moldau.broker.session import Client
from moldau.core.error_codes import ErrorCode
from moldau.core.ids import TopicPartition
from moldau.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)

if TYPE_CHECKING:
    from moldau.broker.parts import Broker

REQUEST_VERSION: Final = 5
Refused = dict[TopicPartition, ErrorCode]


def join_transaction(
    broker: "Broker",
    client: Client,
    transactional_id: str,
    producer_id: int,
    producer_epoch: int,
    places: Sequence[TopicPartition],
    *,
    verify_only: bool,
) -> Refused:
    """The partitions that may not be written to, and why. Empty when all is well."""
    shard = broker.transactions.shards.find(transactional_id)
    if shard is None:
        return dict.fromkeys(places, ErrorCode.INVALID_TXN_STATE)
    request = AddPartitionsToTxnRequest(
        transactions=[
            AddPartitionsToTxnTransaction(
                transactional_id=transactional_id,
                producer_id=producer_id,
                producer_epoch=producer_epoch,
                verify_only=verify_only,
                topics=_by_topic(places),
            )
        ]
    )
    facts = client_facts(client)
    reply: AddPartitionsToTxnResponse = shard.ask(
        lambda machine, request_id, now_ms: machine.decide_add_partitions(
            request_id, request, REQUEST_VERSION, facts, now_ms
        )
    )
    if reply.error_code:
        return dict.fromkeys(places, ErrorCode(reply.error_code))
    return {
        TopicPartition(topic.name, result.partition_index): ErrorCode(result.partition_error_code)
        for transaction in reply.results_by_transaction
        for topic in transaction.topic_results
        for result in topic.results_by_partition
        if result.partition_error_code
    }


def _by_topic(places: Iterable[TopicPartition]) -> list[AddPartitionsToTxnTopic]:
    by_topic: dict[str, list[int]] = {}
    for topic, partition in places:
        by_topic.setdefault(topic, []).append(partition)
    return [AddPartitionsToTxnTopic(name=name, partitions=indexes) for name, indexes in by_topic.items()]
