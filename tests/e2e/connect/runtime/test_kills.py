"""Exactly once: the driver process, the processes in which tasks run, Spark's JVM or the broker are killed while
lines go from a growing file to a topic and from there to files."""

import contextlib
import os
import random
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from compat.moldau_broker import MoldauBroker
from e2e.connect.runtime.driver_kit import Driver, Reader, eventually, file_source, plan_of

FILES = "moldau.pipeline.connect.connectors.files.sink:FileSinkConnector"
PARTITIONS = 3
LINES_PER_TURN = 200
TURN_S = 0.02
RECORDS_PER_FILE = 500


class Writer:
    """Appends numbered lines to a file until the test says that it is enough."""

    def __init__(self, file: Path) -> None:
        self.count = 0
        self._file = file
        self._enough = threading.Event()
        self._thread = threading.Thread(target=self._write)

    def __enter__(self) -> "Writer":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        self._enough.set()
        self._thread.join()

    def _write(self) -> None:
        with self._file.open("a", buffering=1 << 20) as out:
            while not self._enough.wait(TURN_S):
                out.writelines(f"{self.count + more}\n" for more in range(LINES_PER_TURN))
                out.flush()
                self.count += LINES_PER_TURN


@pytest.fixture
def topic(servers: str, name: str) -> str:
    admin = AdminClient({"bootstrap.servers": servers})
    admin.create_topics([NewTopic(name, PARTITIONS, 1)])[name].result()
    return name


@pytest.fixture
def everything(servers: str, topic: str) -> Iterator[Reader]:
    reader = Reader(servers, topic, PARTITIONS)
    yield reader
    reader.close()


def test_nothing_is_lost_or_written_twice(
    driver: Driver,
    broker: MoldauBroker,
    servers: str,
    topic: str,
    everything: Reader,
    tmp_path: Path,
    rounds: int,
) -> None:
    file, archive = tmp_path / "lines", tmp_path / "archive"
    file.touch()
    source = file_source(servers, f"{topic}-source", file, topic)
    sink = plan_of(
        servers,
        f"{topic}-sink",
        "sink",
        FILES,
        {
            "topics": topic,
            "path": str(archive),
            "format.class": "ByteArrayFormat",
            "value.converter": "ByteArrayConverter",
            "flush.size": str(RECORDS_PER_FILE),
        },
        tasks=2,
    )
    driver.add(source)
    driver.add(sink)
    dice = random.Random(1874)
    with Writer(file) as writer:
        for round_ in range(rounds):
            before = len(everything.found)
            everything.wait(before + 1)
            eventually(lambda: driver.task(sink)["polled"] + driver.task(sink, 1)["polled"], "the sink reads")
            time.sleep(dice.uniform(0, 1.5))
            match round_ % 4:
                case 0:
                    driver.kill()
                    driver.start()
                case 1:
                    kill_workers(driver)
                case 2:
                    driver.kill_jvm()
                    driver.start()
                case _:
                    broker.kill9()
                    broker.restart()
        everything.wait(len(everything.found) + 1)
        writer.end()
        count = writer.count
    everything.wait(count)
    expected = [b"%d" % number for number in range(count)]
    assert sorted(everything.values(), key=int) == expected
    wanted = whole_files(everything)
    eventually(lambda: len(archived(archive)) >= len(wanted), "all full files are there")
    assert archived(archive) == wanted
    driver.remove(source)
    driver.remove(sink)
    assert everything.more() == count


def kill_workers(driver: Driver) -> None:
    for pid in driver.python_workers():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def whole_files(everything: Reader) -> list[tuple[int, list[bytes]]]:
    """Partition and lines of all files that are full, in the order of their names."""
    found = []
    for partition in range(PARTITIONS):
        values = [one.value() for one in everything.found if one.partition() == partition]
        for start in range(0, len(values) - RECORDS_PER_FILE + 1, RECORDS_PER_FILE):
            found.append((partition, values[start : start + RECORDS_PER_FILE]))
    return found


def archived(folder: Path) -> list[tuple[int, list[bytes]]]:
    """The same, of what is in the folder."""
    return [
        (int(file.name.split("+")[1]), file.read_bytes().splitlines())
        for file in sorted(folder.rglob("*.bin"))
    ]
