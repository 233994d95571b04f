"""Each record is written once: batches that Spark runs again, jobs that fail, processes that are killed."""

import contextlib
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import IsolationLevel

from compat.moldau_broker import MoldauBroker
from e2e.dataframe.conftest import BROKER_SETTINGS
from e2e.dataframe.frames import WAIT_S, admin_of, ends, run_stream, start_stream, stream, wait_for, write
from e2e.spark.kit import Sent, committed, create_topics, kill9, send

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PARTITIONS = 2


def shuffled(spark: "SparkSession", servers: str, topic: str, partitions: int) -> "DataFrame":
    """No run is like the one before: neither the number of partitions nor what falls into which."""
    from pyspark.sql import functions

    rows = stream(spark, servers, topic, maxOffsetsPerTrigger="100").select("key", "value")
    return rows.repartition(partitions, functions.rand(random.randrange(1 << 30)))


def forget_commits(checkpoint: Path, count: int) -> None:
    """As a crash after the output, before Spark's own note of it, would leave the checkpoint."""
    noted = sorted((checkpoint / "commits").glob("[0-9]*"), key=lambda file: int(file.name))
    for file in noted[-count:]:
        file.unlink()


def test_a_batch_that_spark_runs_again_is_not_written_again(
    spark: "SparkSession", servers: str, tmp_path: Path
) -> None:
    create_topics(servers, again=PARTITIONS, again_out=PARTITIONS)
    send(servers, "again", [Sent(str(n), str(n), n % PARTITIONS) for n in range(250)])
    assert run_stream(shuffled(spark, servers, "again", 3), servers, tmp_path, "again-out") == [100, 100, 50]
    forget_commits(tmp_path, 1)
    send(servers, "again", [Sent(str(n), str(n), n % PARTITIONS) for n in range(250, 300)])
    run_stream(shuffled(spark, servers, "again", 5), servers, tmp_path, "again-out")
    written = Counter(one.value for one in committed(servers, "again-out"))
    assert written == Counter(str(n).encode() for n in range(300))


def test_a_checkpoint_older_than_the_output_is_refused(
    spark: "SparkSession", servers: str, tmp_path: Path
) -> None:
    create_topics(servers, older=1, older_out=1)
    send(servers, "older", [Sent(str(n), str(n), 0) for n in range(250)])
    run_stream(shuffled(spark, servers, "older", 2), servers, tmp_path, "older-out")
    forget_commits(tmp_path, 2)
    (tmp_path / "offsets" / "2").unlink()
    query = start_stream(shuffled(spark, servers, "older", 2), servers, tmp_path, "older-out")
    with pytest.raises(Exception, match="the checkpoint is older than the output"):
        query.awaitTermination(WAIT_S)
    assert len(committed(servers, "older-out")) == 250


def test_a_job_that_fails_leaves_nothing(spark: "SparkSession", servers: str, tmp_path: Path) -> None:
    """Large enough for files: the staging folder is empty afterwards, too."""
    create_topics(servers, all_or_nothing=1)
    rows = spark.range(0, 40_000, 1, 4).selectExpr(
        "IF(id = 39999, CAST(RAISE_ERROR('poison') AS STRING), REPEAT(CAST(id AS STRING), 40)) AS value"
    )
    with pytest.raises(Exception, match="poison"):
        write(rows, servers, "all-or-nothing", staging=str(tmp_path))
    assert committed(servers, "all-or-nothing") == []
    write(rows.where("value NOT LIKE 'x%'").limit(0), servers, "all-or-nothing", staging=str(tmp_path))
    good = spark.range(0, 40_000, 1, 4).selectExpr("REPEAT(CAST(id AS STRING), 40) AS value")
    # The client's queue is full again and again.
    queue = {"kafka__queue__buffering__max__messages": "700"}
    write(good, servers, "all-or-nothing", staging=str(tmp_path), **queue)
    assert Counter(one.value for one in committed(servers, "all-or-nothing")) == Counter(
        (str(n) * 40).encode() for n in range(40_000)
    )
    assert list(tmp_path.rglob("*.arrow")) == []


class Driver:
    """A user's program in a process of its own, started again when it was killed."""

    def __init__(self, servers: str, folder: Path) -> None:
        self.death = folder / "die"
        self._command = [sys.executable, "-m", "e2e.dataframe.copying", servers]
        self._command += [str(folder / "checkpoint"), str(self.death)]
        self._log = folder / "driver.log"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(
                self._command,
                stdout=log,
                stderr=log,
                start_new_session=True,
                env={**os.environ, "MOLDAU_TEST_DRIVER": str(self._log)},
            )

    def kill9(self) -> None:
        """With its JVM. The Python workers lead groups of their own and live on for a while."""
        assert self.process is not None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(WAIT_S)

    def workers(self, module: str) -> list[int]:
        """The Python processes Spark has started for one purpose."""
        mark = f"MOLDAU_TEST_DRIVER={self._log}".encode()
        found = []
        for name in os.listdir("/proc"):
            if name.isdigit():
                with contextlib.suppress(OSError):
                    if (
                        module.encode() in Path("/proc", name, "cmdline").read_bytes()
                        and mark in Path("/proc", name, "environ").read_bytes()
                    ):
                        found.append(int(name))
        return found

    def text(self) -> str:
        return self._log.read_text(errors="replace")


@contextlib.contextmanager
def driven(servers: str, folder: Path) -> Iterator[Driver]:
    driver = Driver(servers, folder)
    driver.start()
    try:
        yield driver
    finally:
        driver.kill9()
        for pid in driver.workers("pyspark"):
            kill9(pid)


def test_output_is_exact_under_kills(tmp_path: Path, rounds: int) -> None:
    """Of the process that writes, the driver or the broker while a transaction is open; of a worker amid its task."""
    pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'moldau[spark]'")
    with MoldauBroker(tmp_path / "broker", BROKER_SETTINGS) as broker:
        servers = broker.bootstrap
        create_topics(servers, killed=PARTITIONS, killed_out=PARTITIONS)
        admin, total = admin_of(servers), 0

        def is_open() -> bool:
            uncommitted = ends(admin, "killed-out", PARTITIONS, IsolationLevel.READ_UNCOMMITTED)
            return uncommitted > ends(admin, "killed-out", PARTITIONS, IsolationLevel.READ_COMMITTED)

        def sent(count: int) -> int:
            lines = [Sent(str(n), str(n), n % PARTITIONS) for n in range(total, total + count)]
            send(servers, "killed", lines)
            return total + count

        with driven(servers, tmp_path) as driver:
            for number in range(rounds):
                total = sent(30_000)
                wait_for(
                    is_open, lambda: f"a transaction is open: {driver.text()[-4000:]}", look_every_s=0.002
                )
                if number % 4 == 0:
                    for pid in driver.workers("python_streaming_sink_runner"):
                        kill9(pid)
                elif number % 4 == 1:
                    driver.kill9()
                    driver.start()
                elif number % 4 == 3:
                    broker.kill9()
                    broker.start()
                else:
                    driver.death.touch()
                    wait_for(
                        lambda: not driver.death.exists(), lambda: f"a worker dies: {driver.text()[-4000:]}"
                    )
            total = sent(1_000)
            wait_for(
                lambda: len(committed(servers, "killed-out")) >= total,
                lambda: f"all is written: {driver.text()[-4000:]}",
                look_every_s=2,
            )
            assert driver.text().count("the query has failed") >= (rounds + 1) // 4
        written = Counter(int(one.value or b"") for one in committed(servers, "killed-out"))
        assert written == Counter(range(total))
