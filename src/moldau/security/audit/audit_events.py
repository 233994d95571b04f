"""Events of the audit stream, in the form of CloudEvents 1.0 (structured, as JSON)."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

import orjson

from moldau.security.access.decision import Decision
from moldau.security.access.hosts import host_text
from moldau.security.access.model import Caller, Operation, ResourceKind

AUDIT_TOPIC: Final = "_moldau_audit"
CONTENT_TYPE: Final = "application/cloudevents+json; charset=UTF-8"
LOGIN: Final = "moldau.audit.login"
DENIAL: Final = "moldau.audit.denial"
CHANGE: Final = "moldau.audit.change"
LOSS: Final = "moldau.audit.loss"
TEXT_SIZE_MAX: Final = 1000
DETAILS_BYTES_MAX: Final = 128 * 1024
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_TOO_LARGE: Final = "(too large to be kept)"


class AuditEvent(NamedTuple):
    type: str
    principal: str
    subject: str | None
    """What it is about, as `topic:orders`."""
    data: Mapping[str, object]


class LoginAttempt(NamedTuple):
    principal: str | None
    """None: the client failed to show who it is."""
    host: str
    listener: str
    mechanism: str
    failure: str | None
    """None: it has logged in."""
    key: str | None = None
    """The name of the API key with which it has, None without one."""


def login_event(attempt: LoginAttempt, count: int) -> AuditEvent:
    principal, host, listener, mechanism, failure, key = attempt
    return AuditEvent(
        LOGIN,
        principal or "",
        listener,
        {
            "principal": principal,
            "host": host_text(host),
            "listener": listener,
            "mechanism": mechanism,
            "succeeded": failure is None,
            "reason": failure,
            "count": count,
            **({} if key is None else {"api_key": key}),
        },
    )


def denial_event(
    caller: Caller, operation: Operation, kind: ResourceKind, name: str, decision: Decision, count: int
) -> AuditEvent:
    shown = name[:TEXT_SIZE_MAX]
    return AuditEvent(
        DENIAL,
        caller.principal,
        f"{kind.name.lower()}:{shown}",
        {
            "principal": caller.principal,
            "host": host_text(caller.host),
            "request": caller.request,
            "operation": operation.name,
            "resource_type": kind.name,
            "resource_name": shown,
            "rule": decision.reason[: 2 * TEXT_SIZE_MAX],
            "count": count,
        },
    )


def change_event(
    caller: Caller,
    client_id: str | None,
    details: object,
    errors: Sequence[Mapping[str, object]],
    outcome: object | None = None,
) -> AuditEvent:
    """`details` is the request, without its secrets; `outcome` what of the answer is worth keeping."""
    data: dict[str, object] = {
        "principal": caller.principal,
        "host": host_text(caller.host),
        "client_id": None if client_id is None else client_id[:TEXT_SIZE_MAX],
        "request": caller.request,
        "details": _fitting(details),
        "errors": _fitting(errors),
    }
    if outcome is not None:
        data["outcome"] = _fitting(outcome)
    return AuditEvent(CHANGE, caller.principal, caller.request, data)


def loss_event(count: int) -> AuditEvent:
    return AuditEvent(
        LOSS, "", None, {"count": count, "reason": "events came faster than they could be written"}
    )


def cloud_event(event: AuditEvent, *, source: str, event_id: str, at_ms: int) -> bytes:
    envelope: dict[str, object] = {
        "specversion": "1.0",
        "id": event_id,
        "source": source,
        "type": event.type,
        "time": (_EPOCH + timedelta(milliseconds=at_ms)).isoformat(timespec="milliseconds"),
        "datacontenttype": "application/json",
    }
    if event.subject is not None:
        envelope["subject"] = event.subject
    return orjson.dumps({**envelope, "data": event.data})


def _fitting(details: object) -> object:
    return details if len(orjson.dumps(details)) <= DETAILS_BYTES_MAX else _TOO_LARGE
