"""IcebergSource: the rows of tables, and those that are added later, snapshot by snapshot.

Its offsets are rows of files in snapshots, so no row is written twice or left out.
"""

from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Final

import pyiceberg

from moldau.pipeline.connect.api import (
    ConnectError,
    Offset,
    SourceConnector,
    SourceContext,
    SourceTask,
)
from moldau.pipeline.connect.connectors.iceberg.settings import (
    SOURCE,
    check_table_name,
    local_paths_of,
    of_catalog,
)
from moldau.pipeline.connect.data.records import SourceRecord
from moldau.pipeline.connect.declarations import Declaration, Texts, values_of

if TYPE_CHECKING:
    pass

OF: Final = "IcebergSource"
TABLES: Final = "iceberg.tables"
LIBRARY: Final = pyiceberg.__version__
"""Without the library this module cannot be imported, and the list of connectors says so."""


class IcebergSourceTask(SourceTask):
    def start(self, config: Texts, context: SourceContext) -> None:
        from moldau.pipeline.connect.connectors.iceberg.catalog import open_catalog
        from moldau.pipeline.connect.connectors.iceberg.table_changes import TableChanges
        from moldau.pipeline.connect.connectors.iceberg.table_reader import TABLE, TableReader

        values = values_of(SOURCE, config, of=OF)
        catalog = self._catalog = open_catalog(values["iceberg.catalog"], config)
        self._count_max: int = values["record.batch.max.size"]
        self._readers: list[TableReader] = []
        for name in values[TABLES]:
            changes = TableChanges(catalog, name, fails_on_rewrite=values["behavior.on.rewrite"] == "fail")
            self._readers.append(
                TableReader(
                    changes,
                    values["topic"] or f"{values['topic.prefix']}{name}",
                    context.offset({TABLE: name}),
                    skips_existing=values["start.from"] == "latest",
                    interval_s=values["poll.interval.ms"] / 1_000,
                )
            )

    def poll(self) -> Sequence[SourceRecord]:
        for place, reader in enumerate(self._readers):
            found = reader.take(self._count_max)
            if found:
                # The others come first next time.
                self._readers = [*self._readers[place + 1 :], *self._readers[: place + 1]]
                return found
        return ()

    def stop(self) -> None:
        if hasattr(self, "_catalog"):
            self._catalog.close()

    def next_poll_ms(self) -> int:
        return max(1, min((one.wait_ms() for one in self._readers), default=1_000))


class IcebergSourceConnector(SourceConnector):
    declarations = SOURCE
    task_class = IcebergSourceTask
    aliases = ("IcebergSource",)

    def start(self, config: Texts) -> None:
        from moldau.pipeline.connect.connectors.iceberg.catalog import failures, open_catalog

        values = values_of(SOURCE, config, of=OF)
        for one in values[TABLES]:
            check_table_name(one)
        name = values["iceberg.catalog"]
        with closing(open_catalog(name, config)) as catalog, failures(f"The catalog {name}"):
            missing = [one for one in values[TABLES] if not catalog.table_exists(one)]
        if missing:
            raise ConnectError(f"The catalog {name} has no table {missing[0]}: create it, or change {TABLES}")
        super().start(config)

    def task_configs(self, tasks_max: int) -> Sequence[Texts]:
        """A table belongs to one task."""
        tables = values_of(SOURCE, self.config, of=OF)[TABLES]
        shares = [tables[number::tasks_max] for number in range(tasks_max)]
        return [{**self.config, TABLES: ",".join(share)} for share in shares if share]

    @classmethod
    def local_paths(cls, config: Texts) -> Sequence[tuple[str, str]]:
        return local_paths_of(config)

    @classmethod
    def open_declarations(cls, config: Texts) -> Sequence[Declaration]:
        return of_catalog(config)

    @classmethod
    def check_offsets(cls, config: Texts, offsets: Sequence[tuple[Offset, Offset | None]]) -> None:
        from moldau.pipeline.connect.connectors.iceberg.table_reader import TABLE, position_of

        for partition, offset in offsets:
            if not isinstance(partition.get(TABLE), str):
                raise ConnectError(
                    f"A source partition is {{'{TABLE}': 'namespace.table'}} here, not {dict(partition)}"
                )
            if offset is not None:
                position_of(offset)
