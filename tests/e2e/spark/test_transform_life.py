"""`transform` over the life of an application: its driver is killed, its topology changes, it is reset; and at a Spark
Connect server."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient
from pyspark.sql import DataFrame
from pyspark.sql import functions as fn

from e2e.process_facts import children
from e2e.spark.connect_server import SparkConnectServer
from e2e.spark.kit import (
    PATIENCE_S,
    Sent,
    committed,
    create_topics,
    kill9,
    running,
    send,
    wait_caught_up,
    wait_for,
)
from moldau.pipeline.lifecycle import PipelineState
from moldau.pipeline.spark.clients import shared
from moldau.pipeline.spark.driver.reset import reset
from moldau.pipeline.streams import STRING, KStream, StreamsBuilder, Topology

APP = Path(__file__).parent / "apps" / "tagged.py"
KEYS = 7


class Tagged:
    """`apps/tagged.py` and its records, which are numbered."""

    def __init__(self, servers: str, folder: Path) -> None:
        self.servers, self._folder = servers, folder
        self._calls = folder / "calls"
        self._calls.mkdir()
        self.sent = 0
        create_topics(servers, tagged_in=3, tagged_out=2, tagged_counts=2)

    def send(self, count: int) -> None:
        numbers = range(self.sent, self.sent + count)
        self.sent += count
        send(self.servers, "tagged-in", [Sent(f"k{n % KEYS}", str(n), n % 3) for n in numbers])

    @property
    def calls(self) -> int:
        return len(list(self._calls.iterdir()))

    @contextlib.contextmanager
    def run(self, *options: str) -> Iterator["subprocess.Popen[bytes]"]:
        moldau = str(Path(sys.executable).with_name("moldau"))
        where = [
            "-b",
            self.servers,
            "--checkpoint-dir",
            str(self._folder / "checkpoints"),
            "--no-record-cache",
        ]
        with (self._folder / "run.log").open("ab") as log:
            process = subprocess.Popen(
                [moldau, "streams", "run", str(APP), *where, *(options or ("--master", "local[2]"))],
                stdout=log,
                stderr=log,
                env={**os.environ, "MOLDAU_CALLS": str(self._calls)},
            )
            try:
                yield process
            finally:
                if process.poll() is None:
                    process.send_signal(signal.SIGINT)
                    process.wait(PATIENCE_S)

    @property
    def log(self) -> str:
        return (self._folder / "run.log").read_text()

    def wait_all(self) -> None:
        wait_for(
            lambda: len(committed(self.servers, "tagged-counts")) >= self.sent, f"all is counted: {self.log}"
        )

    def require_each_once(self) -> None:
        numbers = Counter(int((one.value or b"").split()[0]) for one in committed(self.servers, "tagged-out"))
        assert numbers == Counter(range(self.sent))
        told = Counter(
            (one.key, int.from_bytes(one.value or b"")) for one in committed(self.servers, "tagged-counts")
        )
        each = Counter(f"k{n % KEYS}".encode() for n in range(self.sent))
        assert told == Counter((key, n + 1) for key, count in each.items() for n in range(count))


def all_processes(pid: int) -> list[int]:
    found = [pid]
    for child in children(pid):
        found += all_processes(child)
    return found


def test_counts_are_exact_when_the_driver_is_killed(servers: str, tmp_path: Path, rounds: int) -> None:
    """With all it has started, while a batch of the function is on its way."""
    app = Tagged(servers, tmp_path)
    for _ in range(max(1, rounds // 3)):  # Each starts Spark again.
        before = app.calls
        with app.run() as process:
            app.send(400)
            # The first call is that for its columns.
            wait_for(lambda before=before: app.calls >= before + 2, f"a batch is begun: {app.log}")  # type: ignore[misc]
            app.send(100)
            time.sleep(random.uniform(0, 2))  # somewhere on its way
            for pid in all_processes(process.pid):
                kill9(pid)
            process.wait(PATIENCE_S)
    with app.run():
        app.send(50)
        app.wait_all()
    app.require_each_once()


def test_it_runs_at_a_spark_connect_server(servers: str, tmp_path: Path) -> None:
    pytest.importorskip(
        "grpc_status",
        reason="the client of Spark Connect is not installed: pip install 'moldau[spark-connect]'",
    )
    create_topics(servers, connected_in=2, connected_out=2)
    with SparkConnectServer(tmp_path / "spark") as spark:
        app = ConnectedApp(servers, tmp_path, spark.address)
        with app.run():
            app.send(0, 300)
            wait_for(lambda: len(app.told()) >= 300, f"all come through: {app.log}")
        with app.run():
            app.send(300, 400)
            wait_for(lambda: len(app.told()) >= 400, f"all come through: {app.log}")
    assert sorted(app.told()) == sorted(f"V{n}" for n in range(400))


class ConnectedApp:
    SOURCE = """
