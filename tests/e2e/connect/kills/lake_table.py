"""The Iceberg sink: a topic, and the table that it becomes."""

from contextlib import closing
from pathlib import Path
from typing import Any

from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.exceptions import NoSuchTableError

from e2e.connect.kills.archive import value_of
from e2e.connect.kills.flow import Flow
from e2e.connect.kills.topics import NumberedTopic

TABLE = "shop.numbers"


class LakeTable(Flow):
    name = "lake"
    tasks = 2
    step = 2_000

    def __init__(self, servers: str, folder: Path) -> None:
        self._topic = NumberedTopic(servers, "lake-numbers", value_of)
        self._catalog_names = {
            "type": "sql",
            "uri": f"sqlite:///{folder / 'catalog.db'}",
            "warehouse": (folder / "tables").as_uri(),
        }
        self.config = {
            **{f"iceberg.catalog.{name}": text for name, text in self._catalog_names.items()},
            "connector.class": "IcebergSink",
            "topics": self._topic.name,
            "tasks.max": str(self.tasks),
            "iceberg.tables": TABLE,
            "iceberg.control.commit.interval-ms": "1000",
            "key.converter": "StringConverter",
            "value.converter": "JsonConverter",
        }

    def put(self) -> None:
        self._topic.put()

    def arrived(self) -> int:
        with closing(self._catalog()) as catalog:
            try:
                snapshot = catalog.load_table(TABLE).current_snapshot()
            except NoSuchTableError:
                return 0
        if snapshot is None or snapshot.summary is None:
            return 0
        return int(snapshot.summary["total-records"] or 0)

    def is_complete(self) -> bool:
        arrived = self.arrived()
        assert arrived <= self._topic.count, "there are records twice"
        return arrived == self._topic.count

    def check(self) -> str:
        with closing(self._catalog()) as catalog:
            table = catalog.load_table(TABLE)
            found: list[Any] = table.scan().to_arrow()["id"].to_pylist()
            commits = len(table.snapshots())
        assert sorted(found) == list(range(self._topic.count))
        return f"{len(found)} records in {commits} commits"

    def _catalog(self) -> Catalog:
        return load_catalog("iceberg", **self._catalog_names)
