"""Drives one coordinator machine over its partition. Owns clock, log and timers; the machine decides.

The durable facts of an outcome are appended, all facts are replayed, timers are set and answers released.
With one replica an append is committed at once. With several, answers wait for the high watermark. That
includes answers to requests that changed nothing: the state they report may not be committed yet.
"""

import asyncio
import logging
from collections.abc import Callable, Hashable
from itertools import count
from typing import Final, Generic, Protocol, TypeVar

from moldau.broker.coordinator.log import ShardLog, StoredRecord
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError, StorageFault
from moldau.core.ids import Millis
from moldau.core.machine import CancelTimer, Outcome, SetTimer
from moldau.core.ports import Cancellable, Clock, Scheduler

_log = logging.getLogger("moldau.coordinator")

RETRY_MS: Final = 5000
"""The delay before a failed write is tried again."""

Fact = TypeVar("Fact")
Decision = Callable[[int, Millis], Outcome[Fact]]
"""Takes a request id and the time. Reads the machine's state and does not change it."""


class Machine(Protocol[Fact]):
    def replay(self, fact: Fact, /) -> None: ...

    def decide_timer(self, key: Hashable, now_ms: Millis, /) -> Outcome[Fact]: ...


class ShardRunner(Generic[Fact]):
    def __init__(
        self,
        machine: Machine[Fact],
        encode: Callable[[Fact], StoredRecord | None],
        log: ShardLog,
        clock: Clock,
        scheduler: Scheduler,
        after: Callable[[Outcome[Fact]], None] | None = None,
    ) -> None:
        """`encode` turns a fact into a record; None for a fact that is not stored. `after` sees each outcome
        once its facts are committed, for work outside the log."""
        self._machine = machine
        self._encode = encode
        self._log = log
        self._clock = clock
        self._scheduler = scheduler
        self._after = after
        self._request_ids = count(1)
        self._waiting: dict[int, asyncio.Future[object]] = {}
        self._timers: dict[Hashable, Cancellable] = {}
        self._is_closed = False

    def ask(self, decide: Decision[Fact]) -> object:
        """The reply. An awaitable of it where the machine lets the request wait or its facts are not
        committed yet. ApiError or StorageFault when the facts could not be written: then nothing happened."""
        if self._is_closed:
            raise ApiError(ErrorCode.NOT_COORDINATOR)
        request_id = next(self._request_ids)
        replies = self._apply(decide(request_id, self._clock.now_ms()))
        if request_id in replies:
            return replies[request_id]
        future = asyncio.get_running_loop().create_future()
        self._waiting[request_id] = future
        return future

    def tell(self, decide: Callable[[Millis], Outcome[Fact]]) -> None:
        """For a decision without an answer."""
        if not self._is_closed:
            self._apply(decide(self._clock.now_ms()))

    def insist(self, decide: Callable[[Millis], Outcome[Fact]]) -> None:
        """Like `tell`, but tries again until the facts are written."""
        try:
            self.tell(decide)
        except (ApiError, StorageFault) as problem:
            _log.warning("a coordinator could not write its log, retrying in %d ms: %s", RETRY_MS, problem)
            self._scheduler.call_later(RETRY_MS, lambda: self.insist(decide))

    def close(self, outcome: Outcome[Fact]) -> None:
        """The shard stops: sends the last answers and cancels the timers."""
        self._is_closed = True
        self._release({answer.request_id: answer.reply for answer in outcome.answers})
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(ApiError(ErrorCode.NOT_COORDINATOR))
                # Marks the exception retrieved, so that asyncio does not warn when nobody awaits the future.
                future.exception()
        self._waiting.clear()

    def _apply(self, outcome: Outcome[Fact]) -> dict[int, object]:
        """The answers for which no future is waiting yet."""
        if outcome.facts:
            encoded = (self._encode(fact) for fact in outcome.facts)
            records = [record for record in encoded if record is not None]
            if records:
                self._log.append(records, self._clock.now_ms())
            for fact in outcome.facts:
                self._machine.replay(fact)
        for timer in outcome.timers:
            self._set(timer)
        if self._log.is_committed:
            return self._finish(outcome)
        if outcome.answers or self._after is not None:
            self._log.when_committed(lambda code: self._finish_later(outcome, code))
        return {}

    def _finish(self, outcome: Outcome[Fact]) -> dict[int, object]:
        replies = self._release({answer.request_id: answer.reply for answer in outcome.answers})
        if self._after is not None:
            self._after(outcome)
        return replies

    def _finish_later(self, outcome: Outcome[Fact], code: ErrorCode) -> None:
        """The facts are committed, or this coordinator has lost its partition: then another one decides."""
        if self._is_closed:
            return
        if code is ErrorCode.NONE:
            self._finish(outcome)
            return
        for answer in outcome.answers:
            future = self._waiting.pop(answer.request_id, None)
            if future is not None and not future.done():
                future.set_exception(ApiError(ErrorCode.NOT_COORDINATOR))

    def _release(self, replies: dict[int, object]) -> dict[int, object]:
        for request_id in [each for each in replies if each in self._waiting]:
            future = self._waiting.pop(request_id)
            reply = replies.pop(request_id)
            if not future.done():
                future.set_result(reply)
        return replies

    def _set(self, timer: SetTimer | CancelTimer) -> None:
        running = self._timers.pop(timer.key, None)
        if running is not None:
            running.cancel()
        if isinstance(timer, SetTimer):
            delay_ms = max(0, timer.deadline_ms - self._clock.now_ms())
            self._timers[timer.key] = self._scheduler.call_later(delay_ms, lambda: self._fire(timer.key))

    def _fire(self, key: Hashable) -> None:
        del self._timers[key]
        try:
            self.tell(lambda now_ms: self._machine.decide_timer(key, now_ms))
        except (ApiError, StorageFault) as problem:
            _log.error("a coordinator could not write its log, retrying in %d ms: %s", RETRY_MS, problem)
            self._set(SetTimer(key, Millis(self._clock.now_ms() + RETRY_MS)))