from moldau.pipeline.streams import STRING, StreamsBuilder


def upper(df):
    from pyspark.sql import functions as fn

    codes = df.sparkSession.createDataFrame([(number,) for number in range(3)], "code int")
    odd = codes.where("code = 1")
    return df.crossJoin(odd).withColumn("value", fn.upper("value")).drop("code")


builder = StreamsBuilder("connected", key=STRING, value=STRING)
builder.stream("connected-in").transform(upper, name="upper").to("connected-out")
"""

    def __init__(self, servers: str, folder: Path, master: str) -> None:
        self._servers, self._folder, self._master = servers, folder, master
        self._file = folder / "connected.py"
        self._file.write_text(self.SOURCE)

    def send(self, first: int, end: int) -> None:
        send(self._servers, "connected-in", [Sent(f"k{n}", f"v{n}", n % 2) for n in range(first, end)])

    def told(self) -> list[str]:
        return [(one.value or b"").decode() for one in committed(self._servers, "connected-out")]

    @property
    def log(self) -> str:
        return (self._folder / "run.log").read_text()

    @contextlib.contextmanager
    def run(self) -> Iterator[None]:
        moldau = str(Path(sys.executable).with_name("moldau"))
        where = [
            "-b",
            self._servers,
            "--checkpoint-dir",
            str(self._folder / "checkpoints"),
            "--master",
            self._master,
        ]
        with (self._folder / "run.log").open("ab") as log:
            process = subprocess.Popen(
                [moldau, "streams", "run", str(self._file), *where], stdout=log, stderr=log
            )
            try:
                yield
            finally:
                process.send_signal(signal.SIGINT)
                assert process.wait(PATIENCE_S) == 0, self.log


def built(name: str, *, with_transform: bool, suffix: str, before: bool = False) -> Topology:
    def marked(df: DataFrame) -> DataFrame:
        return df.withColumn("value", fn.concat("value", fn.lit(suffix)))

    builder = StreamsBuilder(name, key=STRING, value=STRING)
    stream: KStream[str, str] = builder.stream(f"{name}-in")
    if before:
        stream = stream.filter(lambda _, value: True)
    if with_transform:
        stream = stream.transform(marked)
    stream.to(f"{name}-out")
    return builder.build()


def test_a_changed_function_goes_on_and_a_removed_one_leaves_nothing_unread(
    servers: str, tmp_path: Path
) -> None:
    """A filter before it shifts its generated name: it is found again, with its topics."""
    create_topics(servers, changing_in=2, changing_out=1)

    def run(topology: Topology, first: int) -> None:
        send(servers, "changing-in", [Sent(f"k{n}", str(n), n % 2) for n in range(first, first + 10)])
        with running(topology, servers, tmp_path) as app:
            state = app.wait(PipelineState.RUNNING, PipelineState.FAILED, timeout_s=PATIENCE_S)
            assert state is PipelineState.RUNNING, app.metrics.last_error
            wait_for(
                lambda: len(committed(servers, "changing-out")) >= first + 10, f"all come: {app.metrics}"
            )

    run(built("changing", with_transform=True, suffix=" a"), 0)
    run(built("changing", with_transform=True, suffix=" b", before=True), 10)
    own = {
        one
        for one in AdminClient(shared(servers, {})).list_topics().topics
        if one.startswith("changing-KSTREAM")
    }
    assert own == {f"changing-KSTREAM-TRANSFORM-0000000001-transform-{way}" for way in ("in", "out")}
    run(built("changing", with_transform=False, suffix=""), 20)
    suffixes = [" a"] * 10 + [" b"] * 10 + [""] * 10
    wanted = sorted(f"{n}{suffix}".encode() for n, suffix in enumerate(suffixes))
    assert sorted(one.value or b"" for one in committed(servers, "changing-out")) == wanted


def test_reset_forgets_its_topics(servers: str, tmp_path: Path) -> None:
    create_topics(servers, forgotten_in=1, forgotten_out=1)
    topology = built("forgotten", with_transform=True, suffix="")
    send(servers, "forgotten-in", [Sent("k", "v")])
    with running(topology, servers, tmp_path) as app:
        wait_caught_up(app, restarts_max=0)
        folder = app.settings.folder
    admin = AdminClient(shared(servers, {}))
    removed = reset(admin, "forgotten", folder)
    topics = [f"topic forgotten-KSTREAM-TRANSFORM-0000000001-transform-{way}" for way in ("in", "out")]
    assert set(topics) <= set(removed)
    with running(topology, servers, tmp_path) as app:
        wait_caught_up(app, restarts_max=0)
    assert [one.value for one in committed(servers, "forgotten-out")] == [b"v", b"v"]
