"""Rows whose schema is in the registry: which schema is written with, and which a record was written with.

A writer uses, in this order: the schema that WITH names by its id; the newest of the subject, if it holds the columns;
the one generated from the columns, which it registers.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from moldau.pipeline.serdes.serde import Decoder, Encoder, Serde
from moldau.pipeline.sql.definitions import Format
from moldau.pipeline.sql.formats.registry import SECRET, SchemaFinder, finder_of, subject_of
from moldau.pipeline.sql.formats.registry_framing import prefix_of, schema_id_of
from moldau.pipeline.sql.formats.subject_schema import SubjectSchema
from moldau.pipeline.sql.syntax.errors import SqlError
from moldau.pipeline.sql.types import Column

Columns = Sequence[Column]


@dataclass(frozen=True, slots=True)
class SchemaLanguage:
    """Pure functions of a format. Those that take a schema raise ValueError where it does not fit the columns."""

    format: str
    generated: Callable[[Format, Columns], SubjectSchema]
    """SqlError where the format cannot hold the columns."""
    writer: Callable[[Format, SubjectSchema, Columns, bytes], Callable[[Any], bytes]]
    """Of rows; puts the bytes that it is given in front."""
    reader: Callable[[Format, SubjectSchema, Columns, Sequence[str] | None], Callable[[bytes], Any]]
    """Of records with the id in front."""
    needs_schema_to_read: bool = True
    can_unwrap: bool = True
    """Whether a column can be written by itself."""


class SchemaRowSerde(Serde):
    def __init__(
        self, language: SchemaLanguage, form: Format, columns: Columns, wanted: Sequence[str] | None = None
    ) -> None:
        self._language = language
        self._form = form
        self._columns = tuple(columns)
        self._wanted = None if wanted is None else tuple(wanted)
        self._own = language.generated(form, self._columns)

    @property
    def name(self) -> str:
        said = ", ".join(f"{name}={value}" for name, value in self._form.properties if name not in SECRET)
        shown = f"{'' if self._form.is_wrapped else 'single '}{', '.join(map(str, self._columns))}; {said}"
        return f"{self._language.format.lower()}({shown}{'' if self._wanted is None else f' for {self._wanted}'})"

    def __reduce__(self) -> Any:
        from moldau.pipeline.sql.formats.catalog import serde_again

        return serde_again, (self._form, self._columns, self._wanted)

    def encoder(self, topic: str, *, is_key: bool) -> Encoder:
        if not self._columns and is_key:
            return lambda row: None
        finder, write = finder_of(self._form), None
        can_unwrap = self._language.can_unwrap and not self._form.is_wrapped
        is_single = can_unwrap and len(self._columns) == 1

        def encode(row: Any) -> bytes | None:
            nonlocal write
            if row is None or (is_single and row[0] is None):
                return None
            if write is None:
                write = self._writer(finder, subject_of(topic, is_key=is_key))
            return write(row)

        return encode

    def _writer(self, finder: SchemaFinder, subject: str) -> Callable[[Any], bytes]:
        schema_id = dict(self._form.properties).get("SCHEMA_ID")
        if schema_id is not None:
            named = _existing(finder, int(schema_id))
            try:
                return self._writer_with(named, int(schema_id))
            except ValueError as wrong:
                raise SqlError(
                    f"rows cannot be written as {self._language.format} with the schema {schema_id}: {wrong}",
                    hint="Name a schema that has the columns.",
                ) from None
        latest = finder.latest(subject)
        if latest is not None and latest.id is not None and latest.type == self._own.type:
            try:
                return self._writer_with(latest, latest.id)
            except ValueError:
                pass  # The registry decides whether the columns' own schema may follow it.
        return self._writer_with(self._own, finder.registered(subject, self._own))

    def _writer_with(self, schema: SubjectSchema, schema_id: int) -> Callable[[Any], bytes]:
        return self._language.writer(self._form, schema, self._columns, prefix_of(schema_id))

    def decoder(self, topic: str, *, is_key: bool) -> Decoder:
        if not self._columns:
            return lambda data: None if data is None or is_key else ()
        language, readers = self._language, dict[int, Callable[[bytes], Any]]()
        if not language.needs_schema_to_read:
            read_any = language.reader(self._form, self._own, self._columns, self._wanted)
            return lambda data: None if data is None else read_any(data)
        finder = finder_of(self._form)

        def decode(data: bytes | None) -> Any:
            if data is None:
                return None
            schema_id = schema_id_of(data, language.format)
            read = readers.get(schema_id)
            if read is None:
                read = readers[schema_id] = self._reader(finder, schema_id)
            return read(data)

        return decode

    def _reader(self, finder: SchemaFinder, schema_id: int) -> Callable[[bytes], Any]:
        schema = finder.by_id(schema_id)
        if schema is None:
            raise ValueError(
                f"the record names the schema {schema_id}, which the schema registry at {finder.url} does not have"
            )
        if schema.type != self._own.type:
            raise ValueError(
                f"the record's schema {schema_id} is {schema.type}, and the format is {self._language.format}"
            )
        try:
            return self._language.reader(self._form, schema, self._columns, self._wanted)
        except ValueError as wrong:
            raise ValueError(
                f"a record of the schema {schema_id} does not give the columns in {self._language.format}: {wrong}"
            ) from None


def _existing(finder: SchemaFinder, schema_id: int) -> SubjectSchema:
    found = finder.by_id(schema_id)
    if found is None:
        raise SqlError(
            f"the schema registry at {finder.url} has no schema {schema_id}",
            hint="The id is in KEY_SCHEMA_ID or VALUE_SCHEMA_ID.",
        )
    return found
