"""Stops and starts one broker of a running `moldau cluster up` from another terminal.

The request is a file beside the broker's directory, and so is the answer. Only users with write access there can send
requests.
"""

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import click

from moldau.cli.failures import Failure
from moldau.cli.local.services import Service, dialled, overrides

TAKEN_S_MAX = 15.0
# A broker that was killed waits for its old ZooKeeper session to end.
DONE_S_MAX = 180.0
LOOK_AGAIN_S = 0.1
START, STOP, KILL = "start", "stop", "kill"


class RunningBroker(NamedTuple):
    service: Service
    endpoint: str


class Requests:
    """The side that runs the brokers."""

    def __init__(self, directory: Path, brokers: Mapping[int, RunningBroker]) -> None:
        self._directory = directory
        self._brokers = brokers
        for number in brokers:
            # Requests from before this run are stale.
            _request(directory, number).unlink(missing_ok=True)

    def serve(self) -> None:
        for number, broker in self._brokers.items():
            path = _request(self._directory, number)
            if path.exists():
                verb = path.read_text(encoding="utf-8")
                path.unlink()
                _write(_answer(self._directory, number), json.dumps(self._done(number, broker, verb)))

    def _done(self, number: int, broker: RunningBroker, verb: str) -> dict[str, str | None]:
        try:
            said = self._start(number, broker) if verb == START else self._end(number, broker, verb)
        except Failure as failure:
            return {"failure": failure.message, "hint": failure.hint}
        click.echo(said, err=True)
        return {"said": said}

    @staticmethod
    def _start(number: int, broker: RunningBroker) -> str:
        if not broker.service.has_ended():
            return f"Broker {number} is already running, at {broker.endpoint}."
        # Keep its port, even if it was picked by the system.
        protocol = broker.endpoint.partition("://")[0]
        listener = f"listeners={protocol}://{dialled(broker.endpoint)}"
        broker.service.start_again(overrides([listener]))
        return f"Broker {number} is running again, at {broker.service.wait_until_ready()}."

    @staticmethod
    def _end(number: int, broker: RunningBroker, verb: str) -> str:
        if broker.service.has_ended():
            return f"Broker {number} is not running."
        broker.service.stop(with_kill=verb == KILL)
        return (
            f"Broker {number} was {'killed' if verb == KILL else 'stopped'}; the other brokers keep running."
        )


def ask(directory: Path, number: int, verb: str) -> str:
    """The side of the other terminal. Returns the answer."""
    brokers = sorted(int(path.name[7:]) for path in directory.glob("broker-*") if path.name[7:].isdecimal())
    if not brokers:
        raise Failure(
            f"{directory} has no cluster data.",
            "Name the directory of the running `moldau cluster up` with --data.",
        )
    if number not in brokers:
        known = ", ".join(map(str, brokers))
        raise Failure(f"there is no broker {number} in {directory}.", f"It has the brokers {known}.")
    answer, request = _answer(directory, number), _request(directory, number)
    answer.unlink(missing_ok=True)
    _write(request, verb)
    try:
        _await(lambda: not request.exists(), TAKEN_S_MAX)
    except TimeoutError:
        request.unlink(missing_ok=True)
        raise Failure(
            f"no `moldau cluster up` is running on {directory}: the request was not read within {TAKEN_S_MAX:g} s.",
            f"Start the cluster with `moldau cluster up --data {directory}`.",
        ) from None
    try:
        _await(answer.exists, DONE_S_MAX)
    except TimeoutError:
        raise Failure(
            f"broker {number} did not {verb} within {DONE_S_MAX:g} s.",
            f"{directory / f'broker-{number}.log'} may say why.",
        ) from None
    told = json.loads(answer.read_text(encoding="utf-8"))
    answer.unlink(missing_ok=True)
    if "failure" in told:
        raise Failure(told["failure"], told["hint"])
    return str(told["said"])


def _await(condition: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError
        time.sleep(LOOK_AGAIN_S)


def _write(path: Path, text: str) -> None:
    """Atomic, because the other side polls for the file."""
    partial = path.with_name(f"{path.name}.partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)


def _request(directory: Path, number: int) -> Path:
    return directory / f"broker-{number}.request"


def _answer(directory: Path, number: int) -> Path:
    return directory / f"broker-{number}.answer"
