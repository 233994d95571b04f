"""The commands of the transaction scenarios. Producers remember their id and epoch as real ones do."""

import re
import shlex
from dataclasses import dataclass, replace
from typing import Any

from moldau.broker.group.client import ClientFacts
from moldau.broker.txn.events import Event
from moldau.broker.txn.facts import TransactionConfirmed, TransactionRemoved, TransactionSaved
from moldau.broker.txn.markers import TxnOutcome, WriteMarkers
from moldau.broker.txn.records import to_record
from moldau.broker.txn.settings import TxnSettings
from moldau.broker.txn.states import TxnState
from moldau.broker.txn.transaction import Transaction
from moldau.core.error_codes import ErrorCode
from moldau.core.ids import Millis, ProducerEpoch, ProducerId, TopicPartition
from moldau.core.machine import SetTimer
from moldau.protocol.messages.transactions.add_offsets_to_txn import AddOffsetsToTxnRequest
from moldau.protocol.messages.transactions.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from moldau.protocol.messages.transactions.describe_transactions import DescribeTransactionsRequest
from moldau.protocol.messages.transactions.end_txn import EndTxnRequest
from moldau.protocol.messages.transactions.init_producer_id import InitProducerIdRequest
from moldau.protocol.messages.transactions.list_transactions import ListTransactionsRequest
from scenarios.txn.txn_runner import TxnRunner


@dataclass
class Producer:
    producer_id: int = -1
    epoch: int = -1


