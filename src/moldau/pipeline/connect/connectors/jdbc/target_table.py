"""The table that records are written to: which column each field has, and how a table comes to have the columns."""

import logging
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from moldau.pipeline.connect.api import ConnectError
from moldau.pipeline.connect.connectors.jdbc.columns import Column, Kind
from moldau.pipeline.connect.connectors.jdbc.dialects.dialect import Sql, TargetField
from moldau.pipeline.connect.connectors.jdbc.drivers.database import Conversion, Database, DatabaseAway
from moldau.pipeline.connect.connectors.jdbc.row_layout import RecordUnfit, RowLayout
from moldau.pipeline.connect.connectors.jdbc.sink_settings import InsertMode, Writing
from moldau.pipeline.connect.connectors.jdbc.table_names import TableName
from moldau.pipeline.connect.data import schema as schemas
from moldau.pipeline.connect.data.schema import Schema, SchemaType

log = logging.getLogger(__name__)

_NUMBERS: Final = (
    Kind.BOOLEAN,
    Kind.INT8,
    Kind.INT16,
    Kind.INT32,
    Kind.INT64,
    Kind.FLOAT32,
    Kind.FLOAT64,
    Kind.DECIMAL,
)
_NESTED: Final = (SchemaType.MAP, SchemaType.STRUCT)


@dataclass(frozen=True)
class Target:
    """The columns for one layout, in the order of its fields."""

    names: Sequence[str]
    keys: Sequence[str]
    conversions: Sequence[tuple[int, Conversion]]
    """Of the values at these places, unless they are null."""


