"""Which schemas, tables and columns are captured. Pure."""

from collections.abc import Sequence
from typing import Any, Final

from moldau.pipeline.java_texts.regex import to_search

NAME_LENGTH: Final = 200
"""Three names of 63 bytes, with points between them."""


class Patterns:
    """A list of names to include, or of names to exclude: regular expressions that match a name whole, in any case."""

    def __init__(self, include: Sequence[str], exclude: Sequence[str]) -> None:
        """Raises ValueError for what is no regular expression."""
        self._include = [_whole(one) for one in include]
        self._exclude = [_whole(one) for one in exclude]

    def accept(self, name: str) -> bool:
        if self._include:
            return any(one.search(name) for one in self._include)
        return not any(one.search(name) for one in self._exclude)


class Selection:
    def __init__(self, *, schemas: Patterns, tables: Patterns, columns: Patterns, keys: str) -> None:
        self._schemas = schemas
        self._tables = tables
        self._columns = columns
        self._keys: list[tuple[Any, tuple[str, ...]]] = []
        for one in filter(None, (part.strip() for part in keys.split(";"))):
            table, separator, columns_text = one.rpartition(":")
            if not separator or not columns_text.strip():
                raise ValueError(f"message.key.columns has {one!r}: it takes schema.table:column,column")
            names = tuple(name.strip() for name in columns_text.split(","))
            self._keys.append((_whole(table), names))

    def has_table(self, schema: str, table: str) -> bool:
        # PostgreSQL reserves the prefix.
        if schema == "information_schema" or schema.startswith("pg_"):
            return False
        return self._schemas.accept(schema) and self._tables.accept(f"{schema}.{table}")

    def has_column(self, schema: str, table: str, column: str) -> bool:
        return self._columns.accept(f"{schema}.{table}.{column}")

    def key_of(self, schema: str, table: str) -> tuple[str, ...] | None:
        """None: the primary key."""
        name = f"{schema}.{table}"
        return next((columns for pattern, columns in self._keys if pattern.search(name)), None)


def _whole(pattern: str) -> Any:
    return to_search(f"(?i)^(?:{pattern.strip()})$", "x" * NAME_LENGTH)
