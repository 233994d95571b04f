"""What the statements of all databases have in common. The children say where theirs differ."""

# ruff: noqa: S608 statements consist of quoted names; values are parameters

import re
from collections.abc import Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, ClassVar, Final, NamedTuple

from moldau.pipeline.connect.api import ConnectError
from moldau.pipeline.connect.connectors.jdbc.table_names import TableName
from moldau.pipeline.connect.data import schema as schemas
from moldau.pipeline.connect.data.schema import Schema, SchemaType

PARAMETER: Final = "\0"
"""Stands for a value in a text; drivers put in their own mark. It cannot be in a name or in a user's query."""
_PLAIN_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Sql(NamedTuple):
    text: str
    parameters: Sequence[Any] = ()

    def marked(self, mark: str) -> str:
        """For drivers that read `%` as the beginning of a mark, which they do only if there are parameters."""
        if not self.parameters:
            return self.text
        return self.text.replace("%", "%%").replace(PARAMETER, mark)


class TargetField(NamedTuple):
    """A field of a record on its way to a column."""

    name: str
    schema: Schema
    is_key: bool


class Dialect:
    name: ClassVar[str]
    mark: ClassVar[str] = '"'
    has_schemas: ClassVar[bool] = False
    """A table belongs to a schema within the database of the connection."""
    has_arrays: ClassVar[bool] = False
    types: ClassVar[dict[str, str]]
    """By the names of logical types and of plain ones."""
    key_types: ClassVar[dict[str, str]] = {}
    """Where a type cannot be that of a key."""

    def __init__(self, *, is_quoted: bool = True) -> None:
        self._is_quoted = is_quoted

    def quoted(self, name: str) -> str:
        if "\0" in name:
            raise ConnectError(f"{name!r} cannot be a name in a database: it contains the character NUL")
        if not self._is_quoted and _PLAIN_NAME.fullmatch(name):
            return name
        return f"{self.mark}{name.replace(self.mark, self.mark * 2)}{self.mark}"

    def quoted_all(self, names: Sequence[str]) -> str:
        return ", ".join(map(self.quoted, names))

    def table(self, table: TableName) -> str:
        return ".".join(map(self.quoted, table.parts))

    # Reading.

    def moment(self, columns: Sequence[str]) -> str:
        """The timestamp of a row, as it is compared: the first column that is not null."""
        quoted = self.quoted_all(columns)
        return f"COALESCE({quoted})" if len(columns) > 1 else quoted

    def moment_parameter(self) -> str:
        return PARAMETER

    # Writing.

    def insert(self, table: TableName, names: Sequence[str]) -> str:
        values = ", ".join([PARAMETER] * len(names))
        return f"INSERT INTO {self.table(table)} ({self.quoted_all(names)}) VALUES ({values})"

    def upsert(self, table: TableName, names: Sequence[str], keys: Sequence[str]) -> str:
        return f"{self.insert(table, names)} {self.on_conflict(names, keys)}"

    def on_conflict(self, names: Sequence[str], keys: Sequence[str]) -> str:
        changed = [self.quoted(name) for name in names if name not in keys]
        action = f"UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in changed)}"
        return f"ON CONFLICT ({self.quoted_all(keys)}) DO {action if changed else 'NOTHING'}"

    def update(self, table: TableName, names: Sequence[str], keys: Sequence[str]) -> str:
        """The parameters are those of `names`, then of `keys`."""
        changes = ", ".join(f"{self.quoted(name)} = {PARAMETER}" for name in names)
        return f"UPDATE {self.table(table)} SET {changes} WHERE {self._are_equal(keys)}"

    def delete(self, table: TableName, keys: Sequence[str]) -> str:
        return f"DELETE FROM {self.table(table)} WHERE {self._are_equal(keys)}"

    def _are_equal(self, keys: Sequence[str]) -> str:
        return " AND ".join(f"{self.quoted(key)} = {PARAMETER}" for key in keys)

    def unique_columns(self, table: TableName) -> Sql | None:
        """For index and column of each unique index. None: the database refuses an upsert that has no such index."""
        return None

    # Structure.

    def create_table(self, table: TableName, fields: Sequence[TargetField]) -> str:
        columns = [self._column(one) for one in fields]
        keys = [one.name for one in fields if one.is_key]
        if keys:
            columns.append(f"PRIMARY KEY ({self.quoted_all(keys)})")
        return f"CREATE TABLE IF NOT EXISTS {self.table(table)} ({', '.join(columns)})"

    def add_columns(self, table: TableName, fields: Sequence[TargetField]) -> list[str]:
        """One statement for each column: not every database takes more."""
        return [f"ALTER TABLE {self.table(table)} ADD COLUMN {self._column(one)}" for one in fields]

    def _column(self, field: TargetField) -> str:
        schema = field.schema
        text = f"{self.quoted(field.name)} {self.column_type(schema, is_key=field.is_key)}"
        if schema.default is not None and not field.is_key:
            default = self.literal(schema.default)
            text += f" DEFAULT {default}" if default else ""
        return text + (" NULL" if schema.optional and not field.is_key else " NOT NULL")

    def column_type(self, schema: Schema, *, is_key: bool) -> str:
        """Raises ConnectError for a type that the database does not have."""
        known = {**self.types, **self.key_types} if is_key else self.types
        found = known.get(schema.name or "") or known.get(schema.type)
        if found is None:
            raise ConnectError(
                f"{self.name} has no column for {schema}: replace the field by a transformation, for instance Flatten"
            )
        return found.format(scale=schema.parameters.get(schemas.SCALE, "0"))

    def literal(self, value: Any) -> str:
        """A default value in the definition of a column. Empty: it has none there."""
        match value:
            case bool():
                return "TRUE" if value else "FALSE"
            case int() | Decimal():
                return str(value)
            case float():
                return repr(value)
            case str():
                return self.text_literal(value)
            case datetime():
                return self.text_literal(value.replace(tzinfo=None).isoformat(" ", "milliseconds"))
            case date() | time():
                return self.text_literal(value.isoformat())
        return ""

    def text_literal(self, text: str) -> str:
        return "'" + text.replace("'", "''") + "'"


def plain_types(**names: str) -> dict[str, str]:
    """By SchemaType, from names such as `int32`."""
    return {SchemaType[name.upper()]: text for name, text in names.items()}
