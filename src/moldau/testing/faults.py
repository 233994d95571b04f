"""What is to go wrong, and how often: armed by a test, met by the requests that come next.

Owns the list of armed faults, which tests and the broker's thread both touch. What a fault does to a request is
`faulty_session`'s business.
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
    """One armed fault. `hits` are the requests that met it; `times_left` is None for one that never runs out."""

    api: str
    kind: Kind
    times_left: int | None
    delay_ms: int = 0
    error_code: ErrorCode = ErrorCode.NONE
    hits: int = 0


class Faults:
    """APIs go by Kafka's names, as "Produce" or "OffsetCommit". `times` is how many requests meet the fault; None is
    all of them until `clear`. Faults of one API are met in the order in which they were armed."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._armed: dict[int, list[Fault]] = {}

    def delay(self, api: str, delay_ms: int, times: int | None = 1) -> Fault:
        """The request waits so long before it is served."""
        if delay_ms < 0:
            raise ValueError(f"{delay_ms} ms is no time to wait")
        spec = _find(api)
        return self._arm(spec, Fault(spec.name, "delay", times, delay_ms=delay_ms))

    def drop(self, api: str, times: int | None = 1, *, is_served: bool = False) -> Fault:
        """The connection is closed without an answer. With `is_served` only the answer is lost: what was asked for
        has been done, and the client cannot know."""
        spec = _find(api)
        return self._arm(spec, Fault(spec.name, "drop answer" if is_served else "drop", times))

    def fail(self, api: str, error_code: ErrorCode | str, times: int | None = 1) -> Fault:
        """The request is answered with this error and not carried out. One that asks about nothing that could fail,
        as Metadata for no topics, is served and does not count."""
        spec = _find(api)
        if not can_fail(spec):
            possible = ", ".join(sorted(each.name for each in HANDLERS if can_fail(each)))
            raise ValueError(
                f"an answer of {spec.name} with an error cannot be made up; `fail` knows {possible}"
            )
        return self._arm(spec, Fault(spec.name, "fail", times, error_code=_code(error_code)))

    def clear(self) -> None:
        """Whatever is armed is forgotten. Requests that wait already go on waiting."""
        with self._turn:
            self._armed.clear()

    @property
    def armed(self) -> list[Fault]:
        """Those that some request may still meet."""
        with self._turn:
            return [fault for faults in self._armed.values() for fault in faults]

    def next_of(self, api_key: int) -> Fault | None:
        """The fault a request of this API is about to meet."""
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
            raise ValueError(f"a fault that is met {fault.times_left} times is none")
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
        raise ValueError("NONE is no error to fail with")
    return ErrorCode(error_code)
