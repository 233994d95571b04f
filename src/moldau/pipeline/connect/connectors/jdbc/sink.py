"""JdbcSink: records become rows of tables, a topic to a table.

All records of one `put` are written in one transaction, so nothing is kept back for `flush`. A `put` that is repeated,
or a task that starts again, writes records a second time: insert.mode=upsert makes that harmless.
"""

import logging
from collections.abc import Sequence
from typing import Any, Final

from moldau.core.errors import ConfigError
from moldau.pipeline.connect.api import ConnectError, SinkConnector, SinkContext, SinkTask
from moldau.pipeline.connect.connectors.jdbc.drivers import database_of
from moldau.pipeline.connect.connectors.jdbc.drivers.database import DatabaseAway
from moldau.pipeline.connect.connectors.jdbc.row_layout import RecordUnfit, RowLayout, layout_of
from moldau.pipeline.connect.connectors.jdbc.row_writer import RowWriter, Run
from moldau.pipeline.connect.connectors.jdbc.settings import (
    ConnectionSettings,
    connection_problems,
    local_paths_of,
)
from moldau.pipeline.connect.connectors.jdbc.sink_settings import (
    DECLARATIONS,
    OF,
    KeyMode,
    parsed,
    problems,
    writing_of,
)
from moldau.pipeline.connect.connectors.jdbc.table_names import TableName, table_named
from moldau.pipeline.connect.connectors.jdbc.target_table import TargetTable
from moldau.pipeline.connect.data.records import SinkRecord
from moldau.pipeline.connect.data.schema import Schema
from moldau.pipeline.connect.declarations import ConfigValue, Texts, values_of

log = logging.getLogger(__name__)

LAYOUTS_MAX: Final = 256


class JdbcSinkTask(SinkTask):
    def start(self, config: Texts, context: SinkContext) -> None:
        values = parsed(config)
        self._writing = writing_of(values)
        self._database = database_of(ConnectionSettings.of(values))
        self._context = context
        self._writer = RowWriter(self._database, self._writing, self._report)
        self._tables: dict[str, TargetTable] = {}
        """By topic. Those of several topics may be one table in the database."""
        self._layouts: dict[tuple[Schema | None, Schema | None, bool], RowLayout] = {}
        self._reported: set[tuple[str, int, int]] = set()
        """Records of the current `put`: they are not reported again when it is repeated."""
        self._repeated = 0

    def put(self, records: Sequence[SinkRecord]) -> None:
        if not records:
            return
        database = self._database
        try:
            if not database.is_open:
                # A structure may have changed while there was no connection.
                self._tables.clear()
                database.connect()
            self._write_all(records)
        except DatabaseAway as failure:
            asked_to_repeat = database.is_open
            database.close()
            if asked_to_repeat:
                self._count_repetition(failure)
            raise
        except BaseException:
            database.close()
            raise
        self._reported.clear()
        self._repeated = 0

    def stop(self) -> None:
        if hasattr(self, "_database"):
            self._database.close()

    def _write_all(self, records: Sequence[SinkRecord]) -> None:
        """Once more with the structure read again, if a table is not as it was."""
        were_known = any(one.is_known for one in self._tables.values())
        try:
            self._write_once(records)
        except ConnectError as failure:
            # Its children have reasons of their own.
            is_database = type(failure) is ConnectError
            if not (is_database and were_known and self._database.is_open):
                raise
            log.info("the structure of tables is read again: %s", failure)
            self._database.rollback()
            for one in self._tables.values():
                one.forget()
            self._write_once(records)

    def _write_once(self, records: Sequence[SinkRecord]) -> None:
        # Some databases commit before they create a table or add a column: that comes first.
        runs = [run for run in self._runs(records) if self._is_prepared(run)]
        self._database.rollback()
        for run in runs:
            self._writer.write(run)
        self._database.commit()

    def _is_prepared(self, run: Run) -> bool:
        try:
            for layout in (run.layout, run.deletes):
                if layout is not None:
                    run.table.target(layout)
        except RecordUnfit as unfit:
            for record in run.records:
                self._report(record, unfit)
            return False
        return True

    def _runs(self, records: Sequence[SinkRecord]) -> list[Run]:
        """In the order of the records of each table."""
        found: list[Run] = []
        last: dict[str, Run] = {}
        for record in records:
            try:
                layout = self._layout(record)
            except RecordUnfit as unfit:
                self._report(record, unfit)
                continue
            run = last.get(record.topic)
            if run is None or not run.takes(layout, self._writing.insert_mode):
                run = last[record.topic] = Run(self._table(record.topic))
                run.takes(layout, self._writing.insert_mode)
                found.append(run)
            run.records.append(record)
        return found

    def _layout(self, record: SinkRecord) -> RowLayout:
        key_schema = record.key_schema if self._writing.key_mode is KeyMode.RECORD_KEY else None
        has_value = record.value is not None
        if record.key is None and self._writing.key_mode is KeyMode.RECORD_KEY:
            return layout_of(record, self._writing)
        schemas = key_schema, record.value_schema if has_value else None, has_value
        found = self._layouts.get(schemas)
        if found is None:
            if len(self._layouts) >= LAYOUTS_MAX:
                self._layouts.clear()
                for one in self._tables.values():
                    one.forget()
            found = self._layouts[schemas] = layout_of(record, self._writing)
        return found

    def _table(self, topic: str) -> TargetTable:
        found = self._tables.get(topic)
        if found is None:
            found = self._tables[topic] = TargetTable(self._name_of(topic), self._writing, self._database)
        return found

    def _name_of(self, topic: str) -> TableName:
        text = self._writing.table_format.replace("${topic}", topic)
        try:
            return table_named(text, has_schemas=self._database.dialect.has_schemas)
        except ConfigError as wrong:
            raise ConnectError(
                f"the records of {topic} have no table: {wrong}. Change table.name.format, or the topic's name by the "
                "transformation RegexRouter"
            ) from None

    def _report(self, record: SinkRecord, error: Exception) -> None:
        place = record.original_topic or record.topic, record.original_partition, record.offset
        if place not in self._reported:
            self._context.report(record, error)
            self._reported.add(place)

    def _count_repetition(self, failure: DatabaseAway) -> None:
        self._repeated += 1
        if self._repeated > self._writing.retries_max:
            raise ConnectError(
                f"the write was repeated {self._writing.retries_max} times (max.retries), and the database asked to "
                f"repeat it again: {failure}"
            ) from failure


class JdbcSinkConnector(SinkConnector):
    declarations = DECLARATIONS
    task_class = JdbcSinkTask
    aliases = (
        "JdbcSink",
        "io.confluent.connect.jdbc.JdbcSinkConnector",
        "io.aiven.connect.jdbc.JdbcSinkConnector",
    )

    def start(self, config: Texts) -> None:
        """A wrong password or database is known at once. A database that is away is waited for by the tasks."""
        super().start(config)
        database = database_of(ConnectionSettings.of(parsed(config)))
        try:
            database.connect()
        except DatabaseAway as failure:
            log.warning("%s", failure)
        finally:
            database.close()

    @classmethod
    def local_paths(cls, config: Texts) -> Sequence[tuple[str, str]]:
        return local_paths_of(config)

    @classmethod
    def check(cls, config: Texts) -> Sequence[ConfigValue]:
        try:
            values: dict[str, Any] = values_of(DECLARATIONS, config, of=OF)
        except ConfigError:
            # What is wrong with a single setting is reported with it.
            return ()
        found = [*problems(values), *connection_problems(values)]
        return [ConfigValue(name, config.get(name), errors=[error]) for name, error in found]
