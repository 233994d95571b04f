"""The lines `streams run` and `status` print about an application, from its status. Pure."""

import time
from collections.abc import Mapping
from typing import Any

from moldau.cli.render.output import counted, seconds_text

Status = Mapping[str, Any]


def state_line(status: Status, now_ms: float) -> str:
    name, state = status["application_id"], status["state"]
    error = status.get("last_error")
    if state == "removed":
        return f"{name} removed from this process"
    if state == "restarting":
        when = _when(status, now_ms)
        return f"{name} restarting{when}{f': {error}' if error else ''}"
    if state == "failed":
        return f"{name} failed: {error or 'no reason was given'}"
    if state == "stopped":
        return f"{name} stopped: {facts(status, with_rates=False)}"
    return f"{name} {state}"


def progress_line(status: Status, now_ms: float) -> str:
    if status["state"] == "restarting":
        return state_line(status, now_ms)
    return f"{status['application_id']} {facts(status)}"


def facts(status: Status, *, with_rates: bool = True) -> str:
    """Rates and lag of a running application, and its problems if it has any."""
    told = [f"{status['records_in']} records in, {status['records_out']} out"]
    if with_rates:
        told.append(f"{status['records_in_per_s']:.0f} records/s")
    if with_rates or status["lag_records"] is not None:
        told.append(_lag(status))
    if with_rates and status["batches"]:
        told.append(f"batch {status['batch_ms']} ms")
    troubles = [*dropped_texts(status), *_dead(status)]
    if status["restarts"]:
        troubles.append(counted(status["restarts"], "restart"))
    return "; ".join([", ".join(told), *troubles])


def dropped_texts(status: Status) -> list[str]:
    """`17 late at window-count (the latest by 42 s)`, most first."""
    worst = sorted(status.get("dropped", {}).items(), key=lambda entry: (-entry[1]["records"], entry[0]))
    texts = []
    for name, entry in worst:
        operator, _, reason = name.partition(" ")
        late_ms = entry["late_ms_max"]
        latest = f" (the latest by {duration_text(late_ms)})" if late_ms else ""
        texts.append(f"{entry['records']} {_plainly(reason)} at {operator}{latest}")
    return texts


def duration_text(span_ms: float) -> str:
    return f"{span_ms:.0f} ms" if span_ms < 1_000 else _spaced(seconds_text(span_ms / 1000))


def lag_text(status: Status) -> str:
    """`-` if it is not known."""
    lag = status.get("lag_records")
    if lag is None:
        return "-"
    behind = f" ({duration_text(status['lag_ms'])} behind)" if lag and status.get("lag_ms") else ""
    return f"{lag}{behind}"


def _lag(status: Status) -> str:
    return "lag not known yet" if status.get("lag_records") is None else f"lag {lag_text(status)}"


def _dead(status: Status) -> list[str]:
    dead = status["records_dead"]
    if not dead:
        return []
    return [f"{counted(dead, 'dead letter')} in {status.get('dead_letter_topic')}"]


def _when(status: Status, now_ms: float) -> str:
    at_ms = status.get("retry_at_ms") or 0
    if not at_ms:
        return " now"
    at = time.strftime("%H:%M:%S", time.localtime(at_ms / 1000))
    return f" at {at} (in {duration_text(max(0.0, at_ms - now_ms))})"


def _plainly(reason: str) -> str:
    return {"null key": "without a key", "null value": "without a value"}.get(reason, reason)


def _spaced(text: str) -> str:
    """`42s` as `42 s`; `2m5s` stays."""
    return f"{text[:-1]} s" if text[:-1].replace(".", "").isdigit() else text
