"""Writes records to one table: makes it, changes its columns, commits rows with their offsets. Imports pyiceberg."""

import logging
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from random import uniform
from typing import Any, Final

import pyarrow as pa
from pyiceberg.catalog import Catalog
from pyiceberg.exceptions import (
    CommitFailedException,
    NamespaceAlreadyExistsError,
    NoSuchTableError,
    TableAlreadyExistsError,
    ValidationError,
)
from pyiceberg.table import Table

from moldau.pipeline.connect.api import ConnectError, RetriableError, TopicPartition
from moldau.pipeline.connect.connectors.files.formats.arrow_values import ARROW
from moldau.pipeline.connect.connectors.files.formats.plain_values import VALUE, Convert, to_plain
from moldau.pipeline.connect.connectors.iceberg.catalog import failures
from moldau.pipeline.connect.connectors.iceberg.columns import (
    adopted_schema,
    check_names,
    columns_of,
    fitted,
    has_columns,
    iceberg_schema,
    inferred_schema,
    merged_schema,
    optional_schema,
)
from moldau.pipeline.connect.connectors.iceberg.commits import Ends, ends_in, property_of, text_of
from moldau.pipeline.connect.connectors.iceberg.partition_terms import check_terms, partition
from moldau.pipeline.connect.connectors.iceberg.rows import Rows
from moldau.pipeline.connect.connectors.iceberg.settings import TableSettings
from moldau.pipeline.connect.data import schema as schemas
from moldau.pipeline.connect.data.derived import Derived
from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.records import SinkRecord
from moldau.pipeline.connect.data.schema import Schema, SchemaType

log = logging.getLogger(__name__)

ATTEMPTS_MAX: Final = 20
"""Of a commit, while other writers come first."""
PAUSE_S_MAX: Final = 0.5
RETRIES: Final = "commit.retry.num-retries"


