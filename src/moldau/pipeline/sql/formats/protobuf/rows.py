"""Rows as Protobuf messages, with and without the schema registry."""

from collections.abc import Callable, Sequence
from typing import Any

from moldau.pipeline.serdes.serde import Decoder, Encoder, Serde
from moldau.pipeline.sql.definitions import Format
from moldau.pipeline.sql.formats.protobuf.columns import columns_of
from moldau.pipeline.sql.formats.protobuf.messages import Messages, message_class, messages_of
from moldau.pipeline.sql.formats.protobuf.schemas import protobuf_schema
from moldau.pipeline.sql.formats.protobuf.values import Convert, field_reader, field_writer, matching_fields
from moldau.pipeline.sql.formats.registry_framing import PREFIX_SIZE
from moldau.pipeline.sql.formats.subject_schema import SubjectSchema
from moldau.pipeline.sql.types import Column

FAILURES = (ValueError, TypeError, ArithmeticError, LookupError, AttributeError)


def protobuf_writer(
    form: Format, schema: SubjectSchema, columns: Sequence[Column], prefix: bytes
) -> Callable[[Any], bytes]:
    """Of rows that are not None. ValueError where the schema does not hold the columns."""
    messages = messages_of(schema)
    message = messages.named(dict(form.properties).get("SCHEMA_FULL_NAME"))
    front = prefix + _indexes(messages.indexes_of(message))
    write = _message_writer(message, columns)
    return lambda row: front + write(row)


def protobuf_reader(
    form: Format, schema: SubjectSchema, columns: Sequence[Column], wanted: Sequence[str] | None
) -> Callable[[bytes], Any]:
    """Of records with the schema's id in front. ValueError where the schema does not give the columns."""
    messages = messages_of(schema)
    readers: dict[tuple[int, ...], Callable[[bytes], Any]] = {}

    def decode(data: bytes) -> Any:
        indexes, at = _read_indexes(data)
        read = readers.get(indexes)
        if read is None:
            read = readers[indexes] = _message_reader(messages.at(indexes), columns, wanted)
        return read(data[at:])

    _check_any(messages, form, columns, wanted)
    return decode


def _check_any(
    messages: Messages, form: Format, columns: Sequence[Column], wanted: Sequence[str] | None
) -> None:
    """Fails early where the schema's main message does not fit."""
    _message_reader(messages.named(dict(form.properties).get("SCHEMA_FULL_NAME")), columns, wanted)


def protobuf_columns(
    form: Format, schema: SubjectSchema, name: str, named: Callable[[str], str]
) -> tuple[Column, ...]:
    return columns_of(messages_of(schema).named(dict(form.properties).get("SCHEMA_FULL_NAME")), named)


class ProtobufRowSerde(Serde):
    """PROTOBUF_NOSR: the message of the columns, with nothing in front."""

    def __init__(self, form: Format, columns: Sequence[Column], wanted: Sequence[str] | None = None) -> None:
        self._columns = tuple(columns)
        self._schema = protobuf_schema(form, columns)
        self._wanted = None if wanted is None else tuple(wanted)

    @property
    def name(self) -> str:
        shown = f"{', '.join(map(str, self._columns))}; {self._schema.text}"
        return f"protobuf({shown}{'' if self._wanted is None else f' for {self._wanted}'})"

    def encoder(self, topic: str, *, is_key: bool) -> Encoder:
        if not self._columns and is_key:
            return lambda row: None
        write = _message_writer(messages_of(self._schema).named(None), self._columns)
        return lambda row: None if row is None else write(row)

    def decoder(self, topic: str, *, is_key: bool) -> Decoder:
        if not self._columns:
            return lambda data: None if data is None or is_key else ()
        read = _message_reader(messages_of(self._schema).named(None), self._columns, self._wanted)
        return lambda data: None if data is None else read(data)


def _message_writer(message: Any, columns: Sequence[Column]) -> Callable[[Any], bytes]:
    make = message_class(message)
    found = matching_fields(message, [column.name for column in columns])
    parts = []
    for column, field in zip(columns, found, strict=True):
        if field is None:
            raise ValueError(f"the message {message.full_name} has no field for the column {column.name}")
        parts.append((field.name, _named(column, field_writer(field, column.type))))

    def write(row: Any) -> bytes:
        fields = {
            name: convert(value)
            for (name, convert), value in zip(parts, row, strict=True)
            if value is not None
        }
        try:
            made: bytes = make(**fields).SerializeToString()
        except FAILURES as wrong:
            raise ValueError(f"the row cannot be written as PROTOBUF: {wrong}") from None
        return made

    return write


def _message_reader(
    message: Any, columns: Sequence[Column], wanted: Sequence[str] | None
) -> Callable[[bytes], Any]:
    from google.protobuf.message import DecodeError

    parse = message_class(message).FromString
    found = matching_fields(message, [column.name for column in columns])
    parts = [
        _nothing
        if field is None or (wanted is not None and column.name not in wanted)
        else _named(column, field_reader(field, column.type))
        for column, field in zip(columns, found, strict=True)
    ]

    def read(data: bytes) -> Any:
        try:
            value = parse(data)
        except DecodeError as wrong:
            raise ValueError(f"the record does not decode as PROTOBUF {message.full_name}: {wrong}") from None
        return tuple([part(value) for part in parts])

    return read


def _named(column: Column, convert: Convert) -> Convert:
    """What goes wrong names the column."""

    def named(value: Any) -> Any:
        try:
            return convert(value)
        except FAILURES as wrong:
            raise ValueError(f"column {column.name} {column.type}: {wrong}") from None

    return named


def _indexes(path: Sequence[int]) -> bytes:
    """Which message of the schema: their count and the indexes as zigzag varints; the first one is a single zero."""
    if list(path) == [0]:
        return b"\0"
    return b"".join(_varint(number << 1) for number in (len(path), *path))


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _read_indexes(data: bytes) -> tuple[tuple[int, ...], int]:
    """The path, and where the message begins."""
    if data[PREFIX_SIZE : PREFIX_SIZE + 1] == b"\0":
        return (0,), PREFIX_SIZE + 1
    count, at = _read_varint(data, PREFIX_SIZE)
    found = []
    for _ in range(count):
        number, at = _read_varint(data, at)
        found.append(number)
    return tuple(found), at


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data) and shift < 35:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value >> 1 ^ -(value & 1), at
    raise ValueError("the PROTOBUF record ends before its message begins")


def _nothing(_: Any) -> None:
    return None
