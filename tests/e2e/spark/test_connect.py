"""Applications on a Spark Connect server (`spark.remote`): the driver is elsewhere, and may go and come back."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from compat.moldau_broker import MoldauBroker
from e2e.process_facts import children
from e2e.spark.connect_server import SparkConnectServer
from e2e.spark.kit import PATIENCE_S, Sent, committed, create_topics, send, wait_for
from e2e.spark.word_counts import WordCounts
from e2e.spark_session import connector_refused
from moldau.pipeline.spark.real_time.connectors import connector_jars

pytest.importorskip(
    "grpc_status", reason="the client of Spark Connect is not installed: pip install 'moldau[spark-connect]'"
)
APPS = Path(__file__).parent / "apps"


class Runner:
    """`moldau streams run`, and what it prints."""

    def __init__(self, log: Path, process: "subprocess.Popen[bytes]") -> None:
        self._log = log
        self.process = process

    @property
    def text(self) -> str:
        return self._log.read_text()


def command(app: str, servers: str, spark: SparkConnectServer, folder: Path, *options: str) -> list[str]:
    moldau = str(Path(sys.executable).with_name("moldau"))
    wanted = ["--bootstrap-server", servers, "--checkpoint-dir", str(folder), "--master", spark.address]
    return [moldau, "streams", "run", str(APPS / app), *wanted, *options]


@contextmanager
def run(app: str, servers: str, spark: SparkConnectServer, folder: Path, *options: str) -> Iterator[Runner]:
    log = folder / "run.log"
    with log.open("wb") as file:
        process = subprocess.Popen(command(app, servers, spark, folder, *options), stdout=file, stderr=file)
        try:
            yield Runner(log, process)
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(PATIENCE_S)


def is_alive(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def test_a_word_count_outlives_its_server(own_broker: MoldauBroker, tmp_path: Path) -> None:
    servers = own_broker.bootstrap
    counts = WordCounts(servers)
    spark = SparkConnectServer(tmp_path / "spark").start()
    try:
        with run("word_count.py", servers, spark, tmp_path, "--no-record-cache") as runner:
            for _ in range(3):
                counts.send_lines(300)
                wait_for(counts.are_complete, "the lines are counted")
            wait_for(lambda: "records in, " in runner.text, "what the batches did has been heard here")
            helpers = children(spark.pid)
            spark.kill9()
            assert helpers
            wait_for(lambda: not any(map(is_alive, helpers)), "what the server had started ends with it")
            counts.send_lines(300)
            wait_for(lambda: "no Spark Connect server answers at" in runner.text, "the reason is told")
            spark.start()
            wait_for(counts.are_complete, "the server that came back has counted the rest")
        assert runner.process.returncode == 0, runner.text
        # After a stop and a start it continues: nothing is counted twice.
        counts.send_lines(300)
        with run("word_count.py", servers, spark, tmp_path, "--no-record-cache"):
            wait_for(counts.are_complete, "the next run has counted its lines")
    finally:
        spark.stop()
    counts.require_each_once()


def test_real_time_on_a_server(servers: str, tmp_path: Path) -> None:
    refused = connector_refused()
    if refused is not None:
        pytest.skip(f"no Kafka connector for Spark: {refused}")
    create_topics(servers, remote_payments=1, remote_large=1)
    send(servers, "remote-payments", [Sent("a", json.dumps({"amount": n})) for n in (3, 7, 11)])

    def came_through() -> bool:
        return len(committed(servers, "remote-large")) >= 2

    with (
        SparkConnectServer(tmp_path / "with", connector_jars()) as spark,
        run("remote_payments.py", servers, spark, tmp_path, "--latency", "real_time"),
    ):
        wait_for(came_through, "the large ones come through")
    values = [json.loads(one.value or b"")["amount"] for one in committed(servers, "remote-large")]
    assert values == [7, 11]

    with SparkConnectServer(tmp_path / "without") as spark:
        options = ("--latency", "real_time")
        ended = subprocess.run(
            command("remote_payments.py", servers, spark, tmp_path, *options),
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
    assert ended.returncode == 1
    assert "the Spark Connect server has none: start it with --packages org.apache.spark:" in ended.stderr