class TableWriter:
    def __init__(self, catalog: Catalog, name: str, connector: str, settings: TableSettings) -> None:
        self.name = name
        self.rows = Rows()
        self.ends: Ends = {}
        """Which records the table had at the last commit."""
        self._catalog = catalog
        self._property = property_of(connector)
        self._settings = settings
        self._table: Table | None = None
        self._columns: pa.Schema = pa.schema([])
        """Of the table."""
        self._converts: Derived[Convert] = Derived(self._convert_of)

    def put(self, place: TopicPartition, record: SinkRecord) -> None:
        """Raises DataError for a record that does not fit, RetriableError when the catalog is away."""
        if record.value_schema is None:
            row = self._plain_row(record.value)
        else:
            row = self._converts.of(record.value_schema)(record.value)
        self.rows.add(place, record.offset, row, self._columns)

    def drop(self, places: Collection[TopicPartition]) -> None:
        self.rows.drop(places)

    def commit(self) -> None:
        """All rows that the table does not have. May be repeated after a RetriableError."""
        for _ in range(ATTEMPTS_MAX):
            if not len(self.rows):
                return
            table = self._loaded(refreshes=True)
            if table is None:
                raise ConnectError(
                    f"The table {self.name} has disappeared while records were written to it: restart the task, and it "
                    "is made again"
                )
            with failures(f"The table {self.name}"):
                self.ends = ends = self._ends(table)
                self.rows.drop_written(ends)
                if not len(self.rows) or self._commit(table, ends):
                    self.rows.clear()
                    return
            # Another writer was first. What it wrote may have been these rows, by a task that lives twice.
            time.sleep(uniform(0, PAUSE_S_MAX))
        raise RetriableError(
            f"The table {self.name}: other writers have committed before this task {ATTEMPTS_MAX} times in a row. It "
            "is tried again"
        )

    # Commits

    def _commit(self, table: Table, ends: Ends) -> bool:
        """False if the table has got another snapshot in the meantime."""
        text = text_of({**ends, **self.rows.ends()})
        count = len(self.rows)
        # Pyiceberg would commit the same rows behind a snapshot whose offsets have not been looked at. The property is
        # set in the copy that this process has, not in the table.
        table.metadata.properties[RETRIES] = "0"
        transaction = table.transaction()
        transaction.append(self.rows.table(self._columns), snapshot_properties={self._property: text})
        transaction.set_properties({self._property: text})
        try:
            transaction.commit_transaction()
        except CommitFailedException as failure:
            log.info("%s: another writer was first: %s", self.name, failure)
            return False
        log.debug("%s: %d rows committed", self.name, count)
        return True

    def _ends(self, table: Table) -> Ends:
        return ends_in(summaries(table), table.metadata.properties, self._property)

    # The table

    def _loaded(self, *, refreshes: bool = False) -> Table | None:
        """None if it does not exist."""
        if self._table is None or refreshes:
            with failures(f"The table {self.name}"):
                try:
                    self._use(self._catalog.load_table(self.name))
                except NoSuchTableError:
                    self._table = None
        return self._table

    def _use(self, table: Table) -> None:
        columns = iceberg_schema(table.schema().as_arrow())
        if not columns.equals(self._columns):
            self._columns = columns
            self._converts = Derived(self._convert_of)
        self._table = table

    def _make(self, records: pa.Schema) -> None:
        settings = self._settings
        if not settings.creates:
            raise ConnectError(
                f"The table {self.name} does not exist: create it, or set iceberg.tables.auto-create-enabled=true"
            )
        terms = settings.partition_by_table.get(self.name, settings.partition_by)
        check_terms(terms)
        with failures(f"The table {self.name}"):
            namespace = tuple(self.name.split(".")[:-1])
            with suppress(NamespaceAlreadyExistsError):
                self._catalog.create_namespace(namespace)
            columns = optional_schema(records) if settings.forces_optional else records
            try:
                # One commit: there is no moment at which the table is there without its partitions.
                with self._catalog.create_table_transaction(
                    self.name, columns, properties=dict(settings.properties)
                ) as made:
                    partition(made, terms, self.name)
            except (TableAlreadyExistsError, CommitFailedException) as failure:
                log.info("%s: another writer has made the table first: %s", self.name, failure)
                return
        log.info("%s: the table has been created", self.name)

    def _fit(self, records: pa.Schema) -> None:
        """Makes or changes the table so that it has columns for such records. Raises DataError if it cannot."""
        check_names(records)
        table = self._loaded()
        if table is None:
            if not len(records):
                raise DataError("its value has no fields, and a table has at least one column")
            self._make(records)
            table = self._loaded()
            assert table is not None
        for _ in range(ATTEMPTS_MAX):
            wanted = merged_schema(self._columns, records)
            if wanted.equals(self._columns):
                return
            if not self._settings.evolves:
                self._check_unchanged(records)
                return
            with failures(f"The table {self.name}"):
                try:
                    with table.update_schema() as update:
                        update.union_by_name(wanted)
                    log.info("%s: the columns have changed", self.name)
                except CommitFailedException as failure:
                    log.info("%s: another writer was first: %s", self.name, failure)
                except ValidationError as wrong:
                    raise DataError(f"the table {self.name} cannot get the columns for it: {wrong}") from None
            table = self._loaded(refreshes=True)
            assert table is not None
        raise RetriableError(f"The columns of {self.name} cannot be changed, as others are changing them")

    def _check_unchanged(self, records: pa.Schema) -> None:
        """Columns may be missing, but those there are must fit."""
        known = pa.schema([one for one in records if self._columns.get_field_index(one.name) >= 0])
        wanted = merged_schema(self._columns, known)
        for one, needed in zip(self._columns, wanted, strict=True):
            if _is_required_changed(one, needed):
                raise DataError(
                    f"column {one.name} is {one.type}, {_need(one)}, and the record would need {needed.type}, "
                    f"{_need(needed)}: change the table, or set iceberg.tables.evolve-schema-enabled=true"
                )

    # Rows

    def _convert_of(self, schema: Schema) -> Convert:
        is_row = schema.type is SchemaType.STRUCT
        self._fit(columns_of(schema if is_row else schemas.struct({VALUE: schema})))
        convert = to_plain(schema, ARROW)
        return convert if is_row else lambda value: {VALUE: convert(value)}

    def _plain_row(self, value: Any) -> dict[str, Any]:
        row: Mapping[str, Any] = value if isinstance(value, dict) else {VALUE: value}
        kind = pa.struct(list(self._columns))
        if self._loaded() is None or (self._settings.evolves and not has_columns(row, kind)):
            try:
                self._fit(adopted_schema(self._columns, inferred_schema(row)))
            except pa.ArrowException as wrong:
                raise DataError(f"its fields cannot be columns: {wrong}") from None
        return {one.name: fitted(row.get(one.name), one) for one in self._columns}


def summaries(table: Table) -> Iterator[Mapping[str, str]]:
    """From the current snapshot back to the first that is kept."""
    snapshot = table.current_snapshot()
    while snapshot is not None:
        if snapshot.summary is not None:
            yield snapshot.summary.additional_properties
        parent = snapshot.parent_snapshot_id
        snapshot = None if parent is None else table.snapshot_by_id(parent)


def _is_required_changed(table: pa.Field, needed: pa.Field) -> bool:
    if pa.types.is_struct(table.type):
        return not table.nullable and needed.nullable
    return not needed.equals(table)


def _need(field: pa.Field) -> str:
    return "optional" if field.nullable else "required"