class TargetTable:
    def __init__(self, table: TableName, writing: Writing, database: Database) -> None:
        self.table = table
        self._writing = writing
        self._database = database
        self._columns: Sequence[Column] | None = None
        self._targets: dict[int, tuple[RowLayout, Target]] = {}
        """By the identity of the layout, which is kept with it."""

    def __str__(self) -> str:
        return f"the table {self.table} of {self._database}"

    @property
    def is_known(self) -> bool:
        return self._columns is not None

    def forget(self) -> None:
        """The structure is read again: it may have been changed."""
        self._columns = None
        self._targets.clear()

    def target(self, layout: RowLayout) -> Target | None:
        """Creates the table or its columns, if that is allowed. None: there is no table yet, and nothing to delete.
        Raises RecordUnfit if the table cannot take such records."""
        known = self._targets.get(id(layout))
        if known is not None:
            return known[1]
        if self._columns is None:
            self._columns = self._database.columns(self.table)
        if self._columns is None:
            if not self._writing.creates:
                raise ConnectError(
                    f"{self._database} has no table {self.table}: create it, set auto.create=true, or name another one "
                    "in table.name.format"
                )
            if layout.is_delete:
                return None
            self._create(layout.fields)
        if self._missing(layout):
            # Another task may have added them.
            self._columns = self._database.columns(self.table)
            if missing := self._missing(layout):
                self._add(missing)
        target = self._target(layout)
        self._targets[id(layout)] = layout, target
        return target

    # Structure.

    def _create(self, fields: Sequence[TargetField]) -> None:
        log.info("%s is created", self)
        self._change([self._database.dialect.create_table(self.table, fields)])
        self._columns = self._database.columns(self.table)
        if self._columns is None:
            raise ConnectError(
                f"{self} is not there after it was created: check the user's rights and the name"
            )

    def _add(self, fields: Sequence[TargetField]) -> None:
        names = ", ".join(one.name for one in fields)
        if not self._writing.evolves:
            raise RecordUnfit(
                f"{self} has no column {names}: add it, set auto.evolve=true, or leave the field out by "
                "fields.whitelist"
            )
        required = [one.name for one in fields if not one.schema.optional and one.schema.default is None]
        if required:
            raise RecordUnfit(
                f"{self} cannot get the column {', '.join(required)}: its field is neither optional nor has a default, "
                "so there is no value for the rows that exist. Make the field optional, or add the column yourself"
            )
        log.info("%s gets the columns %s", self, names)
        self._change(self._database.dialect.add_columns(self.table, fields))
        self._columns = self._database.columns(self.table)

    def _change(self, statements: Sequence[str]) -> None:
        """What another task has done at the same moment is no failure: the caller looks at the result."""
        database = self._database
        for one in statements:
            try:
                database.execute(Sql(one))
                database.commit()
            except DatabaseAway:
                raise
            except ConnectError as failure:
                database.rollback()
                if not self._is_done_elsewhere(failure):
                    raise ConnectError(f"{self} cannot be changed by {one!r}: {failure}") from failure

    def _is_done_elsewhere(self, failure: ConnectError) -> bool:
        text = str(failure).lower()
        return any(words in text for words in ("already exists", "duplicate column", "duplicate key value"))

    # Columns.

    def _column_of(self, field: TargetField) -> Column | None:
        """With the field's name, or else with one that differs in case only."""
        columns = self._columns or ()
        exact = next((one for one in columns if one.name == field.name), None)
        if exact is not None:
            return exact
        similar = [one for one in columns if one.name.lower() == field.name.lower()]
        return similar[0] if len(similar) == 1 else None

    def _missing(self, layout: RowLayout) -> list[TargetField]:
        return [one for one in layout.fields if self._column_of(one) is None]

    def _target(self, layout: RowLayout) -> Target:
        columns = []
        for field in layout.fields:
            column = self._column_of(field)
            if column is None:
                raise ConnectError(
                    f"{self} has no column {field.name} after it was added: check the user's rights"
                )
            self._require_fit(field, column)
            columns.append(column)
        names = [one.name for one in columns]
        keys = names[: len(layout.keys)]
        if self._writing.insert_mode is InsertMode.UPSERT and not layout.is_delete:
            self._require_unique(keys)
        conversions = [
            (place, convert)
            for place, (field, column) in enumerate(zip(layout.fields, columns, strict=True))
            if (convert := self._database.writes(field.schema, column)) is not None
        ]
        return Target(names, keys, conversions)

    def _require_fit(self, field: TargetField, column: Column) -> None:
        schema = field.schema
        if schema.type in _NESTED or (schema.type is SchemaType.ARRAY and not self._takes_arrays(schema)):
            raise RecordUnfit(
                f"{self} cannot take the field {field.name}, which is a {schema.type}: replace it by a transformation, "
                "for instance Flatten"
            )
        is_text = schema.type is SchemaType.STRING or (
            schema.type is SchemaType.BYTES and schema.name != schemas.DECIMAL
        )
        if is_text and column.kind in _NUMBERS:
            raise RecordUnfit(
                f"{self} cannot take the field {field.name}: it is a {schema.type}, and the column is "
                f"{column.type_name or column.kind.name.lower()}. Change the column's type, or the field's by the "
                "transformation Cast"
            )

    def _takes_arrays(self, schema: Schema) -> bool:
        inner = schema.value_schema
        return self._database.dialect.has_arrays and inner is not None and inner.type not in _NESTED

    def _require_unique(self, keys: Sequence[str]) -> None:
        """Where the database itself would insert the row a second time."""
        sql = self._database.dialect.unique_columns(self.table)
        if sql is None:
            return
        indexes: dict[str, set[str]] = defaultdict(set)
        for index, column in self._database.execute(sql):
            indexes[index].add(column.lower())
        if not any(columns <= {one.lower() for one in keys} for columns in indexes.values()):
            raise ConnectError(not_unique(str(self), keys))


def not_unique(table: str, keys: Sequence[str]) -> str:
    return (
        f"{table} has no primary key or unique index of {', '.join(keys)}, without which insert.mode=upsert cannot "
        "find the row to replace: create it, or change pk.fields"
    )
