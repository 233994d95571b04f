"""IcebergSink: topics as Iceberg tables that Spark, DuckDB, Trino and others query. Exactly once (`commits.py`).

Rows are held in memory until a commit is due; offsets are committed to Kafka behind it.
"""

import time
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any, Final

import pyiceberg

from moldau.core.errors import ConfigError
from moldau.pipeline.connect.api import (
    ConnectError,
    RetriableError,
    SinkConnector,
    SinkContext,
    SinkTask,
    TopicPartition,
)
from moldau.pipeline.connect.connectors.files.partitioners import field_of
from moldau.pipeline.connect.connectors.iceberg.positions import Positions
from moldau.pipeline.connect.connectors.iceberg.settings import (
    SINK,
    Routes,
    TableSettings,
    local_paths_of,
    of_catalog,
    of_tables,
)
from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.records import SinkRecord
from moldau.pipeline.connect.declarations import ConfigValue, Declaration, Texts, values_of

if TYPE_CHECKING:
    from moldau.pipeline.connect.connectors.iceberg.table_writer import TableWriter

OF: Final = "IcebergSink"
LIBRARY: Final = pyiceberg.__version__
"""Without the library this module cannot be imported, and the list of connectors says so."""


class IcebergSinkTask(SinkTask):
    def start(self, config: Texts, context: SinkContext) -> None:
        from moldau.pipeline.connect.connectors.iceberg.catalog import open_catalog

        values = values_of(SINK, config, of=OF)
        self._context = context
        self._connector = config.get("name", OF)
        self._routes = Routes.of(values, config)
        self._tables = TableSettings.of(values, config)
        self._interval_s: float = values["iceberg.control.commit.interval-ms"] / 1_000
        self._bytes_max: int = values["iceberg.write.buffer-bytes"]
        self._catalog = open_catalog(values["iceberg.catalog"], config)
        self._writers: dict[str, TableWriter] = {}
        self._positions = Positions(self._connector)
        self._commit_at = time.monotonic() + self._interval_s

    def put(self, records: Sequence[SinkRecord]) -> None:
        positions = self._positions
        positions.begin((_place(one), one.offset) for one in records)
        try:
            for record in records:
                place = _place(record)
                if not positions.takes(place, record.offset):
                    continue
                if record.value is not None:
                    try:
                        self._put(place, record)
                    except DataError as wrong:
                        self._context.report(record, wrong)
                positions.took(place, record.offset)
            if sum(one.rows.bytes for one in self._writers.values()) >= self._bytes_max:
                self._commit()
        except RetriableError:
            positions.failed((_place(one), one.offset) for one in records)
            raise
        positions.ended()
        self._ask()

    def flush(self, offsets: Mapping[TopicPartition, int]) -> Mapping[TopicPartition, int]:
        if time.monotonic() >= self._commit_at:
            self._commit()
        writers = self._writers.values()
        limits = self._positions.flushed(offsets, [one.ends for one in writers])
        self._ask()
        durable = dict(offsets)
        for held in (limits, *(one.rows.first for one in writers)):
            for place, first in held.items():
                if place in durable:
                    durable[place] = min(durable[place], first)
        return durable

    def closed(self, partitions: Sequence[TopicPartition]) -> None:
        for writer in self._writers.values():
            writer.drop(partitions)
        self._positions.forget(partitions)

    def stop(self) -> None:
        if hasattr(self, "_catalog"):
            self._catalog.close()

    def _put(self, place: TopicPartition, record: SinkRecord) -> None:
        from moldau.pipeline.connect.connectors.iceberg.table_writer import TableWriter

        routes = self._routes
        route: Any = None
        if routes.field:
            with suppress(DataError):
                route = field_of(record, routes.field)
        # Where two tables get the record, both must take it, or it is reported and in one of them.
        for name in routes.tables_of(record.topic, route):
            writer = self._writers.get(name)
            if writer is None:
                writer = TableWriter(self._catalog, name, self._connector, self._tables)
                self._writers[name] = writer
            writer.put(place, record)

    def _ask(self) -> None:
        asked = self._positions.asked
        if asked:
            self._context.rewind(dict(asked))
            asked.clear()

    def _commit(self) -> None:
        for writer in self._writers.values():
            writer.commit()
        self._commit_at = time.monotonic() + self._interval_s


def _place(record: SinkRecord) -> TopicPartition:
    return TopicPartition(record.original_topic or record.topic, record.original_partition)


class IcebergSinkConnector(SinkConnector):
    declarations = SINK
    task_class = IcebergSinkTask
    aliases = ("IcebergSink", "org.apache.iceberg.connect.IcebergSinkConnector")

    def start(self, config: Texts) -> None:
        from moldau.pipeline.connect.connectors.iceberg.catalog import failures, open_catalog

        values = values_of(SINK, config, of=OF)
        _check(config)
        name = values["iceberg.catalog"]
        with closing(open_catalog(name, config)) as catalog, failures(f"The catalog {name}"):
            catalog.list_namespaces()
        super().start(config)

    @classmethod
    def local_paths(cls, config: Texts) -> Sequence[tuple[str, str]]:
        return local_paths_of(config)

    @classmethod
    def open_declarations(cls, config: Texts) -> Sequence[Declaration]:
        return [*of_catalog(config), *of_tables(config)]

    @classmethod
    def alter_offsets(
        cls, config: Texts, offsets: Mapping[TopicPartition, int | None], *, is_reset: bool
    ) -> None:
        from moldau.pipeline.connect.connectors.iceberg.catalog import failures, open_catalog
        from moldau.pipeline.connect.connectors.iceberg.stored_offsets import require_effect

        values = values_of(SINK, config, of=OF)
        name, connector = values["iceberg.catalog"], config.get("name", OF)
        with closing(open_catalog(name, config)) as catalog, failures(f"The catalog {name}"):
            require_effect(catalog, Routes.of(values, config), connector, offsets, is_reset=is_reset)

    @classmethod
    def check(cls, config: Texts) -> Sequence[ConfigValue]:
        try:
            _check(config)
        except (ConfigError, ConnectError) as wrong:
            named = [one.name for one in SINK if one.name in str(wrong)]
            name = min(named, key=str(wrong).index, default="iceberg.tables")
            return [ConfigValue(name, config.get(name), errors=[str(wrong)])]
        return ()


def _check(config: Texts) -> None:
    """What needs no catalog."""
    from moldau.pipeline.connect.connectors.iceberg.partition_terms import check_terms

    values = values_of(SINK, config, of=OF)
    Routes.of(values, config)
    settings = TableSettings.of(values, config)
    for terms in (settings.partition_by, *settings.partition_by_table.values()):
        check_terms(terms)
