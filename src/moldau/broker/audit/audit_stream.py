"""Collects events of the audit and writes them shortly after: nothing that a client does waits for them.

Equal denials and equal logins of one interval are one event with a count, so that a client that tries again and again
fills neither the memory nor the disk. When the topic cannot be written for long the oldest events are kept, and a later
event says how many were lost.
"""

import logging
import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Protocol

from moldau.broker.audit.request_facts import details_of, errors_in, is_rehearsal, outcome_of
from moldau.core.errors import ApiError, StorageFault
from moldau.core.ports import Clock, Scheduler
from moldau.security.access.decision import Decision
from moldau.security.access.model import Caller, Operation, ResourceKind
from moldau.security.audit.audit_events import (
    TEXT_SIZE_MAX,
    AuditEvent,
    LoginAttempt,
    change_event,
    cloud_event,
    denial_event,
    login_event,
    loss_event,
)

if TYPE_CHECKING:
    from moldau.broker.request.client_session import Client

WRITE_INTERVAL_MS: Final = 500
RETRY_MS: Final = 5_000
EVENTS_MAX: Final = 5_000
"""Events, and different denials, that wait to be written."""
_log = logging.getLogger("moldau.audit")

Question = tuple[Caller, Operation, ResourceKind, str]


class EventWriter(Protocol):
    async def write(self, events: Sequence[tuple[bytes, bytes]], now_ms: int) -> None:
        """Keys and values. ApiError or StorageFault if they could not be written; part of them may have been."""


class AuditStream:
    def __init__(self, writer: EventWriter, scheduler: Scheduler, clock: Clock, source: str) -> None:
        """`source` names the broker in its events."""
        self._writer = writer
        self._scheduler = scheduler
        self._clock = clock
        self._source = source
        self._waiting: list[tuple[bytes, bytes]] = []
        self._denials: dict[Question, tuple[Decision, int]] = {}
        self._logins: dict[LoginAttempt, int] = {}
        self._lost = 0
        self._is_due = False
        self._is_failing = False
        self._is_closed = False

    def denied(
        self, caller: Caller, operation: Operation, kind: ResourceKind, name: str, decision: Decision
    ) -> None:
        """Implements `security.access.kafka_authorizer.Witness`."""
        question = (caller, operation, kind, name)
        _, count = self._denials.get(question, (decision, 0))
        if count or len(self._denials) < EVENTS_MAX:
            self._denials[question] = (decision, count + 1)
        else:
            self._lost += 1
        self._write_soon()

    def logged_in(self, client: "Client", mechanism: str, key: str | None = None) -> None:
        """`key` is the name of the API key with which it has."""
        self._login(client, client.principal, mechanism, None, key)

    def login_failed(self, client: "Client", mechanism: str, reason: str) -> None:
        self._login(client, None, mechanism, reason)

    def changed(self, client: "Client", name: str, request: object, answer: object) -> None:
        """A request of `request_facts.AUDITED` was answered."""
        if not is_rehearsal(request):
            caller = client.caller._replace(request=name)
            details, outcome = details_of(name, request), outcome_of(name, answer)
            self._put(change_event(caller, client.client_id, details, errors_in(answer), outcome))

    async def close(self) -> None:
        """Writes what is left, if that is possible at once."""
        self._is_closed = True
        await self._write()

    def _login(
        self,
        client: "Client",
        principal: str | None,
        mechanism: str,
        failure: str | None,
        key: str | None = None,
    ) -> None:
        reason = None if failure is None else failure[:TEXT_SIZE_MAX]
        listener = client.connection.listener
        attempt = LoginAttempt(principal, client.caller.host, listener, mechanism, reason, key)
        if attempt in self._logins or len(self._logins) < EVENTS_MAX:
            self._logins[attempt] = self._logins.get(attempt, 0) + 1
        else:
            self._lost += 1
        self._write_soon()

    def _put(self, event: AuditEvent) -> None:
        if len(self._waiting) >= EVENTS_MAX:
            self._lost += 1
        else:
            self._waiting.append(self._record(event))
        self._write_soon()

    def _record(self, event: AuditEvent) -> tuple[bytes, bytes]:
        value = cloud_event(
            event, source=self._source, event_id=str(uuid.uuid4()), at_ms=self._clock.now_ms()
        )
        return event.principal.encode(), value

    def _write_soon(self) -> None:
        if not self._is_due and not self._is_closed:
            self._is_due = True
            self._scheduler.call_later(RETRY_MS if self._is_failing else WRITE_INTERVAL_MS, self._begin)

    def _begin(self) -> None:
        if not self._is_closed:
            self._scheduler.spawn(self._write())

    def _collect(self) -> None:
        """Makes events of what was counted."""
        logins, self._logins = self._logins, {}
        denials, self._denials = self._denials, {}
        counted = [(login_event(attempt, count), count) for attempt, count in logins.items()]
        counted += [
            (denial_event(*question, decision, count), count)
            for question, (decision, count) in denials.items()
        ]
        room = max(0, EVENTS_MAX - len(self._waiting))
        self._waiting += [self._record(event) for event, _ in counted[:room]]
        self._lost += sum(count for _, count in counted[room:])

    async def _write(self) -> None:
        self._collect()
        taken, self._waiting = self._waiting, []
        lost = self._lost
        report = [self._record(loss_event(lost))] if lost else []
        try:
            if taken or report:
                await self._writer.write([*taken, *report], self._clock.now_ms())
            self._lost -= lost
            self._is_failing = False
        except (ApiError, StorageFault) as problem:
            if not self._is_failing or self._is_closed:
                _log.warning(
                    "%d events of the audit wait because they cannot be written: %s", len(taken), problem
                )
            self._is_failing = True
            self._waiting = taken + self._waiting
        self._is_due = False
        if self._waiting or self._denials or self._logins:
            self._write_soon()
