"""Runs Streams applications: their Spark driver as a child process, restarted when Spark fails."""

import json
import signal
import time
from collections.abc import Mapping, Sequence
from typing import Any

import click

from moldau.cli.failures import Failure
from moldau.cli.render.streams_lines import progress_line, state_line
from moldau.pipeline.driver_process.process import DRIVER_MODULE, Status
from moldau.pipeline.driver_process.supervision import Supervision

PROGRESS_EVERY_S = 5.0
RESTARTING_EVERY_S = 30.0
ENDED = frozenset({"stopped", "failed", "removed"})


class Printer:
    """Prints state changes, and the progress of each application every few seconds. Keeps the last status of each."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self.last: dict[str, Status] = {}
        self._told: dict[str, tuple[float, int]] = {}
        """By application: when its last line was printed, and its record count then."""

    def hear(self, status: Status) -> None:
        name = status["application_id"]
        before = self.last.get(name)
        if before is not None and status["state"] == "stopped" and status["lag_records"] is None:
            # A stopped application reports no lag: show its last one.
            status = {**status, "lag_records": before["lag_records"], "lag_ms": before["lag_ms"]}
        self.last[name] = status
        if status["state"] == "removed":
            del self.last[name]
            self._told.pop(name, None)
        if before is None or _essence(before) != _essence(status):
            self._print("state", status)
        elif self._is_due(name, status):
            self._print("progress", status)

    @property
    def failed(self) -> list[Status]:
        return [status for status in self.last.values() if status["state"] == "failed"]

    def _is_due(self, name: str, status: Status) -> bool:
        """A progress line is due if records were read, if there is lag, or if it keeps restarting."""
        told_at, told_records = self._told.get(name, (0.0, 0))
        silent_s = time.monotonic() - told_at
        if status["state"] == "restarting":
            return silent_s >= RESTARTING_EVERY_S
        if silent_s < PROGRESS_EVERY_S or status["state"] in ENDED:
            return False
        has_read = 0 < status["records_in"] != told_records
        return has_read or bool(status["lag_records"])

    def _print(self, event: str, status: Status) -> None:
        now_ms = time.time() * 1000
        if event == "progress" or status["state"] in {*ENDED, "restarting"}:
            self._told[status["application_id"]] = (time.monotonic(), status.get("records_in", 0))
        if self._as_json:
            ended = event == "state" and status["state"] in ENDED
            click.echo(json.dumps({"event": "end" if ended else event, **status}))
        elif not _is_reported_elsewhere(status):
            click.echo(state_line(status, now_ms) if event == "state" else progress_line(status, now_ms))


def run_applications(files: Sequence[str], order: Mapping[str, Any], *, as_json: bool = False) -> None:
    """Returns when the applications have been stopped. Raises Failure if one failed, Abort after a second Ctrl-C."""
    printer = Printer(as_json=as_json)
    supervision = Supervision(
        files,
        lambda: {**order, **_wanted(printer)},
        module=DRIVER_MODULE,
        on_exit=lambda code: click.echo("Spark has ended; restarting it", err=True),
    )
    # Treat SIGTERM like Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        for status in supervision.statuses():
            printer.hear(status)
    except KeyboardInterrupt:
        _stop(supervision, printer)
    else:
        if supervision.code == 0:
            return
        if not printer.failed:
            raise Failure(f"the driver ended with exit code {supervision.code} and without a reason")
    _require_none_failed(printer)


def _wanted(printer: Printer) -> dict[str, Any]:
    """After a restart: the states that were wanted before it."""
    if not printer.last:
        return {}
    return {
        "wanted": {status["file"]: status["wanted"] for status in printer.last.values() if "file" in status}
    }


def _stop(supervision: Supervision, printer: Printer) -> None:
    """Reads its status until it ends. Kills it on a second Ctrl-C, which raises Abort."""
    was_interrupted = False
    try:
        click.echo("stopping", err=True)
        supervision.stop()
        for status in supervision.statuses():
            printer.hear(status)
    except KeyboardInterrupt:
        supervision.kill()
        was_interrupted = True
    if supervision.code < 0:
        click.echo("ended within a batch; the next run repeats that batch, and nothing is lost", err=True)
    if was_interrupted:
        raise click.Abort


def _require_none_failed(printer: Printer) -> None:
    failed = printer.failed
    if not failed:
        return
    if len(printer.last) == 1:
        raise Failure(f"the application failed: {failed[0].get('last_error')}")
    names = ", ".join(status["application_id"] for status in failed)
    raise Failure(f"{len(failed)} of {len(printer.last)} applications failed: {names}")


def _essence(status: Status) -> tuple[Any, ...]:
    """The part of a status that is printed whenever it changes."""
    state = status["state"]
    reason = status.get("last_error") if state in ("restarting", "failed") else None
    return state, reason, status.get("restarts") if state == "restarting" else None


def _is_reported_elsewhere(status: Status) -> bool:
    """The failure of a single application is reported at the end. `created` is followed by `running` at once."""
    only_one: bool = status.get("hosted", 1) == 1
    return status["state"] == "created" or (status["state"] == "failed" and only_one)
