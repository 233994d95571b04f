"""The shard of the transaction coordinator: the machine of `txn/` on one partition, with its log, runner and
markers.

This module imports everything that transactions need, so a broker without transactions starts without that
code.
"""

import logging
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import replace
from typing import Any, Final

from moldau.broker.coordinator.log import ShardLog, StoredMarker, StoredRecord
from moldau.broker.coordinator.runner import ShardRunner
from moldau.broker.transactions.marker_sender import MarkerSender
from moldau.broker.transactions.producer_ids import ProducerIds
from moldau.broker.txn.facts import TxnFact, is_durable
from moldau.broker.txn.machine import TxnMachine
from moldau.broker.txn.markers import TxnOutcome, WriteMarkers
from moldau.broker.txn.records import from_record, to_record
from moldau.broker.txn.settings import TxnSettings
from moldau.core.ids import Millis, ProducerId, TopicPartition
from moldau.core.machine import Outcome
from moldau.core.ports import Clock, Scheduler
from moldau.core.settings.broker_keys import BrokerSettings

_log = logging.getLogger("moldau.coordinator")

MARKER_RETRY_MS: Final = 1000

Decision = Callable[[TxnMachine, int, Millis], TxnOutcome]


class TxnShard:
    """The transactional ids of one partition."""

    def __init__(
        self,
        machine: TxnMachine,
        log: ShardLog,
        markers: MarkerSender,
        producer_ids: ProducerIds,
        clock: Clock,
        scheduler: Scheduler,
    ) -> None:
        self._machine = machine
        self._log = log
        self._markers = markers
        self._scheduler = scheduler
        self._is_stopped = False
        timed = _Timed(machine, producer_ids)
        self._runner: ShardRunner[TxnFact] = ShardRunner(
            timed, _stored, log, clock, scheduler, after=self._send_markers
        )

    def load(self) -> None:
        for stored in self._log.read():
            if not isinstance(stored, StoredMarker):
                fact = from_record(stored.key, stored.value)
                if fact is not None:
                    self._machine.replay(fact)

    def start(self) -> None:
        self._runner.insist(self._machine.decide_loaded)

    def stop(self) -> None:
        self._is_stopped = True
        self._runner.close(TxnOutcome())

    def wants_producer_id(self, transactional_id: str) -> bool:
        return self._machine.wants_producer_id(transactional_id)

    async def ask(self, decide: Decision) -> Any:
        """The reply. ApiError when the coordinator moved to another broker in the meantime."""
        reply = self.ask_now(decide)
        return await reply if isinstance(reply, Awaitable) else reply

    def ask_now(self, decide: Decision) -> Any:
        """The reply, or an awaitable of it while it is not committed."""
        return self._runner.ask(lambda request_id, now_ms: decide(self._machine, request_id, now_ms))

    def tell(self, decide: Callable[[TxnMachine, Millis], TxnOutcome]) -> None:
        self._runner.tell(lambda now_ms: decide(self._machine, now_ms))

    def _send_markers(self, outcome: Outcome[TxnFact]) -> None:
        assert isinstance(outcome, TxnOutcome)
        for markers in outcome.markers:
            self._write(markers)

    def _write(self, markers: WriteMarkers) -> None:
        if not self._is_stopped:
            self._markers.send(markers, lambda written: self._written(markers, written))

    def _written(self, markers: WriteMarkers, written: list[TopicPartition]) -> None:
        if len(written) < len(markers.partitions):
            _log.warning("%s: markers are missing in some partitions, retrying", markers.transactional_id)
            left = replace(
                markers, partitions=tuple(each for each in markers.partitions if each not in written)
            )
            self._scheduler.call_later(MARKER_RETRY_MS, lambda: self._write(left))
        self._runner.insist(lambda now_ms: self._machine.decide_markers_written(markers, written, now_ms))


class _Timed:
    """Adapts the machine to the runner: passes a new producer id to a timer that may need one."""

    def __init__(self, machine: TxnMachine, producer_ids: ProducerIds) -> None:
        self._machine = machine
        self._producer_ids = producer_ids
        self.replay = machine.replay

    def decide_timer(self, key: Hashable, now_ms: Millis, /) -> TxnOutcome:
        transactional_id = getattr(key, "transactional_id", None)
        producer_id: ProducerId | None = None
        if transactional_id is not None and self._machine.wants_producer_id(transactional_id):
            producer_id = self._producer_ids.take()
        return self._machine.decide_timer(key, now_ms, producer_id)


def new_transactions(settings: BrokerSettings, coordinator_epoch: int) -> TxnMachine:
    limits = TxnSettings(
        transaction_timeout_max_ms=settings.transaction_max_timeout_ms,
        transactional_id_expiration_ms=settings.transactional_id_expiration_ms,
        expiration_check_interval_ms=settings.transaction_remove_expired_transaction_cleanup_interval_ms,
    )
    return TxnMachine(limits, coordinator_epoch)


def _stored(fact: TxnFact) -> StoredRecord | None:
    return StoredRecord(*to_record(fact)) if is_durable(fact) else None
