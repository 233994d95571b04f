"""`moldau` services as child processes that end with this one."""

import contextlib
import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from types import FrameType

import click

from moldau.cli.client.addresses import DEFAULT_PORT
from moldau.cli.failures import Failure

READY = "ready "
LAST_LINES = 10
STOP_S = 30.0
TURN_S = 0.5
_PROGRAM = "import sys; from moldau.cli.main import main; sys.exit(main())"


class Service:
    """A child process `moldau ARGUMENTS` that prints a `ready` line when it serves."""

    def __init__(
        self, title: str, arguments: Sequence[str], log: Path | None = None, *, stop_s: float = STOP_S
    ) -> None:
        """Its standard error is appended to `log`, or goes to this terminal. It is killed if it takes longer than
        `stop_s` to stop."""
        self.title = title
        self._arguments = arguments
        self._log = log
        self._stop_s = stop_s
        self.start_again()

    def start_again(self, more: Sequence[str] = ()) -> None:
        """Starts the process, again if it has ended. Of repeated arguments the last one wins."""
        log = self._log
        self.was_stopped = False
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        with contextlib.ExitStack() as stack:
            self._process = subprocess.Popen(  # noqa: S603 Our own command, with the arguments given to us.
                [sys.executable, "-c", _PROGRAM, *self._arguments, *more],
                stdout=subprocess.PIPE,
                stderr=None if log is None else stack.enter_context(log.open("ab")),
                text=True,
                # Ctrl-C reaches only this process, which stops the others in order.
                start_new_session=True,
            )
        threading.Thread(target=self._relay, args=[self._process, self._lines], daemon=True).start()

    def wait_until_ready(self) -> str:
        """Returns the addresses it listens on."""
        while (line := self._next_line()) is not None:
            if line.startswith(READY):
                return line.removeprefix(READY).strip()
        raise Failure(
            f"the {self.title} did not start (exit code {self._process.wait()}).", self.last_words()
        )

    def last_words(self) -> str:
        """A hint to why it ended: the last lines of its log."""
        if self._log is None:
            return "Its last lines say why."
        lines = self._log.read_text(encoding="utf-8", errors="replace").splitlines()[-LAST_LINES:]
        return "\n".join([f"The last lines of {self._log} say why:", *lines])

    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def stop(self, *, with_kill: bool = False) -> None:
        self.was_stopped = True
        if with_kill:
            self._process.kill()
        self._process.terminate()
        try:
            self._process.wait(self._stop_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _next_line(self) -> str | None:
        """Waits in short turns, so that Ctrl-C is handled."""
        while True:
            with contextlib.suppress(queue.Empty):
                return self._lines.get(timeout=TURN_S)

    @staticmethod
    def _relay(process: "subprocess.Popen[str]", queued: "queue.SimpleQueue[str | None]") -> None:
        assert process.stdout is not None
        with process.stdout as lines:
            for line in lines:
                queued.put(line)
        queued.put(None)


@contextlib.contextmanager
def stopped_in_order() -> Iterator[list[Service]]:
    """Stops the services on exit, the last started first, because it may need the others to shut down.

    SIGINT and SIGTERM end the block normally: stopping a service is success. A second signal kills what still runs
    and raises Abort.
    """
    services: list[Service] = []
    previous = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield services
    except KeyboardInterrupt:
        click.echo("stopping", err=True)
    finally:
        try:
            for service in reversed(services):
                service.stop()
        except KeyboardInterrupt:
            for service in reversed(services):
                service.stop(with_kill=True)
            raise click.Abort from None
        finally:
            signal.signal(signal.SIGTERM, previous)


def watch(
    services: Collection[Service],
    brokers: Collection[Service],
    on_turn: Callable[[], None] | None = None,
) -> None:
    """Returns only by raising a Failure, when a service ends unexpectedly.

    A cluster survives until its last broker ends. Services stopped on purpose do not count, as they may be restarted.
    `on_turn` is called about twice a second.

    """
    never = threading.Event()
    reported: set[str] = set()
    while not never.wait(TURN_S):
        if on_turn is not None:
            on_turn()
        ended = {each.title: each for each in services if each.has_ended() and not each.was_stopped}
        reported &= set(ended)
        spared = {broker.title for broker in brokers}
        missed = [each for title, each in ended.items() if title not in spared or spared <= set(ended)]
        if missed:
            raise Failure(
                f"the {missed[0].title} has ended unexpectedly; everything is stopped.",
                missed[0].last_words(),
            )
        for title in set(ended) - reported:
            click.echo(
                f"the {title} has ended unexpectedly; the others keep running. {ended[title].last_words()}",
                err=True,
            )
            reported.add(title)


def overrides(settings: Sequence[str]) -> list[str]:
    return [part for setting in settings for part in ("--override", setting)]


def dialled(endpoints: str) -> str:
    """The address to connect to from this machine: `PLAINTEXT://0.0.0.0:9092 ...` becomes `localhost:9092`."""
    address = endpoints.split()[0].rpartition("://")[2]
    host, _, port = address.rpartition(":")
    return f"{'localhost' if host in ('0.0.0.0', '', '[::]') else host}:{port}"  # noqa: S104


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def pasteable(hints: str, servers: str, client_file: Path | None = None, **more: str) -> str:
    """Commands that can be pasted into another terminal in this directory.

    Replaces `{moldau}` with the program, by path if it is not on PATH, and `{at}` with the `client_file`, which has the
    address, or without one with --bootstrap-server unless the default port is used.
    """
    program = (
        "moldau" if shutil.which("moldau") else os.path.relpath(Path(sys.executable).with_name("moldau"))
    )
    at = "" if servers.endswith(f":{DEFAULT_PORT}") else f" --bootstrap-server {servers}"
    if client_file is not None:
        at = f" --command-config {client_file}"
    return hints.format(moldau=program, at=at, **more)
