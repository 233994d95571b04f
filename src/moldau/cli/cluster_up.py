"""`moldau cluster up`: one ZooKeeper and several brokers on this machine, each a process of its own.

They stop with this one: the brokers first, one after the other, so that each can hand over what it leads.
"""

import contextlib
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType

import click

from moldau.cli.failures import Failure

READY = "ready "
STOP_S = 30.0
LOOK_S = 0.5
_PROGRAM = "import sys; from moldau.cli.main import main; sys.exit(main())"


class Child:
    """`moldau ARGUMENTS`, ready when it says so."""

    def __init__(self, title: str, arguments: Sequence[str]) -> None:
        self.title = title
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._process = subprocess.Popen(  # noqa: S603 Our own command, with the arguments given to us.
            [sys.executable, "-c", _PROGRAM, *arguments],
            stdout=subprocess.PIPE,
            text=True,
            # Ctrl-C is for this process, which stops the others one after the other.
            start_new_session=True,
        )
        threading.Thread(target=self._relay, daemon=True).start()

    def wait_until_ready(self) -> str:
        """The addresses it serves."""
        while (line := self._next_line()) is not None:
            if line.startswith(READY):
                return line.removeprefix(READY).strip()
        raise Failure(
            f"{self.title} did not start (exit code {self._process.wait()}).", "Its last lines say why."
        )

    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def stop(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _next_line(self) -> str | None:
        """Waits in turns, so that a Ctrl-C gets through."""
        while True:
            with contextlib.suppress(queue.Empty):
                return self._lines.get(timeout=LOOK_S)

    def _relay(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                self._lines.put(line)
        self._lines.put(None)


def broker_settings(
    number: int, count: int, port: int, directory: Path, zookeeper: str, overrides: Sequence[str]
) -> list[str]:
    """What makes a broker one of this cluster. Internal topics have a replica on each of up to three brokers."""
    factor = min(3, count)
    told = [
        f"broker.id={number}",
        f"node.id={number}",
        f"listeners=PLAINTEXT://127.0.0.1:{port}",
        f"log.dirs={directory / f'broker-{number}'}",
        f"zookeeper.connect={zookeeper}",
        f"default.replication.factor={factor}",
        f"offsets.topic.replication.factor={factor}",
        f"transaction.state.log.replication.factor={factor}",
        f"transaction.state.log.min.isr={min(2, factor)}",
        *overrides,
    ]
    return [part for setting in told for part in ("--override", setting)]


@click.command("up")
@click.option("--brokers", "count", type=click.IntRange(1, 9), default=3, show_default=True, help="How many.")
@click.option(
    "--port",
    type=click.IntRange(0, 65_000),
    default=9092,
    show_default=True,
    help="Of the first broker, the others take those that follow; 0 takes free ones.",
)
@click.option(
    "--zookeeper-port",
    type=click.IntRange(0, 65_000),
    default=2181,
    show_default=True,
    help="0 takes a free one.",
)
@click.option(
    "--data", "directory", metavar="DIR", type=click.Path(path_type=Path), default=Path("data"), show_default=True,
    help="Where all of them keep what they have.",
)  # fmt: skip
@click.option(
    "--override", "overrides", metavar="KEY=VALUE", multiple=True, help="A setting of every broker."
)
def command(count: int, port: int, zookeeper_port: int, directory: Path, overrides: Sequence[str]) -> None:
    """Start a cluster on this machine: one ZooKeeper and several brokers. Ctrl-C stops it. Needs Java.

    It prints one line that starts with `ready` when all of them serve.
    """
    with _stopped_in_order() as children:
        arguments = ["--port", str(zookeeper_port), "--data", str(directory / "zookeeper")]
        children.append(Child("ZooKeeper", ["zookeeper", *arguments]))
        zookeeper = children[0].wait_until_ready()
        click.echo(f"zookeeper {zookeeper}")
        for number in range(count):
            its_port = port + number if port else 0
            settings = broker_settings(number, count, its_port, directory, zookeeper, overrides)
            children.append(Child(f"broker {number}", ["broker", *settings]))
        addresses = []
        for number, child in enumerate(children[1:]):
            addresses.append(child.wait_until_ready())
            click.echo(f"broker {number}  {addresses[-1]}")
        click.echo(READY + " ".join(addresses))
        _watch(children)


@contextlib.contextmanager
def _stopped_in_order() -> Iterator[list[Child]]:
    """The last started is the first stopped."""
    children: list[Child] = []
    previous = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield children
    except KeyboardInterrupt:
        click.echo("stopping", err=True)
    finally:
        for child in reversed(children):
            child.stop()
        signal.signal(signal.SIGTERM, previous)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _watch(children: Sequence[Child]) -> None:
    never = threading.Event()
    reported: set[str] = set()
    while not never.wait(LOOK_S):
        ended = [child.title for child in children if child.has_ended()]
        if len(ended) == len(children) or "ZooKeeper" in ended:
            raise Failure(f"{ended[0]} has ended; everything is stopped.", "Its last lines say why.")
        # A cluster goes on without one of its brokers; that is what it is for.
        for title in set(ended) - reported:
            click.echo(f"{title} has ended; the others go on.", err=True)
            reported.add(title)
