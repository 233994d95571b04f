"""Keys and values in the formats of Kafka's own serializers: numbers, strings, booleans, UUIDs, JSON, hex, bytes.

None of them needs a schema registry.
"""

import struct
import uuid
from collections.abc import Callable
from typing import Any

import orjson

from moldau.cli.render.output import counted

Encode = Callable[[bytes], bytes]
Decode = Callable[[bytes, Any], bytes]


class Undecodable(Exception):
    """Bytes that do not have the format given."""


_LAYOUTS = {"short": ">h", "int": ">i", "long": ">q", "float": ">f", "double": ">d"}
_FLOATING = {"float", "double"}
_BOOLEANS = {b"false": b"\x00", b"true": b"\x01"}


def _number_encoder(form: str) -> Encode:
    layout, parse = _LAYOUTS[form], float if form in _FLOATING else int

    def encode(text: bytes) -> bytes:
        try:
            return struct.pack(layout, parse(text))
        except (ValueError, struct.error, OverflowError) as error:
            raise ValueError(f"{text.decode(errors='replace')!r} is not a valid {form}") from error

    return encode


def _number_decoder(form: str) -> Decode:
    layout = struct.Struct(_LAYOUTS[form])

    def decode(data: bytes, _headers: Any) -> bytes:
        if len(data) != layout.size:
            raise Undecodable(f"has {counted(len(data), 'byte')}, but {_article(form)} has {layout.size}")
        return repr(layout.unpack(data)[0]).encode()

    return decode


def _article(form: str) -> str:
    return f"an {form}" if form == "int" else f"a {form}"


def _encode_string(text: bytes) -> bytes:
    try:
        text.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"it is not UTF-8 ({error.reason} at byte {error.start})") from error
    return text


def _decode_string(data: bytes, _headers: Any) -> bytes:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        raise Undecodable(f"is not UTF-8 ({error.reason} at byte {error.start})") from error
    return data


def _encode_json(text: bytes) -> bytes:
    try:
        return orjson.dumps(orjson.loads(text))
    except orjson.JSONDecodeError as error:
        raise ValueError(f"it is not valid JSON ({error})") from error


def _decode_json(data: bytes, _headers: Any) -> bytes:
    try:
        return orjson.dumps(orjson.loads(data))
    except orjson.JSONDecodeError as error:
        raise Undecodable(f"is not valid JSON ({error})") from error


def _encode_hex(text: bytes) -> bytes:
    try:
        return bytes.fromhex(text.decode("ascii"))
    except ValueError as error:
        raise ValueError("it is not a sequence of hexadecimal digit pairs") from error


def _encode_boolean(text: bytes) -> bytes:
    if text not in _BOOLEANS:
        raise ValueError(f"{text.decode(errors='replace')!r} is neither true nor false")
    return _BOOLEANS[text]


def _decode_boolean(data: bytes, _headers: Any) -> bytes:
    for text, stored in _BOOLEANS.items():
        if data == stored:
            return text
    raise Undecodable("is not a boolean, which is one byte, 0 or 1")


def _encode_uuid(text: bytes) -> bytes:
    """Kafka's serializer writes the text form."""
    try:
        return str(uuid.UUID(text.decode())).encode()
    except ValueError as error:
        raise ValueError(f"{text.decode(errors='replace')!r} is not a UUID") from error


def _decode_uuid(data: bytes, _headers: Any) -> bytes:
    try:
        return str(uuid.UUID(data.decode())).encode()
    except ValueError as error:
        raise Undecodable("is not the text of a UUID") from error


_CODECS: dict[str, tuple[Encode, Decode]] = {
    "string": (_encode_string, _decode_string),
    **{
        form: (_number_encoder(form), _number_decoder(form))
        for form in ("int", "long", "short", "double", "float")
    },
    "boolean": (_encode_boolean, _decode_boolean),
    "uuid": (_encode_uuid, _decode_uuid),
    "bytes": (bytes, lambda data, _headers: data),
    "hex": (_encode_hex, lambda data, _headers: data.hex().encode()),
    "json": (_encode_json, _decode_json),
}
FORMATS = tuple(_CODECS)


def encoder(form: str) -> Encode:
    """Encodes text to the stored form. Raises ValueError if the text is invalid."""
    return _CODECS[form][0]


def decoder(form: str) -> Decode:
    """Decodes the stored form to text. Raises Undecodable if it is invalid."""
    return _CODECS[form][1]
