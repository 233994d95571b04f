"""Formats consumed records: raw bytes, JSON lines, a hex dump or columns. Pure."""

import base64
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

import orjson

from moldau.cli.render.output import iso_time

HEX_BYTES_PER_LINE = 16
TABLE_HEADING = f"{'PARTITION':>9}  {'OFFSET':>10}  {'TIMESTAMP':<24}  {'KEY':<16}  VALUE"


class Record(NamedTuple):
    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    timestamp_type: str
    key: bytes | None
    value: bytes | None
    headers: Sequence[tuple[str, bytes | None]]


Formatter = Callable[[Record], bytes]


def as_json(record: Record) -> bytes:
    """One object per line. Bytes that are not UTF-8 are in base64, in a field `..._base64`."""
    fields: dict[str, object] = {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "timestamp": record.timestamp_ms,
        "timestamp_type": record.timestamp_type,
    }
    fields.update([json_field("key", record.key), json_field("value", record.value)])
    fields["headers"] = [dict([("name", name), json_field("value", value)]) for name, value in record.headers]
    return orjson.dumps(fields, option=orjson.OPT_APPEND_NEWLINE)


def json_field(name: str, data: bytes | None) -> tuple[str, str | None]:
    if data is None:
        return name, None
    try:
        return name, data.decode()
    except UnicodeDecodeError:
        return f"{name}_base64", base64.b64encode(data).decode()


def raw(fields: Collection[str], separator: bytes) -> Formatter:
    """The raw value after the chosen fields in a fixed order, and a line feed."""
    writers: list[Callable[[Record], bytes]] = [
        write for name, write in _RAW_FIELDS.items() if name in fields or name == "value"
    ]

    def write(record: Record) -> bytes:
        return separator.join([write(record) for write in writers]) + b"\n"

    return write


def _header_text(record: Record) -> bytes:
    return b",".join(name.encode() + b"=" + (value or b"") for name, value in record.headers)


_RAW_FIELDS: dict[str, Callable[[Record], bytes]] = {
    "timestamp": lambda record: iso_time(record.timestamp_ms).encode(),
    "partition": lambda record: str(record.partition).encode(),
    "offset": lambda record: str(record.offset).encode(),
    "headers": _header_text,
    "key": lambda record: b"null" if record.key is None else record.key,
    "value": lambda record: b"null" if record.value is None else record.value,
}


def as_hex(record: Record) -> bytes:
    """A line that identifies the record, then a hex dump of key, headers and value."""
    lines = [
        f"{record.topic} partition {record.partition} offset {record.offset} {iso_time(record.timestamp_ms)}"
    ]
    parts = [("key", record.key), *((f"header {name}", value) for name, value in record.headers)]
    for name, data in [*parts, ("value", record.value)]:
        if data is None:
            lines.append(f"  {name}: null")
            continue
        lines.append(f"  {name}: {len(data)} bytes")
        lines += [
            _hex_line(start, data[start : start + HEX_BYTES_PER_LINE])
            for start in range(0, len(data), HEX_BYTES_PER_LINE)
        ]
    return "\n".join([*lines, ""]).encode()


def _hex_line(start: int, chunk: bytes) -> str:
    text = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in chunk)
    return f"    {start:08x}  {chunk.hex(' '):<{HEX_BYTES_PER_LINE * 3}} {text}"


def table_row(width_max: int | None) -> Formatter:
    """Columns under `TABLE_HEADING`, truncated at the width of the terminal, if any."""

    def write(record: Record) -> bytes:
        line = (
            f"{record.partition:>9}  {record.offset:>10}  {iso_time(record.timestamp_ms):<24}"
            f"  {_visible(record.key):<16}  {_visible(record.value)}"
        )
        if width_max is not None and len(line) > width_max:
            line = line[: width_max - 1] + "…"
        return line.encode() + b"\n"

    return write


def _visible(data: bytes | None) -> str:
    """One line of text. Control characters are escaped."""
    if data is None:
        return "null"
    text = data.decode(errors="backslashreplace")
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)
