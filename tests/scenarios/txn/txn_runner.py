"""Drives a transaction coordinator the way a broker does, with a clock, a log and timers that are plain values."""

from collections.abc import Callable, Hashable, Iterable

from moldau.broker.group.client import ClientFacts
from moldau.broker.txn.facts import is_durable
from moldau.broker.txn.machine import TxnMachine
from moldau.broker.txn.markers import TxnOutcome, WriteMarkers
from moldau.broker.txn.records import from_record, to_record
from moldau.broker.txn.settings import TxnSettings
from moldau.broker.txn.timers import TransactionTimer
from moldau.core.ids import Millis, ProducerId, TopicPartition
from moldau.core.machine import CancelTimer, SetTimer
from moldau.protocol.codec import decode, encode
from moldau.protocol.messages.transactions.add_offsets_to_txn import AddOffsetsToTxnRequest
from moldau.protocol.messages.transactions.add_partitions_to_txn import AddPartitionsToTxnRequest
from moldau.protocol.messages.transactions.describe_transactions import DescribeTransactionsRequest
from moldau.protocol.messages.transactions.end_txn import EndTxnRequest
from moldau.protocol.messages.transactions.init_producer_id import InitProducerIdRequest
from moldau.protocol.messages.transactions.list_transactions import ListTransactionsRequest
from moldau.protocol.spec import Request, Response

Record = tuple[bytes, bytes | None]
FIRST_PRODUCER_ID = 1000


class TxnRunner:
    def __init__(self, settings: TxnSettings, see: Callable[[TxnOutcome], None] = lambda _: None) -> None:
        self.settings = settings
        self.coordinator_epoch = 0
        self.transactions = TxnMachine(settings, self.coordinator_epoch)
        self.now_ms = Millis(0)
        self.log: list[Record] = []
        self.timers: dict[Hashable, Millis] = {}
        self.markers: list[tuple[WriteMarkers, set[TopicPartition]]] = []
        """To be sent, with the partitions that have none yet."""
        self.has_producer_ids = True
        self._see = see
        self._request_ids = 0
        self._next_producer_id = FIRST_PRODUCER_ID

    def start(self) -> None:
        self.run(self.transactions.decide_loaded(self.now_ms))

    def ask(
        self,
        request: Request,
        version: int,
        client: ClientFacts,
        *,
        matches: Callable[[str], bool] | None = None,
    ) -> Response:
        """Both ways go through the codec, which refuses what a version cannot carry."""
        self._request_ids += 1
        arrived, _ = decode(type(request), version, encode(request, version))
        outcome = self._decide(arrived, version, client, matches)
        self.run(outcome)
        (answer,) = outcome.answers
        assert answer.request_id == self._request_ids
        assert isinstance(answer.reply, request.RESPONSE)
        return decode(request.RESPONSE, version, encode(answer.reply, version))[0]

    def _decide(
        self, request: Request, version: int, client: ClientFacts, matches: Callable[[str], bool] | None
    ) -> TxnOutcome:
        machine, request_id, now_ms = self.transactions, self._request_ids, self.now_ms
        match request:
            case InitProducerIdRequest():
                new_id = self._new_producer_id(request.transactional_id or "")
                return machine.decide_init_producer_id(request_id, request, version, client, now_ms, new_id)
            case AddPartitionsToTxnRequest():
                return machine.decide_add_partitions(request_id, request, version, client, now_ms)
            case AddOffsetsToTxnRequest():
                where = TopicPartition("__consumer_offsets", len(request.group_id))
                return machine.decide_add_offsets(request_id, request, version, client, now_ms, where)
            case EndTxnRequest():
                new_id = self._new_producer_id(request.transactional_id)
                return machine.decide_end_txn(request_id, request, version, client, now_ms, new_id)
            case DescribeTransactionsRequest():
                return machine.decide_describe(request_id, request)
            case ListTransactionsRequest():
                return machine.decide_list(request_id, request, now_ms, matches)
        raise AssertionError(request)

    def run(self, outcome: TxnOutcome) -> None:
        for fact in outcome.facts:
            if is_durable(fact):
                self.log.append(to_record(fact))
            self.transactions.replay(fact)
        for timer in outcome.timers:
            if isinstance(timer, SetTimer):
                self.timers[timer.key] = timer.deadline_ms
            else:
                assert isinstance(timer, CancelTimer)
                self.timers.pop(timer.key, None)
        self.markers += [(markers, set(markers.partitions)) for markers in outcome.markers]
        self._see(outcome)

    def write_markers(self, markers: WriteMarkers, partitions: Iterable[TopicPartition]) -> None:
        written = set(partitions)
        for sent, missing in self.markers:
            if sent == markers:
                missing -= written
        self.markers = [(sent, missing) for sent, missing in self.markers if missing]
        self.run(self.transactions.decide_markers_written(markers, written, self.now_ms))

    def next_timer(self) -> tuple[Hashable, Millis] | None:
        return min(self.timers.items(), key=lambda timer: (timer[1], repr(timer[0])), default=None)

    def fire_next_timer(self) -> None:
        timer = self.next_timer()
        assert timer is not None
        key, deadline_ms = timer
        del self.timers[key]
        self.now_ms = max(self.now_ms, deadline_ms)
        new_id = self._new_producer_id(key.transactional_id) if isinstance(key, TransactionTimer) else None
        self.run(self.transactions.decide_timer(key, self.now_ms, new_id))

    def advance(self, span_ms: int) -> None:
        end_ms = Millis(self.now_ms + span_ms)
        while (timer := self.next_timer()) is not None and timer[1] <= end_ms:
            self.fire_next_timer()
        self.now_ms = end_ms

    def crash(self) -> None:
        """Everything but the log is gone; markers that were not written are sent by the next coordinator or never."""
        self.timers.clear()
        self.markers.clear()
        self.coordinator_epoch += 1
        self.transactions = loaded(self.settings, self.coordinator_epoch, self.log)
        self.start()

    def _new_producer_id(self, transactional_id: str) -> ProducerId | None:
        if not (self.has_producer_ids and self.transactions.wants_producer_id(transactional_id)):
            return None
        self._next_producer_id += 1
        return ProducerId(self._next_producer_id - 1)


def loaded(settings: TxnSettings, coordinator_epoch: int, log: Iterable[Record]) -> TxnMachine:
    transactions = TxnMachine(settings, coordinator_epoch)
    for key, value in log:
        fact = from_record(key, value)
        assert fact is not None
        transactions.replay(fact)
    return transactions
