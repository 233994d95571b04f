"""Faults: what is to go wrong, and how often. A test arms them, and the next requests meet them.

Owns the list of armed faults, which tests and the broker's thread both use. `faulty_session` applies a fault to a
request.
"""

import threading
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final, Literal

from moldau.broker.handlers import HANDLERS
from moldau.broker.request.api_table import ApiSpec
from moldau.core.error_codes import ErrorCode
from moldau.testing.failed_answers import can_fail

_APIS: Final = {spec.name.casefold(): spec for spec in HANDLERS}

Kind = Literal["delay", "drop", "drop answer", "fail"]


@dataclass(slots=True, eq=False)
class Fault:
    """One armed fault. `hits` counts the requests that met it; `times_left` is None for one that never runs out."""

    api: str
    kind: Kind
    times_left: int | None
    delay_ms: int = 0
    error_code: ErrorCode = ErrorCode.NONE
    hits: int = 0


class Faults:
    """APIs have Kafka's names, such as "Produce" or "OffsetCommit". `times` is the number of requests that meet the
    fault; None means all until `clear`. Faults of one API are met in the order in which they were armed."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._armed: dict[int, list[Fault]] = {}

    def delay(self, api: str, delay_ms: int, times: int | None = 1) -> Fault:
        """The request is delayed by this much before it is served."""
        if delay_ms < 0:
            raise ValueError(f"a delay cannot be negative: {delay_ms} ms")
        spec = _find(api)
        return self._arm(spec, Fault(spec.name, "delay", times, delay_ms=delay_ms))

    def drop(self, api: str, times: int | None = 1, *, is_served: bool = False) -> Fault:
        """The connection is closed without an answer. With `is_served` only the answer is lost: the request has been
        carried out, and the client cannot know."""
        spec = _find(api)
        return self._arm(spec, Fault(spec.name, "drop answer" if is_served else "drop", times))

    def fail(self, api: str, error_code: ErrorCode | str, times: int | None = 1) -> Fault:
        """The request is answered with this error and not carried out. A request that names nothing that could fail,
        such as Metadata for no topics, is served and does not count."""
        spec = _find(api)
        if not can_fail(spec):
            possible = ", ".join(sorted(each.name for each in HANDLERS if can_fail(each)))
            raise ValueError(f"`fail` cannot make an error answer for {spec.name}; it supports {possible}")
        return self._arm(spec, Fault(spec.name, "fail", times, error_code=_code(error_code)))

    def clear(self) -> None:
        """Removes all armed faults. Requests that are being delayed stay delayed."""
        with self._turn:
            self._armed.clear()

    @property
    def armed(self) -> list[Fault]:
        """The faults that a request may still meet."""
        with self._turn:
            return [fault for faults in self._armed.values() for fault in faults]

    def next_of(self, api_key: int) -> Fault | None:
        """The fault that the next request of this API meets."""
        if not self._armed:
            return None
        with self._turn:
            waiting = self._armed.get(api_key)
            return waiting[0] if waiting else None

    def met(self, api_key: int, fault: Fault) -> None:
        with self._turn:
            fault.hits += 1
            if fault.times_left is None:
                return
            fault.times_left -= 1
            waiting = self._armed.get(api_key, [])
            if not fault.times_left and fault in waiting:
                waiting.remove(fault)

    def _arm(self, spec: ApiSpec, fault: Fault) -> Fault:
        if fault.times_left is not None and fault.times_left < 1:
            raise ValueError(f"a fault must be met at least once, not {fault.times_left} times")
        with self._turn:
            self._armed.setdefault(spec.key, []).append(fault)
        return fault


def _find(api: str) -> ApiSpec:
    spec = _APIS.get(api.casefold())
    if spec is None:
        near = get_close_matches(api.casefold(), _APIS, n=1)
        hint = f"; did you mean {_APIS[near[0]].name}?" if near else ""
        raise ValueError(f"the broker serves no API {api!r}{hint}")
    return spec


def _code(error_code: ErrorCode | str) -> ErrorCode:
    if isinstance(error_code, str):
        if error_code not in ErrorCode.__members__:
            near = get_close_matches(error_code.upper(), ErrorCode.__members__, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise ValueError(f"Kafka has no error {error_code!r}{hint}")
        return ErrorCode[error_code]
    if error_code == ErrorCode.NONE:
        raise ValueError("NONE is not an error")
    return ErrorCode(error_code)
