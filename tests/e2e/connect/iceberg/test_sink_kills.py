"""Sinks whose processes are killed with SIGKILL at any moment: every record is in the target once, and only once."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from connect_kit import StoredOffsets

pytest.importorskip("pyiceberg.catalog.sql", reason="pyiceberg with its SQL catalog is not installed")

from pyiceberg.catalog import load_catalog

from moldau.pipeline.connect.connectors.files.source import FileSourceTask

KILLS = int(os.environ.get("MOLDAU_KILL_ROUNDS", "1"))
PROCESS = Path(__file__).with_name("task_process.py")
DEADLINE_S = 180.0
ICEBERG = "moldau.pipeline.connect.connectors.iceberg.sink:IcebergSinkTask"
FILES = "moldau.pipeline.connect.connectors.files.sink:FileSinkTask"
STEP = 200


def kill_often(folder: Path, task: str, config: dict[str, str], seed: int) -> int:
    """How many records at least are written in the end."""
    random = Random(seed)
    committed = folder / "committed"
    committed.write_text("0")
    count = 0
    for number in range(KILLS + 1):
        count += STEP
        is_last = number == KILLS
        parts = [task, json.dumps(config), committed, count, seed + number]
        command = [sys.executable, str(PROCESS), *map(str, parts)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            if is_last:
                assert process.wait(DEADLINE_S) == 0
            else:
                # A moment to be killed at, not one to wait for: any will do.
                time.sleep(random.uniform(0, 0.6))
        finally:
            process.kill()
            process.wait()
            process.stdout.close()
    assert int(committed.read_text()) >= count
    return count


def iceberg(folder: Path) -> tuple[dict[str, str], Callable[[], list[int]]]:
    names = {
        "type": "sql",
        "uri": f"sqlite:///{folder / 'catalog.db'}",
        "warehouse": (folder / "tables").as_uri(),
    }
    config = {f"iceberg.catalog.{name}": text for name, text in names.items()}
    config |= {"name": "lake", "iceberg.tables": "shop.numbers", "iceberg.control.commit.interval-ms": "0"}

    def read() -> list[int]:
        catalog = load_catalog("iceberg", **names)
        rows = catalog.load_table("shop.numbers").scan().to_arrow()
        catalog.close()
        found: list[int] = rows["id"].to_pylist()
        return found

    return config, read


def files(folder: Path) -> tuple[dict[str, str], Callable[[], list[int]]]:
    path = str(folder / "archive")
    config = {
        "path": path,
        "flush.size": "60",
        "format.class": "Parquet",
        "partitioner.class": "FieldPartitioner",
        "partition.field.name": "group",
    }

    def read() -> list[int]:
        task = FileSourceTask()
        task.start({"path": path}, StoredOffsets())
        found: list[int] = []
        while polled := task.poll():
            found += [one.value["id"] for one in polled]
        task.stop()
        return found

    return config, read


@pytest.mark.slow
@pytest.mark.parametrize(("task", "target"), [(ICEBERG, iceberg), (FILES, files)])
def test_kills(tmp_path: Path, task: str, target: Callable[..., object]) -> None:
    config, read = target(tmp_path)  # type: ignore[misc]
    count = kill_often(tmp_path, task, config, seed=17)
    found = sorted(read())
    assert found == list(range(len(found)))
    assert len(found) >= count
