"""Names of tables: parsed, printed, and chosen by the lists and patterns of a configuration. Pure."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from moldau.core.errors import ConfigError

_PART: Final = re.compile(r'"((?:[^"]|"")+)"|`((?:[^`]|``)+)`|([^."`][^.]*)')


@dataclass(frozen=True, order=True)
class TableName:
    name: str
    schema: str = ""
    """Of PostgreSQL. Empty: the first schema of the search path that has the table."""
    catalog: str = ""
    """Of MySQL and MariaDB: the database. Empty: that of the connection."""

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(part for part in (self.catalog, self.schema, self.name) if part)

    def __str__(self) -> str:
        """As source offsets have it."""
        return ".".join(self.parts)

    def is_named(self, asked: str) -> bool:
        """By its name, or by its name with schema or database; either with quotes."""
        parts = split_name(asked)
        return parts == self.parts[-len(parts) :] or asked == self.name


def split_name(text: str) -> tuple[str, ...]:
    """`a.b` and `"a"."b"` into parts. Raises ConfigError for an open quote or an empty part."""
    parts, start = [], 0
    while True:
        found = _PART.match(text, start)
        if found is None or (found.end() < len(text) and text[found.end()] != "."):
            raise ConfigError(
                f"{text!r} is not the name of a table: it takes table, schema.table, or these with quotes"
            )
        quoted, ticked, plain = found.groups()
        parts.append(plain or (quoted or "").replace('""', '"') or (ticked or "").replace("``", "`"))
        if found.end() == len(text):
            return tuple(parts)
        start = found.end() + 1


def table_named(text: str, *, has_schemas: bool) -> TableName:
    """`has_schemas`: what stands before the name is a schema, otherwise a database."""
    parts = split_name(text)
    match parts, has_schemas:
        case (name,), _:
            return TableName(name)
        case (schema, name), True:
            return TableName(name, schema=schema)
        case (catalog, name), False:
            return TableName(name, catalog=catalog)
        case (catalog, schema, name), True:
            return TableName(name, schema=schema, catalog=catalog)
    raise ConfigError(f"{text!r} is not the name of a table: it has too many dots")


@dataclass(frozen=True)
class TableFilter:
    """`table.whitelist` or `table.blacklist`."""

    included: Sequence[str] = ()
    excluded: Sequence[str] = ()

    def chosen(self, tables: Iterable[TableName]) -> list[TableName]:
        return sorted(one for one in tables if self._takes(one))

    def absent(self, tables: Sequence[TableName]) -> list[str]:
        """What is asked for and does not exist."""
        return [asked for asked in self.included if not any(one.is_named(asked) for one in tables)]

    def _takes(self, table: TableName) -> bool:
        if self.included:
            return any(table.is_named(asked) for asked in self.included)
        return not any(table.is_named(asked) for asked in self.excluded)


def clashes(tables: Iterable[TableName]) -> list[tuple[TableName, TableName]]:
    """Tables of different schemas with one name, and so with one topic."""
    first: dict[str, TableName] = {}
    return [(first[one.name], one) for one in tables if first.setdefault(one.name, one) is not one]
