"""The `moldau` command says the same of Apache Kafka as of Moldau, and does the same to both.

What each command prints is tested in `e2e/cli`; here it is Kafka's answers that have to be understood.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from compat.apache_kafka import ApacheKafka
from compat.conftest import BROKER_SETTINGS
from compat.moldau_broker import MoldauBroker
from compat.server_process import ServerProcess, wait_until
from e2e.cli.shell import Shell

pytestmark = pytest.mark.java

TIMES = "2026-01-31T12:00:0{}Z"
PERF = re.compile(r"^(\d+) records sent, [\d.]+ records/sec \([\d.]+ MB/sec\), [\d.]+ ms avg latency", re.M)


@pytest.fixture(scope="module")
def moldau(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MoldauBroker]:
    with MoldauBroker(tmp_path_factory.mktemp("moldau"), BROKER_SETTINGS) as server:
        yield server


class BothShells:
    """Runs a command at both brokers."""

    def __init__(self, moldau: ServerProcess, kafka: ServerProcess) -> None:
        self.servers = {Shell(server.bootstrap): server for server in (moldau, kafka)}

    def run(self, *arguments: str, stdin: str = "") -> str:
        """Does it once at each; both are to say the same."""
        ours, theirs = (shell.run(*arguments, stdin=stdin) for shell in self.servers)
        assert ours == theirs
        return ours

    def ask(self, *arguments: str, code: int = 0) -> str:
        """Kafka's controller is ahead of its broker, so it is given time to say the same."""
        ours, theirs = (_Answer(shell, server, arguments, code) for shell, server in self.servers.items())
        expected = ours.text()
        wait_until(lambda: theirs.text() == expected, f"Kafka says of {' '.join(arguments)}: {expected}")
        return expected


class _Answer:
    def __init__(self, shell: Shell, server: ServerProcess, arguments: tuple[str, ...], code: int) -> None:
        self._shell, self._server, self._arguments, self._code = shell, server, arguments, code

    def text(self) -> str:
        """Without what differs between two clusters: addresses and ids of topics."""
        done = self._shell.finished(*self._arguments)
        if done.returncode != self._code:
            return f"ended with {done.returncode}: {done.stderr}"
        text = done.stderr if self._code else done.stdout
        return re.sub(
            r"(?<=^Id) +\S+|[\w-]{22}(?=\")", "", text.replace(self._server.bootstrap, "HOST"), flags=re.M
        )


@pytest.fixture
def both(moldau: MoldauBroker, kafka: ApacheKafka) -> BothShells:
    return BothShells(moldau, kafka)


@pytest.fixture
def orders(both: BothShells, topic: str) -> str:
    both.run("topics", "create", topic, "--partitions", "2", "--config", "retention.ms=-1")
    both.ask("offsets", topic)
    return topic


def test_topics_and_settings(both: BothShells, orders: str) -> None:
    # Kafka writes this default into every cluster (KIP-966), where ours stays a default.
    both.run("configs", "set", "topic", orders, "min.insync.replicas=1")
    both.run("topics", "alter", orders, "--set", "cleanup.policy=compact", "--unset", "retention.ms")
    described = both.ask("topics", "describe", orders)
    assert "cleanup.policy=compact (topic)" in described
    both.run("configs", "set", "topic", orders, "cleanup.policy+=delete", "retention.ms=5000")
    assert re.search(r"cleanup.policy +compact,delete", both.ask("configs", "describe", "topic", orders))
    both.run("topics", "alter", orders, "--partitions", "3")
    assert re.search(rf"^{orders} +3 +1$", both.ask("topics", "list", orders), re.M)
    both.run("topics", "delete", orders, "--yes")
    both.ask("topics", "describe", orders, code=1)


def test_records_and_offsets(both: BothShells, orders: str) -> None:
    for number, codec in enumerate(("none", "gzip", "snappy", "lz4", "zstd")):
        place = ["--partition", str(number % 2), "--timestamp", TIMES.format(number), "--compression", codec]
        both.run("produce", orders, "--key", f"k{number}", "--value", codec, "--header", "a=b", *place)
    for where in (
        ["--format", "json"],
        ["--format", "table", "--partition", "1"],
        ["--format", "hex", "--limit", "2"],
        ["--from-time", TIMES.format(3)],
        ["--offset", "-1"],
    ):
        assert both.ask("consume", orders, *where)
    both.ask("offsets", orders)
    both.ask("offsets", orders, "--at", TIMES.format(2), "--output", "json")


def test_groups(both: BothShells, orders: str) -> None:
    group = f"group-of-{orders}"
    both.run("produce", orders, "--partition", "0", stdin="a\nb\nc\n")
    assert both.run("consume", orders, "--group", group) == "a\nb\nc\n"
    both.run("groups", "reset", group, "--topic", orders, "--to-offset", "1", "--execute")
    for shell in both.servers:
        assert re.search(rf"^{orders} +0 +1 +0 +3 +3 +2 ", shell.run("groups", "offsets", group), re.M)
    assert both.run("consume", orders, "--group", group) == "b\nc\n"
    both.run("groups", "delete", group, "--yes")
    both.ask("groups", "describe", group, code=1)


def test_perf_and_log(both: BothShells, orders: str, tmp_path: Path) -> None:
    for shell, server in both.servers.items():
        sent = PERF.search(
            shell.run("perf", "produce", orders, "--num-records", "2000", "--record-size", "100")
        )
        assert sent and sent[1] == "2000"
        read = shell.run("perf", "consume", orders, "--num-records", "2000").strip().splitlines()[-1]
        assert read.split(", ")[4] == "2000"
        assert "Avg latency" in shell.run("perf", "latency", orders, "--num-records", "20")
        copy = tmp_path / str(server.port)
        server.copy_as_crashed(copy)
        for number in range(2):
            assert "no damage" in shell.run("log", "verify", str(copy / f"{orders}-{number}"))


def test_explain_is_ours_alone(both: BothShells, orders: str) -> None:
    shell = next(shell for shell, server in both.servers.items() if isinstance(server, ApacheKafka))
    assert "keeps no history of groups" in shell.run("explain", "group", "nobody", code=1)
