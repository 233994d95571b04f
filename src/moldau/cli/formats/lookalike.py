"""Guesses what unexpected bytes are, for error messages. Pure."""

import struct

import orjson

_MAGIC = (
    (b"Obj\x01", "an Avro container file"),
    (b"\xc3\x01", "Avro in the single-object encoding, without a registry's frame"),
    (b"\x1f\x8b", "gzip"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\x04\x22\x4d\x18", "an lz4 frame"),
    (b"\x82SNAPPY\x00", "snappy as Java's library frames it"),
    (b"BZh", "bzip2"),
    (b"PK\x03\x04", "a ZIP file"),
    (b"PAR1", "a Parquet file"),
    (b"\xac\xed\x00\x05", "a serialized Java object"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"%PDF", "a PDF document"),
)
_SHOWN_MAX = 40
_FIELDS_SHOWN_MAX = 8


def looks_like(data: bytes) -> str:
    if not data:
        return "an empty value"
    for magic, name in _MAGIC:
        if data.startswith(magic):
            return name
    if data[0] == 0 and len(data) > 5:
        framed = f"a record framed with schema id {int.from_bytes(data[1:5], 'big')}"
        return f"{framed}, or the number {int.from_bytes(data, 'big'):,}" if len(data) == 8 else framed
    text = _text(data)
    if text is not None:
        return _text_like(text)
    if len(data) in (4, 8):
        number = struct.unpack(">i" if len(data) == 4 else ">q", data)[0]
        return f"the number {number:,}, as an integer serializer writes it"
    if fields := protobuf_fields(data):
        shown = ", ".join(map(str, fields[:_FIELDS_SHOWN_MAX])) + (
            " ..." if len(fields) > _FIELDS_SHOWN_MAX else ""
        )
        return f"Protobuf without a registry's frame, with the fields {shown}"
    return f"{len(data):,} bytes of an unknown kind, starting with {data[:8].hex(' ')}"


def _text(data: bytes) -> str | None:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    return text if all(letter.isprintable() or letter in "\t\r\n" for letter in text) else None


def _text_like(text: str) -> str:
    shown = text.strip().replace("\n", " ")
    shown = shown if len(shown) <= _SHOWN_MAX else shown[: _SHOWN_MAX - 1] + "…"
    if shown.startswith(("{", "[")):
        try:
            orjson.loads(text)
        except orjson.JSONDecodeError:
            return f"text that begins like JSON but is not: {shown}"
        return f"plain JSON: {shown}"
    if shown.startswith("<"):
        return f"XML or HTML: {shown}"
    return f"plain text: {shown}"


def protobuf_fields(data: bytes) -> list[int]:
    """The field numbers if the bytes are a complete Protobuf message, else none."""
    fields: dict[int, None] = {}
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        number, wire_type = tag >> 3, tag & 7
        if not 1 <= number < 2**29 or wire_type not in (0, 1, 2, 5) or at < 0:
            return []
        if wire_type == 0:
            _, at = _varint(data, at)
        elif wire_type == 2:
            length, at = _varint(data, at)
            at += length if at >= 0 else 0
        else:
            at += 8 if wire_type == 1 else 4
        if not 0 < at <= len(data):
            return []
        fields[number] = None
    return list(fields)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """The number and the position after it, -1 if it is incomplete."""
    value = shift = 0
    while 0 <= at < len(data) and shift < 70:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
    return 0, -1
