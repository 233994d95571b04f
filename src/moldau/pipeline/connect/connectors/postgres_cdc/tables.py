"""A captured table: the schemas of its keys and values, and the records of its changes. Pure.

A table that has been altered is a new `CapturedTable`.
"""

import logging
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from moldau.pipeline.connect.api import ConnectError
from moldau.pipeline.connect.connectors.postgres_cdc.envelope import envelope_schema
from moldau.pipeline.connect.connectors.postgres_cdc.pgoutput import UNCHANGED, Unchanged
from moldau.pipeline.connect.connectors.postgres_cdc.positions import Key
from moldau.pipeline.connect.connectors.postgres_cdc.settings import Settings
from moldau.pipeline.connect.connectors.postgres_cdc.types.columns import (
    Modes,
    Read,
    TypeInfo,
    column_type,
    fallback,
    unavailable,
)
from moldau.pipeline.connect.data import schema as schemas
from moldau.pipeline.connect.data.schema import Schema
from moldau.pipeline.connect.data.struct import Struct

log = logging.getLogger(__name__)

_NOT_IN_TOPICS: Final = re.compile(r"[^a-zA-Z0-9._-]")
_NOT_IN_NAMES: Final = re.compile(r"[^a-zA-Z0-9._]")

Texts = Sequence[str | Unchanged | None]


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    type: TypeInfo
    modifier: int = -1
    is_optional: bool = True


@dataclass(frozen=True, slots=True)
class TableShape:
    """A table as the catalog or the log describes it."""

    schema: str
    name: str
    columns: tuple[Column, ...]
    primary_key: tuple[str, ...] = ()

    @property
    def full_name(self) -> str:
        return f"{self.schema}.{self.name}"


class _Captured(NamedTuple):
    place: int
    """Of the column's text in a row."""
    name: str
    schema: Schema
    read: Read


class CapturedTable:
    def __init__(self, shape: TableShape, settings: Settings) -> None:
        self.shape = shape
        self._modes: Modes = settings.modes
        full = f"{settings.prefix}.{shape.schema}.{shape.name}"
        self.topic = topic_name(full)
        name = _NOT_IN_NAMES.sub("_", full)
        self._columns = list(self._captured(settings))
        fields = {one.name: one.schema for one in self._columns}
        self.value_schema = schemas.struct(fields, name=f"{name}.Value", optional=True)
        self.envelope_schema = envelope_schema(name, self.value_schema)
        places = {column.name: place for place, column in enumerate(shape.columns)}
        self._primary_places = [places[one] for one in shape.primary_key if one in places]
        asked = settings.selection.key_of(shape.schema, shape.name)
        keys = shape.primary_key if asked is None else asked
        missing = [one for one in keys if one not in places]
        if missing:
            raise ConnectError(
                f"message.key.columns names {', '.join(missing)}, which {shape.full_name} does not have: it has "
                f"{', '.join(places)}"
            )
        self._key_columns = self._keys(keys)
        self.key_schema: Schema | None = None
        if self._key_columns:
            self.key_schema = schemas.struct(
                {one.name: one.schema for one in self._key_columns}, name=f"{name}.Key"
            )

    def row(self, texts: Texts, old: Texts | None = None) -> Struct:
        """A complete row. `old` has values that the log leaves out of the new one."""
        values = []
        for place, name, schema, read in self._columns:
            text = texts[place]
            if text is UNCHANGED and old is not None:
                text = old[place]
            if text is None:
                values.append(None if schema.optional else fallback(schema))
            elif isinstance(text, str):
                values.append(self._value(name, read, text))
            else:
                values.append(unavailable(schema, self._modes))
        return Struct(self.value_schema, values)

    def key(self, texts: Texts) -> Struct | None:
        if self.key_schema is None:
            return None
        values: list[Any] = []
        for place, name, schema, read in self._key_columns:
            text = texts[place]
            if isinstance(text, str):
                values.append(self._value(name, read, text))
            else:
                values.append(None if schema.optional else fallback(schema))
        return Struct(self.key_schema, values)

    def has_other_key(self, old: Texts, new: Texts) -> bool:
        """False if the old key is not known: the log has it only where it has changed."""
        places = [one.place for one in self._key_columns] or self._primary_places
        if not all(isinstance(old[place], str) for place in places):
            return False
        return any(old[place] != new[place] and new[place] is not UNCHANGED for place in places)

    def primary_key(self, texts: Texts) -> Key | None:
        """As texts. None without a primary key, or where the log does not have it."""
        found = tuple(texts[place] for place in self._primary_places)
        if not found or not all(isinstance(one, str) for one in found):
            return None
        return found  # type: ignore[return-value]

    def _captured(self, settings: Settings) -> Iterable[_Captured]:
        shape = self.shape
        for place, column in enumerate(shape.columns):
            if not settings.selection.has_column(shape.schema, shape.name, column.name):
                continue
            found = column_type(column.type, column.modifier, settings.modes)
            if found is None:
                log.warning(
                    "%s.%s has the type %s, which has no form in Connect: the column is left out",
                    shape.full_name,
                    column.name,
                    column.type.name,
                )
                continue
            schema = replace(found.schema, optional=True) if column.is_optional else found.schema
            yield _Captured(place, column.name, schema, found.read)

    def _keys(self, names: Sequence[str]) -> list[_Captured]:
        """Also those that are left out of the value."""
        found = []
        for name in names:
            place = next(place for place, one in enumerate(self.shape.columns) if one.name == name)
            column = self.shape.columns[place]
            kind = column_type(column.type, column.modifier, self._modes)
            if kind is None:
                raise ConnectError(
                    f"{self.shape.full_name}.{name} is part of the key and has the type {column.type.name}, which has "
                    "no form in Connect: set message.key.columns to other columns"
                )
            is_optional = column.is_optional and name not in self.shape.primary_key
            schema = replace(kind.schema, optional=True) if is_optional else kind.schema
            found.append(_Captured(place, name, schema, kind.read))
        return found

    def _value(self, name: str, read: Read, text: str) -> Any:
        try:
            return read(text)
        except ConnectError as failure:
            raise ConnectError(f"{self.shape.full_name}.{name}: {failure}") from failure
        except (ValueError, ArithmeticError, IndexError) as failure:
            raise ConnectError(
                f"{self.shape.full_name}.{name} holds {text[:100]!r}, which cannot be read: {failure}"
            ) from failure


def topic_name(name: str) -> str:
    return _NOT_IN_TOPICS.sub("_", name)
