"""`moldau up`: the platform on this machine. Every service is a process of its own; they stop with this one."""

import contextlib
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import FrameType

import click

from moldau.cli.failures import Failure
from moldau.cli.up_demo import Demo

STOP_S = 15.0
TURN_S = 0.5

HINTS = """
Try it in a second terminal:
  moldau topics create orders
  echo '2 apples' | moldau produce orders
  moldau consume orders
  moldau schemas list

Ctrl-C stops everything."""


@dataclass
class Service:
    """`moldau NAME ARGUMENTS`, ready when it says so."""

    name: str
    arguments: Sequence[str]
    process: "subprocess.Popen[str] | None" = None
    lines: "queue.SimpleQueue[str | None]" = field(default_factory=queue.SimpleQueue)

    def start(self) -> None:
        program = "import sys; from moldau.cli.main import main; sys.exit(main())"
        self.process = subprocess.Popen(  # noqa: S603 Our own command, with the arguments given to us.
            [sys.executable, "-c", program, self.name, *self.arguments],
            stdout=subprocess.PIPE,
            text=True,
            # Ctrl-C is for this process, which stops the others one after the other.
            start_new_session=True,
        )
        threading.Thread(target=self._relay, daemon=True).start()

    def wait_until_ready(self) -> str:
        """The addresses it serves."""
        assert self.process is not None
        while True:
            with contextlib.suppress(queue.Empty):
                line = self.lines.get(timeout=TURN_S)
                if line is None:
                    break
                if line.startswith("ready "):
                    return line.removeprefix("ready ").strip()
        raise Failure(
            f"the {self.name} did not start (exit code {self.process.wait()}).", "Its last lines say why."
        )

    def has_ended(self) -> bool:
        return self.process is not None and self.process.poll() is not None

    def stop(self) -> None:
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def _relay(self) -> None:
        assert self.process is not None and self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)


@click.command("up")
@click.option(
    "--data", "directory", metavar="DIR", default="data", show_default=True, help="Where records are kept."
)
@click.option(
    "--broker-override", "broker", metavar="KEY=VALUE", multiple=True, help="A setting of the broker."
)
@click.option(
    "--registry-override", "registry", metavar="KEY=VALUE", multiple=True, help="A setting of the registry."
)
@click.option("--no-registry", is_flag=True, help="Leave the schema registry out.")
@click.option(
    "--demo", is_flag=True, help="Run a small live pipeline on Spark too: page views, joined and counted."
)
def command(
    directory: str, broker: Sequence[str], registry: Sequence[str], no_registry: bool, demo: bool
) -> None:
    """Start the platform: a broker on port 9092 and a schema registry on port 8081. Ctrl-C stops it."""
    with _stopped_in_order() as services:
        # Nobody else is about to join the registry's group.
        told = [f"log.dirs={directory}", "group.initial.rebalance.delay.ms=0", *broker]
        address = _start(services, Service("broker", _overrides(told)))
        click.echo(f"broker    {address}")
        if not no_registry:
            where = f"kafkastore.bootstrap.servers={_dialled(address)}"
            click.echo(f"registry  {_start(services, Service('registry', _overrides([where, *registry])))}")
        click.echo(HINTS)
        with contextlib.ExitStack() as stack:
            if demo:
                pipeline = Demo(_dialled(address), directory)
                stack.callback(pipeline.stop)
                pipeline.start()
            _watch(services)


def _start(services: list[Service], service: Service) -> str:
    services.append(service)
    service.start()
    return service.wait_until_ready()


@contextlib.contextmanager
def _stopped_in_order() -> Iterator[list[Service]]:
    """The last started is the first stopped: it may need the others to say goodbye."""
    services: list[Service] = []
    previous = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield services
    except KeyboardInterrupt:
        click.echo("stopping", err=True)
    finally:
        for service in reversed(services):
            service.stop()
        signal.signal(signal.SIGTERM, previous)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _watch(services: list[Service]) -> None:
    ended = threading.Event()
    while not ended.wait(TURN_S):
        for service in services:
            if service.has_ended():
                raise Failure(
                    f"the {service.name} has ended; everything is stopped.", "Its last lines say why."
                )


def _overrides(settings: Sequence[str]) -> list[str]:
    return [part for setting in settings for part in ("--override", setting)]


def _dialled(endpoints: str) -> str:
    """`PLAINTEXT://0.0.0.0:9092 ...`: how the first of them is reached from here."""
    address = endpoints.split()[0].rpartition("://")[2]
    host, _, port = address.rpartition(":")
    return f"{'localhost' if host in ('0.0.0.0', '', '[::]') else host}:{port}"  # noqa: S104
