"""JdbcSource: the rows of tables become records, and new and changed rows follow. One topic for each table."""

import json
import logging
import time
from collections.abc import Sequence
from typing import Any, Final

from moldau.core.errors import ConfigError
from moldau.pipeline.connect.api import ConnectError, Offset, SourceConnector, SourceContext, SourceTask
from moldau.pipeline.connect.connectors.jdbc.drivers import database_of
from moldau.pipeline.connect.connectors.jdbc.drivers.database import Database, DatabaseAway, open_database
from moldau.pipeline.connect.connectors.jdbc.row_queries import RowSource
from moldau.pipeline.connect.connectors.jdbc.settings import (
    ConnectionSettings,
    connection_problems,
    local_paths_of,
)
from moldau.pipeline.connect.connectors.jdbc.source_position import Position, check_partition
from moldau.pipeline.connect.connectors.jdbc.source_settings import (
    DECLARATIONS,
    filter_of,
    parsed,
    problems,
    reading_of,
)
from moldau.pipeline.connect.connectors.jdbc.table_names import TableName, clashes
from moldau.pipeline.connect.connectors.jdbc.table_reader import TableReader
from moldau.pipeline.connect.data.records import SourceRecord
from moldau.pipeline.connect.declarations import ConfigValue, Texts, values_of

log = logging.getLogger(__name__)

TABLES: Final = "tables"
"""In the configuration of a task: its tables as JSON."""


class JdbcSourceTask(SourceTask):
    _database: Database | None = None

    def start(self, config: Texts, context: SourceContext) -> None:
        values = parsed(config)
        self._interval_s: float = values["poll.interval.ms"] / 1_000
        self._rows_max: int = values["batch.max.rows"]
        self._context = context
        database = self._database = database_of(ConnectionSettings.of(values))
        query = values["query"].strip().rstrip(";")
        tables = json.loads(config.get(TABLES, "[]"))
        sources = [RowSource(None, query)] if query else [RowSource(TableName(*parts)) for parts in tables]
        reading = reading_of(values)
        self._readers = [TableReader(one, reading, database, context) for one in sources]

    def poll(self) -> Sequence[SourceRecord]:
        database = self._database
        assert database is not None
        now = time.monotonic()
        # One that has begun is read to its end first: a connection has one result at a time.
        ready = [one for one in self._readers if one.is_reading or one.due_s <= now]
        for reader in sorted(ready, key=lambda one: (not one.is_reading, one.due_s)):
            try:
                if not database.is_open:
                    open_database(database, self._context.stopping)
                records = reader.portion(self._rows_max)
            except ConnectError:
                self._abandon()
                raise
            if not reader.is_reading:
                reader.due_s = time.monotonic() + self._interval_s
            if records:
                return records
            if reader.is_reading:
                # Rows were read and are kept back: the rest follows at the next call.
                return ()
        return ()

    def next_poll_ms(self) -> int:
        if not self._readers or any(one.is_reading for one in self._readers):
            return 0 if self._readers else int(self._interval_s * 1_000)
        due_s = min(one.due_s for one in self._readers)
        return max(0, int((due_s - time.monotonic()) * 1_000) + 1)

    def stop(self) -> None:
        if self._database is not None:
            self._abandon()

    def _abandon(self) -> None:
        for one in getattr(self, "_readers", ()):
            one.abandon()
        assert self._database is not None
        self._database.close()


class JdbcSourceConnector(SourceConnector):
    declarations = DECLARATIONS
    task_class = JdbcSourceTask
    aliases = (
        "JdbcSource",
        "io.confluent.connect.jdbc.JdbcSourceConnector",
        "io.aiven.connect.jdbc.JdbcSourceConnector",
    )

    def start(self, config: Texts) -> None:
        """Reaches the database, so that a wrong address or password is known at once."""
        super().start(config)
        values = self._values = parsed(config)
        self._filter = filter_of(values)
        self._interval_s: float = values["table.poll.interval.ms"] / 1_000
        self._database = database_of(ConnectionSettings.of(values))
        self._tables: list[TableName] = []
        self._missing: list[str] = []
        if values["query"]:
            open_database(self._database)
            self._database.close()
        else:
            self._tables = self._chosen_tables()
        self._looked_s = time.monotonic()

    @classmethod
    def local_paths(cls, config: Texts) -> Sequence[tuple[str, str]]:
        return local_paths_of(config)

    def task_configs(self, tasks_max: int) -> Sequence[Texts]:
        if self._values["query"]:
            return [self.config]
        tables, count = self._tables, min(len(self._tables), tasks_max)
        self._say_what_is_read()
        return [
            {
                **self.config,
                TABLES: json.dumps([[one.name, one.schema, one.catalog] for one in tables[number::count]]),
            }
            for number in range(count)
        ]

    def changed(self) -> bool:
        """Whether there are other tables than before. The database is asked every `table.poll.interval.ms`."""
        now = time.monotonic()
        if self._values["query"] or now - self._looked_s < self._interval_s:
            return False
        self._looked_s = now
        try:
            found = self._chosen_tables()
        except DatabaseAway as failure:
            log.warning("tables that may be new are not looked for: %s", failure)
            return False
        was, self._tables = self._tables, found
        return found != was

    def waits_for(self) -> str | None:
        if not self._missing:
            return None
        return f"{self._database} does not have {', '.join(self._missing)} yet"

    def stop(self) -> None:
        if hasattr(self, "_database"):
            self._database.close()

    def _chosen_tables(self) -> list[TableName]:
        """The connection is closed again: it would be idle most of the time."""
        values, database = self._values, self._database
        try:
            open_database(database)
            all_tables = database.tables(
                values["table.types"], values["catalog.pattern"], values["schema.pattern"]
            )
        finally:
            database.close()
        tables = self._filter.chosen(all_tables)
        self._missing = self._filter.absent(all_tables)
        for one, other in clashes(tables):
            raise ConnectError(
                f"The tables {one} and {other} have one name, and so one topic: choose between them by "
                "table.whitelist, table.blacklist or schema.pattern, and read the other one by a second connector with "
                "another topic.prefix"
            )
        return tables

    def _say_what_is_read(self) -> None:
        names = ", ".join(map(str, self._tables)) or "no table yet"
        log.info("%s: %s", self._database, names)
        if self._missing:
            log.warning("%s does not have %s yet", self._database, ", ".join(self._missing))

    @classmethod
    def is_exactly_once(cls, config: Texts) -> bool:
        """Bulk has no offsets: each reading repeats everything."""
        return config.get("mode") != "bulk"

    @classmethod
    def check(cls, config: Texts) -> Sequence[ConfigValue]:
        try:
            values: dict[str, Any] = values_of(DECLARATIONS, config, of="JdbcSource")
        except ConfigError:
            # What is wrong with a single setting is reported with it.
            return ()
        found = [*problems(values), *connection_problems(values)]
        return [ConfigValue(name, config.get(name), errors=[error]) for name, error in found]

    @classmethod
    def check_offsets(cls, config: Texts, offsets: Sequence[tuple[Offset, Offset | None]]) -> None:
        for partition, offset in offsets:
            check_partition(partition)
            Position.of(offset)
