"""What connectors say while something that they read is missing."""

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from connect_kit import eventually
from moldau.pipeline.connect.connectors.file_stream.source import FileStreamSourceTask
from moldau.pipeline.connect.server.hosting.connector_run import ConnectorRun


class NoOffsets:
    """Of a source that has read nothing yet."""

    def offset(self, source_partition: Mapping[str, Any]) -> None:
        return None

    def stopping(self) -> bool:
        return False


def test_a_table_that_does_not_exist_yet(tmp_path: Path) -> None:
    file = tmp_path / "shop.db"
    with closing(sqlite3.connect(file)) as database:
        config = {
            "connector.class": "JdbcSource",
            "connection.url": f"jdbc:sqlite:{file}",
            "mode": "bulk",
            "topic.prefix": "p-",
            "table.whitelist": "orders",
            "table.poll.interval.ms": "1",
        }
        run = ConnectorRun("shop", config, {}, tasks_limit=10)
        run.start()
        assert run.task_configs() == []
        why = run.waits_for()
        assert why is not None
        assert why.endswith("does not have orders yet")
        database.execute("CREATE TABLE orders (id INT)")
        database.commit()
        eventually(run.changed, "the table is seen")
        assert run.waits_for() is None
        run.stop()


def test_a_file_that_does_not_exist_yet(tmp_path: Path) -> None:
    file = tmp_path / "lines"
    task = FileStreamSourceTask()
    task.start({"file": str(file), "topic": "lines"}, NoOffsets())
    assert task.waits_for() is None
    assert not task.poll()
    assert task.waits_for() == f"{file} does not exist yet"
    file.write_text("one\n")
    assert len(task.poll()) == 1
    assert task.waits_for() is None
    task.stop()