class TxnScript:
    def __init__(self) -> None:
        self._lines: list[str] = []
        self._producers: dict[str, Producer] = {}
        self._sent: WriteMarkers | None = None
        self._runner = TxnRunner(TxnSettings(), self._see)
        self._runner.start()

    def handle(self, line: str) -> list[str]:
        """`verb argument... option=value...`; what happens, as lines."""
        self._lines.clear()
        verb, *words = shlex.split(line)
        options = dict(word.split("=", 1) for word in words if "=" in word)
        arguments = [word for word in words if "=" not in word]
        getattr(self, f"do_{verb.replace('-', '_')}")(*arguments, **options)
        return list(self._lines)

    def do_settings(self, **options: str) -> None:
        settings = TxnSettings(**{name: int(value) for name, value in options.items()})
        self._runner = TxnRunner(settings, self._see)
        self._runner.start()

    def do_init(self, name: str, tid: str, how: str = "new", **options: str) -> None:
        """`again` goes on with the id and epoch it has (KIP-360)."""
        producer = self._producer(name, options) if how == "again" else self._producer("", options)
        request = InitProducerIdRequest(
            transactional_id=tid,
            transaction_timeout_ms=int(options.get("timeout", 60_000)),
            producer_id=producer.producer_id,
            producer_epoch=producer.epoch,
        )
        reply = self._ask(name, request, int(options.get("version", 5)))
        self._learn(name, reply)

    def do_add(self, name: str, tid: str, *partitions: str, **options: str) -> None:
        """Up to version 3 as a client, from 4 on as the broker that got the client's batch."""
        version = int(options.get("version", 5))
        producer = self._producer(name, options)
        topics = [
            AddPartitionsToTxnTopic(name=topic, partitions=[partition])
            for topic, partition in map(_partition, partitions)
        ]
        if version < 4:
            request = AddPartitionsToTxnRequest(
                v3_and_below_transactional_id=tid,
                v3_and_below_producer_id=producer.producer_id,
                v3_and_below_producer_epoch=producer.epoch,
                v3_and_below_topics=topics,
            )
        else:
            asked = AddPartitionsToTxnTransaction(
                transactional_id=tid,
                producer_id=producer.producer_id,
                producer_epoch=producer.epoch,
                verify_only=options.get("verify") == "yes",
                topics=topics,
            )
            request = AddPartitionsToTxnRequest(transactions=[asked])
        reply = self._ask(name, request, version)
        results = (
            reply.results_by_topic_v3_and_below
            if version < 4
            else [topic for each in reply.results_by_transaction for topic in each.topic_results]
        )
        errors = [
            f"{topic.name}:{each.partition_index} {_name(each.partition_error_code)}"
            for topic in results
            for each in topic.results_by_partition
        ]
        self._lines.append(f"{name} <- {', '.join(errors)}")

    def do_add_offsets(self, name: str, tid: str, group: str, **options: str) -> None:
        producer = self._producer(name, options)
        request = AddOffsetsToTxnRequest(
            transactional_id=tid,
            producer_id=producer.producer_id,
            producer_epoch=producer.epoch,
            group_id=group,
        )
        reply = self._ask(name, request, int(options.get("version", 3)))
        self._lines.append(f"{name} <- {_name(reply.error_code)}")

    def do_commit(self, name: str, tid: str, **options: str) -> None:
        self._end(name, tid, True, options)

    def do_abort(self, name: str, tid: str, **options: str) -> None:
        self._end(name, tid, False, options)

    def _end(self, name: str, tid: str, committed: bool, options: dict[str, str]) -> None:
        """`lost=yes`: the producer does not get the answer."""
        producer = self._producer(name, options)
        request = EndTxnRequest(
            transactional_id=tid,
            producer_id=producer.producer_id,
            producer_epoch=producer.epoch,
            committed=committed,
        )
        reply = self._ask(name, request, int(options.get("version", 5)))
        if options.get("lost") == "yes":
            self._lines.append(f"{name} <- (lost)")
        elif reply.producer_id == -1:
            self._lines.append(f"{name} <- {_name(reply.error_code)}")
        else:
            self._learn(name, reply)

    def do_markers(self, *partitions: str) -> None:
        """Reports on what was sent last, for these partitions or all of them."""
        assert self._sent is not None
        written = [TopicPartition(*_partition(text)) for text in partitions]
        self._runner.write_markers(self._sent, written or self._sent.partitions)

    def do_markers_by_admin(self, name: str, producer_id: str, epoch: str, *partitions: str) -> None:
        written = [TopicPartition(*_partition(text)) for text in partitions]
        outcome = self._runner.transactions.decide_markers_by_admin(
            int(producer_id), int(epoch), written, ClientFacts(name, "/10.0.0.1"), self._runner.now_ms
        )
        self._runner.run(outcome)

    def do_advance(self, span_ms: str) -> None:
        self._runner.advance(int(span_ms))

    def do_crash(self) -> None:
        self._runner.crash()

    def do_producer_ids(self, whether: str) -> None:
        self._runner.has_producer_ids = whether == "yes"

    def do_stored(self, tid: str, state: str, **options: str) -> None:
        """What another coordinator has written."""
        transaction = Transaction(
            tid,
            ProducerId(int(options["producer"])),
            ProducerEpoch(int(options["epoch"])),
            timeout_ms=int(options.get("timeout", 60_000)),
            last_update_ms=self._runner.now_ms,
            state=TxnState[state],
            start_ms=Millis(int(options.get("start", -1))),
            client_version=int(options.get("client_version", 2)),
        )
        if "partitions" in options:
            places = [TopicPartition(*_partition(text)) for text in options["partitions"].split(",")]
            transaction = replace(transaction, partitions=frozenset(places))
        self._runner.log.append(to_record(TransactionSaved(transaction)))

    def do_describe(self, *tids: str) -> None:
        reply = self._ask("admin", DescribeTransactionsRequest(transactional_ids=tids), 0)
        for each in reply.transaction_states:
            places = [f"{topic.topic}:{index}" for topic in each.topics for index in topic.partitions]
            self._lines.append(
                f"{each.transactional_id!r} {_name(each.error_code)} {each.transaction_state}"
                f" producer {each.producer_id} epoch {each.producer_epoch}"
                f" timeout {each.transaction_timeout_ms} since {each.transaction_start_time_ms}"
                f" {' '.join(places)}".rstrip()
            )

    def do_list(self, **options: str) -> None:
        pattern = options.get("pattern")
        request = ListTransactionsRequest(
            state_filters=[text for text in options.get("states", "").split(",") if text],
            producer_id_filters=[int(text) for text in options.get("producers", "").split(",") if text],
            duration_filter=int(options.get("duration", -1)),
            transactional_id_pattern=pattern,
        )
        matches = None if pattern is None else lambda tid: re.fullmatch(pattern, tid) is not None
        version = int(options.get("version", 2))
        reply = self._runner.ask(request, version, ClientFacts("admin", "/10.0.0.1"), matches=matches)
        states = [
            f"{each.transactional_id} {each.transaction_state} producer {each.producer_id}"
            for each in reply.transaction_states
        ]
        self._lines.append(f"listed: {', '.join(states)}".rstrip())
        if reply.unknown_state_filters:
            self._lines.append(f"unknown states: {', '.join(reply.unknown_state_filters)}")

    def do_history(self, tid: str) -> None:
        self._lines += [_told(event) for event in self._runner.transactions.history.events(tid)]

    def _ask(self, name: str, request: Any, version: int) -> Any:
        return self._runner.ask(request, version, ClientFacts(name, "/10.0.0.1"))

    def _producer(self, name: str, options: dict[str, str]) -> Producer:
        """`producer=` and `epoch=` stand in for what it remembers: a zombie, or somebody confused."""
        known = self._producers.get(name, Producer())
        return Producer(
            int(options.get("producer", known.producer_id)), int(options.get("epoch", known.epoch))
        )

    def _learn(self, name: str, reply: Any) -> None:
        if reply.error_code:
            self._lines.append(f"{name} <- {_name(reply.error_code)}")
            return
        self._producers[name] = Producer(reply.producer_id, reply.producer_epoch)
        self._lines.append(f"{name} <- producer {reply.producer_id} epoch {reply.producer_epoch}")

    def _see(self, outcome: TxnOutcome) -> None:
        self._lines += [line for fact in outcome.facts for line in _written(fact)]
        for timer in outcome.timers:
            late = f"at {timer.deadline_ms}" if isinstance(timer, SetTimer) else "cancelled"
            self._lines.append(f"timer {_timer(timer.key)} {late}")
        for markers in outcome.markers:
            self._sent = markers
            self._lines.append(
                f"send {'COMMIT' if markers.committed else 'ABORT'} of {markers.transactional_id}"
                f" producer {markers.producer_id} epoch {markers.producer_epoch} to {_places(markers.partitions)}"
                f" (coordinator {markers.coordinator_epoch}, v{markers.transaction_version})"
            )


