"""IcebergSource: the rows of a table once each, in the order of its snapshots, however often the task dies."""

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import Any

import pytest

pytest.importorskip("pyiceberg.catalog.sql", reason="pyiceberg with its SQL catalog is not installed")

import pyarrow as pa
from pyiceberg.catalog import Catalog, load_catalog

from connect_kit import StoredOffsets
from moldau.pipeline.connect.api import ConnectError
from moldau.pipeline.connect.connectors.iceberg.source import IcebergSourceConnector, IcebergSourceTask
from moldau.pipeline.connect.data.records import SourceRecord
from moldau.pipeline.connect.data.schema import SchemaType

KILLS = int(os.environ.get("MOLDAU_KILL_ROUNDS", "4"))


class Lake:
    """A catalog in a folder, and tasks that read its tables."""

    def __init__(self, folder: Path) -> None:
        (folder / "warehouse").mkdir()
        names = {
            "type": "sql",
            "uri": f"sqlite:///{folder / 'catalog.db'}",
            "warehouse": (folder / "warehouse").as_uri(),
        }
        self.catalog: Catalog = load_catalog("iceberg", **names)
        self.catalog.create_namespace("shop")
        self.config = {f"iceberg.catalog.{name}": text for name, text in names.items()}
        self.config |= {"iceberg.tables": "shop.orders", "poll.interval.ms": "1"}
        self.offsets = StoredOffsets()
        self._open = ExitStack()
        self._open.callback(self.catalog.close)

    def add(self, *numbers: int, name: str = "shop.orders", **more: Any) -> None:
        """A snapshot with these rows."""
        rows = pa.table(
            {
                "id": pa.array(numbers, pa.int64()),
                **{key: [text] * len(numbers) for key, text in more.items()},
            }
        )
        table = self.catalog.create_table_if_not_exists(name, rows.schema)
        if len(rows.schema) > len(table.schema().fields):
            with table.update_schema() as update:
                update.union_by_name(rows.schema)
        table.append(rows)

    def task(self, **settings: str) -> IcebergSourceTask:
        made = IcebergSourceTask()
        given = {name.replace("_", "."): text for name, text in settings.items()}
        made.start({**self.config, **given}, self.offsets)
        self._open.callback(made.stop)
        return made

    def take(self, task: IcebergSourceTask) -> list[SourceRecord]:
        found = list(task.poll())
        self.offsets.store(found)
        return found

    def rest(self, task: IcebergSourceTask) -> list[SourceRecord]:
        """What there is now."""
        found: list[SourceRecord] = []
        while more := self.take(task):
            found += more
        return found

    def close(self) -> None:
        self._open.close()


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Lake]:
    made = Lake(tmp_path)
    yield made
    made.close()


def ids(records: list[SourceRecord]) -> list[int]:
    return [one.value["id"] for one in records]


def due(lake: Lake, task: IcebergSourceTask) -> list[SourceRecord]:
    """What comes with the next look at the table."""
    found: list[SourceRecord] = []
    while not found:
        found = lake.rest(task)
    return found


def test_rows_and_those_that_are_added(lake: Lake) -> None:
    lake.add(1, 2)
    lake.add(3)
    task = lake.task(topic_prefix="lake.", record_batch_max_size="2")
    found = lake.rest(task)
    assert ids(found) == [1, 2, 3]
    assert found[0].topic == "lake.shop.orders"
    assert found[0].value_schema is not None
    assert (found[0].value_schema.name, found[0].value_schema.fields[0].schema.type) == (
        "shop.orders",
        SchemaType.INT64,
    )
    lake.add(4, 5)
    lake.add(6, 7)
    assert ids(due(lake, task)) == [4, 5, 6, 7]
    assert not lake.rest(lake.task())
    assert lake.offsets.stored[json.dumps({"table": "shop.orders"})]["end"] is True


def test_columns_that_are_added(lake: Lake) -> None:
    lake.add(1)
    lake.add(2, note="new")
    assert [one.value.as_dict() for one in lake.rest(lake.task())] == [
        {"id": 1, "note": None},
        {"id": 2, "note": "new"},
    ]


def test_only_what_is_new(lake: Lake) -> None:
    lake.add(1)
    task = lake.task(start_from="latest")
    assert not lake.rest(task)
    lake.add(2)
    assert ids(due(lake, task)) == [2]


def test_a_table_that_is_empty_at_first(lake: Lake) -> None:
    lake.catalog.create_table("shop.orders", pa.schema([("id", pa.int64())]))
    task = lake.task(start_from="latest")
    assert not lake.rest(task)
    lake.add(1)
    assert ids(due(lake, task)) == [1]


@pytest.mark.slow
def test_kills(lake: Lake) -> None:
    random = Random(5)
    count, found = 0, []
    for _ in range(KILLS):
        for _ in range(random.randrange(1, 3)):
            size = random.randrange(1, 20)
            lake.add(*range(count, count + size))
            count += size
        task = lake.task(record_batch_max_size="7")
        for _ in range(random.randrange(4)):
            found += lake.take(task)
        task.poll()
    found += lake.rest(lake.task())
    assert ids(found) == list(range(count))


def test_rows_that_change_are_a_failure_or_passed_over(lake: Lake) -> None:
    lake.add(1, 2, 3)
    lake.rest(lake.task())
    lake.catalog.load_table("shop.orders").delete("id == 2")
    lake.add(4)
    with pytest.raises(ConnectError, match=r"deletes or overwrites rows.*behavior.on.rewrite=ignore"):
        lake.rest(lake.task())
    assert ids(lake.rest(lake.task(behavior_on_rewrite="ignore"))) == [4]
    # A new reading begins with the rows as they are.
    lake.offsets.stored.clear()
    assert sorted(ids(lake.rest(lake.task()))) == [1, 3, 4]


def test_snapshots_that_have_expired(lake: Lake) -> None:
    lake.add(1)
    lake.rest(lake.task())
    lake.add(2)
    table = lake.catalog.load_table("shop.orders")
    table.maintenance.expire_snapshots().by_id(table.snapshots()[0].snapshot_id).commit()
    with pytest.raises(ConnectError, match="has expired"):
        lake.rest(lake.task())
    lake.offsets.stored.clear()
    assert ids(lake.rest(lake.task())) == [1, 2]


def test_tables_are_shared_by_tasks(lake: Lake) -> None:
    for name in ("a", "b", "c"):
        lake.add(1, name=f"shop.{name}")
    connector = IcebergSourceConnector()
    connector.start({**lake.config, "iceberg.tables": "shop.a,shop.b,shop.c"})
    configs = connector.task_configs(2)
    assert [one["iceberg.tables"] for one in configs] == ["shop.a,shop.c", "shop.b"]
    assert len(connector.task_configs(9)) == 3
    task = lake.task(**{"iceberg.tables": configs[0]["iceberg.tables"]})
    assert {one.topic for one in lake.rest(task)} == {"shop.a", "shop.c"}
    with pytest.raises(ConnectError, match=r"has no table shop.x: create it"):
        connector.start({**lake.config, "iceberg.tables": "shop.x"})


def test_offsets_that_are_no_offsets() -> None:
    good = {"snapshot": 1, "whole": True, "file": "f", "row": 1, "end": False}
    IcebergSourceConnector.check_offsets({}, [({"table": "a.b"}, good), ({"table": "a.b"}, None)])
    for partition, offset in (({}, good), ({"table": "a.b"}, {**good, "row": "1"})):
        with pytest.raises(ConnectError, match="here, not"):
            IcebergSourceConnector.check_offsets({}, [(partition, offset)])
