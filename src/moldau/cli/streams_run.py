"""Runs a Streams application: its driver in a process of its own, started again when Spark is gone."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from typing import IO, Any

import click

from moldau.cli.failures import Failure

DRIVER_MODULE = "moldau.pipeline.spark.driver"
EXIT_AGAIN = 75
STOP_S = 90.0
PAUSE_S = 1.0
TELL_EVERY_S = 5.0


def run_application(file: str, order: Mapping[str, Any]) -> None:
    """Returns when the application has been stopped; raises Failure when it cannot run."""
    while True:
        driver = subprocess.Popen(  # noqa: S603 our own module
            [sys.executable, "-m", DRIVER_MODULE, file],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            # Ctrl-C is for this process, which lets the driver finish its batch.
            start_new_session=True,
        )
        assert driver.stdin is not None and driver.stdout is not None
        driver.stdin.write(json.dumps(order) + "\n")
        driver.stdin.close()
        try:
            last = _tell(driver.stdout)
        except KeyboardInterrupt:
            click.echo("stopping", err=True)
            driver.terminate()
            driver.wait(STOP_S)
            return
        code = driver.wait()
        if code == 0:
            return
        # A driver that was killed is a driver that is started again: the checkpoint has all it needs.
        if code != EXIT_AGAIN and code > 0:
            raise Failure(f"the application cannot run: {last.get('last_error') or f'exit code {code}'}")
        click.echo("Spark is gone; it is started again", err=True)
        time.sleep(PAUSE_S)


def _tell(lines: IO[str]) -> dict[str, Any]:
    """Prints what changes, and every few seconds how much is done; gives the last that was heard."""
    last: dict[str, Any] = {}
    told_at, told_records = 0.0, 0
    for status in _statuses(lines):
        changed = status.get("state") != last.get("state") or status.get("last_error") != last.get(
            "last_error"
        )
        last = status
        # Why it failed is the last that is told, by whoever asked.
        if changed and status["state"] != "failed":
            click.echo(f"{status.get('application_id', '')} {status['state']}{_because(status)}")
        now = time.monotonic()
        records = status.get("records_in", 0)
        if records != told_records and now - told_at > TELL_EVERY_S:
            told_at, told_records = now, records
            click.echo(
                f"{status['application_id']} {records} records in, {status['records_out']} out, "
                f"{status['records_in_per_s']:.0f} records/s, lag {status['lag_records']}, "
                f"batch {status['batch_ms']} ms"
            )
    return last


def _statuses(lines: IO[str]) -> Iterator[dict[str, Any]]:
    for line in lines:
        if line.startswith("{"):
            yield json.loads(line)


def _because(status: Mapping[str, Any]) -> str:
    return f": {status['last_error']}" if status.get("last_error") else ""