def _partition(text: str) -> tuple[str, int]:
    topic, _, partition = text.partition(":")
    return topic, int(partition)


def _places(partitions: Any) -> str:
    return " ".join(f"{topic}:{partition}" for topic, partition in sorted(partitions))


def _name(error_code: int) -> str:
    return ErrorCode(error_code).name if error_code else "ok"


def _timer(key: Any) -> str:
    name = type(key).__name__.removesuffix("Timer").lower()
    return f"{name} {key.transactional_id}" if hasattr(key, "transactional_id") else name


def _written(fact: Any) -> list[str]:
    match fact:
        case TransactionSaved(transaction):
            next_id = f" next {transaction.next_producer_id}" if transaction.next_producer_id != -1 else ""
            return [
                f"write {transaction.transactional_id} {transaction.state.label}"
                f" producer {transaction.producer_id} epoch {transaction.producer_epoch}{next_id}"
                f" {_places(transaction.partitions)}".rstrip()
            ]
        case TransactionConfirmed(transaction):
            return [f"confirm {transaction.transactional_id}"]
        case TransactionRemoved(transactional_id):
            return [f"write {transactional_id} removed"]
    return []


def _told(event: Event) -> str:
    who = f" by {event.client_id}" if event.client_id else ""
    detail = f", {event.detail}" if event.detail else ""
    left_out = f" and {event.partitions_left_out} more" if event.partitions_left_out else ""
    places = f" [{_places(event.partitions)}{left_out}]" if event.partitions else ""
    times = f" ({event.times} times)" if event.times > 1 else ""
    return (
        f"{event.at_ms} {event.kind}{who}{detail}, producer {event.producer_id}"
        f" epoch {event.producer_epoch}{places}{times}"
    )
