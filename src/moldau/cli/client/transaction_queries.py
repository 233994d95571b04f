"""Transactions as coordinators and partition leaders describe them (KIP-664), and the requests that end them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from confluent_kafka import KafkaError

from moldau.cli.client.connection import Cluster
from moldau.cli.client.wire import TRANSACTION, Address
from moldau.cli.failures import Failure, refused, similar_names
from moldau.core.error_codes import ErrorCode
from moldau.core.ids import TopicPartition
from moldau.protocol.messages.log import describe_producers
from moldau.protocol.messages.transactions import describe_transactions
from moldau.protocol.messages.transactions.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from moldau.protocol.messages.transactions.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
)
from moldau.protocol.messages.transactions.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)

UNDER_WAY = frozenset({"Ongoing", "PrepareCommit", "PrepareAbort"})
"""States in which partitions may contain uncommitted records."""


@dataclass(frozen=True)
class ListedTransaction:
    transactional_id: str
    producer_id: int
    state: str
    coordinator: int


@dataclass(frozen=True)
class Transaction:
    transactional_id: str
    state: str
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    started_ms: int | None
    coordinator: Address
    partitions: Sequence[TopicPartition]


@dataclass(frozen=True)
class Producer:
    """A producer with recent writes to a partition, as the partition leader describes it."""

    place: TopicPartition
    producer_id: int
    producer_epoch: int
    last_sequence: int
    last_timestamp_ms: int
    coordinator_epoch: int
    txn_start_offset: int | None


def list_transactions(
    cluster: Cluster, states: Sequence[str] = (), duration_ms: int | None = None
) -> Sequence[ListedTransaction]:
    """Asks every broker for the transactions it coordinates."""
    doing = "list transactions"
    request = ListTransactionsRequest(
        state_filters=states,
        producer_id_filters=[],
        duration_filter=-1 if duration_ms is None else duration_ms,
    )
    found = []
    for broker_id, address in cluster.wire.brokers.items():

        def ask(address: Address = address) -> tuple[int, ListTransactionsResponse]:
            # Filtering by age needs KIP-994.
            version_min = 0 if duration_ms is None else 1
            answer = cluster.wire.ask(address, request, ListTransactionsResponse, doing, version_min)
            return answer.error_code, answer

        answer = cluster.wire.settled(ask, doing)
        if answer.unknown_state_filters:
            raise Failure(
                f"'{answer.unknown_state_filters[0]}' is not a state of transactions.",
                "The states are Empty, Ongoing, PrepareCommit, PrepareAbort, CompleteCommit, CompleteAbort, Dead.",
            )
        found += [
            ListedTransaction(state.transactional_id, state.producer_id, state.transaction_state, broker_id)
            for state in answer.transaction_states
        ]
    return sorted(found, key=lambda listed: listed.transactional_id)


def describe_transaction(cluster: Cluster, transactional_id: str) -> Transaction:
    doing = f"describe transaction '{transactional_id}'"
    coordinator = cluster.wire.coordinator(transactional_id, TRANSACTION, doing)
    request = describe_transactions.DescribeTransactionsRequest(transactional_ids=[transactional_id])

    def ask() -> tuple[int, describe_transactions.TransactionState]:
        answer = cluster.wire.ask(
            coordinator, request, describe_transactions.DescribeTransactionsResponse, doing
        )
        [state] = answer.transaction_states
        return state.error_code, state

    try:
        state = cluster.wire.settled(ask, doing)
    except Failure as failure:
        if failure.code != ErrorCode.TRANSACTIONAL_ID_NOT_FOUND:
            raise
        raise _unknown(cluster, transactional_id) from failure
    return Transaction(
        transactional_id,
        state.transaction_state,
        state.producer_id,
        state.producer_epoch,
        state.transaction_timeout_ms,
        state.transaction_start_time_ms if state.transaction_start_time_ms >= 0 else None,
        coordinator,
        sorted(TopicPartition(topic.topic, number) for topic in state.topics for number in topic.partitions),
    )


def _unknown(cluster: Cluster, transactional_id: str) -> Failure:
    known = [listed.transactional_id for listed in list_transactions(cluster)]
    similar = " or ".join(f"'{name}'" for name in similar_names(transactional_id, known))
    hint = f"Did you mean {similar}?" if similar else "`moldau transactions list` lists them."
    return Failure(f"there is no transactional id '{transactional_id}' at {cluster.bootstrap_servers}.", hint)


def active_producers(cluster: Cluster, places: Iterable[TopicPartition]) -> Sequence[Producer]:
    """Sends one request per leader. Skips partitions without a leader."""
    leaders = cluster.leaders()
    wanted: dict[Address, dict[str, list[int]]] = {}
    for place in places:
        if place in leaders:
            wanted.setdefault(leaders[place], {}).setdefault(place.topic, []).append(place.partition)
    found: list[Producer] = []
    for address, topics in wanted.items():
        doing = "describe the producers of partitions"
        request = describe_producers.DescribeProducersRequest(
            topics=[
                describe_producers.TopicRequest(name=topic, partition_indexes=numbers)
                for topic, numbers in topics.items()
            ]
        )
        answer = cluster.wire.ask(address, request, describe_producers.DescribeProducersResponse, doing)
        for topic in answer.topics:
            for part in topic.partitions:
                place = TopicPartition(topic.name, part.partition_index)
                if part.error_code:
                    raise refused(KafkaError(part.error_code), f"describe the producers of {place}")
                found += [_producer(place, state) for state in part.active_producers]
    return sorted(found, key=lambda producer: (producer.place, producer.producer_id))


def _producer(place: TopicPartition, state: describe_producers.ProducerState) -> Producer:
    start = state.current_txn_start_offset
    return Producer(
        place,
        state.producer_id,
        state.producer_epoch,
        state.last_sequence,
        state.last_timestamp,
        state.coordinator_epoch,
        start if start >= 0 else None,
    )


def fence(cluster: Cluster, transaction: Transaction) -> None:
    """Sends InitProducerId like a restarted producer: aborts the open transaction and fences its producer."""
    doing = f"abort transaction '{transaction.transactional_id}'"
    request = InitProducerIdRequest(
        transactional_id=transaction.transactional_id, transaction_timeout_ms=transaction.timeout_ms
    )

    def ask() -> tuple[int, None]:
        answer = cluster.wire.ask(transaction.coordinator, request, InitProducerIdResponse, doing)
        return answer.error_code, None

    cluster.wire.settled(ask, doing)


def write_abort_marker(cluster: Cluster, producer: Producer) -> None:
    """Writes an abort marker through the partition leader, for a transaction the coordinator has forgotten."""
    doing = f"abort the transaction of producer {producer.producer_id} in {producer.place}"
    marker = WritableTxnMarker(
        producer_id=producer.producer_id,
        producer_epoch=producer.producer_epoch,
        transaction_result=False,
        topics=[
            WritableTxnMarkerTopic(name=producer.place.topic, partition_indexes=[producer.place.partition])
        ],
        coordinator_epoch=max(producer.coordinator_epoch, 0),
    )

    def ask() -> tuple[int, None]:
        leader = cluster.leaders()[producer.place]
        answer = cluster.wire.ask(
            leader, WriteTxnMarkersRequest(markers=[marker]), WriteTxnMarkersResponse, doing
        )
        return answer.markers[0].topics[0].partitions[0].error_code, None

    cluster.wire.settled(ask, doing)
