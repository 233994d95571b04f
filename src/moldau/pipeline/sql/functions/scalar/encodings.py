"""Bytes and text: encodings, numbers in bytes, and the MD5 hash."""

import base64
import binascii
import hashlib
import struct
from typing import Any, Final

from moldau.pipeline.sql.functions.declaration import Category, Form, Parameter, Scalar
from moldau.pipeline.sql.types import BIGINT, BYTES, DOUBLE, INTEGER, STRING, SqlType

ENCODINGS: Final = ("hex", "utf8", "ascii", "base64")
BYTE_ORDERS: Final = {"BIG_ENDIAN": ">", "LITTLE_ENDIAN": "<"}


def to_bytes(text: str, encoding: str) -> bytes:
    match encoding.lower():
        case "utf8":
            return text.encode()
        case "ascii":
            return text.encode("ascii", "replace")
        case "hex":
            return _of_hex(text)
        case "base64":
            return _of_base64(text)
    raise _unknown(encoding)


def from_bytes(value: bytes, encoding: str) -> str:
    match encoding.lower():
        case "utf8":
            return value.decode(errors="replace")
        case "ascii":
            return value.decode("ascii", "replace")
        case "hex":
            return value.hex().upper()
        case "base64":
            return base64.b64encode(value).decode()
    raise _unknown(encoding)


def encode(text: str, input_encoding: str, output_encoding: str) -> str:
    found = from_bytes(to_bytes(text, input_encoding), output_encoding)
    return found.lower() if output_encoding.lower() == "hex" else found


def _unknown(encoding: str) -> ValueError:
    return ValueError(f"{encoding!r} is no encoding: give one of {', '.join(ENCODINGS)}")


def _of_hex(text: str) -> bytes:
    """Digits alone, 0x before them, or X'...' around them."""
    digits = text
    if text.startswith("0x"):
        digits = "0" * (len(text) % 2) + text[2:]
    elif text[:2] in ("x'", "X'") and text.endswith("'") and len(text) > 2:
        digits = text[2:-1]
    try:
        return binascii.unhexlify(digits)
    except ValueError:
        raise ValueError(
            f"{text!r} is not hexadecimal: it takes pairs of the digits 0 to 9 and A to F"
        ) from None


def _of_base64(text: str) -> bytes:
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        raise ValueError(f"{text!r} is not in base64") from None


def md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def int_from_bytes(value: bytes, byte_order: str = "BIG_ENDIAN") -> int:
    return int(_unpacked("i", 4, value, byte_order))


def bigint_from_bytes(value: bytes, byte_order: str = "BIG_ENDIAN") -> int:
    return int(_unpacked("q", 8, value, byte_order))


def double_from_bytes(value: bytes, byte_order: str = "BIG_ENDIAN") -> float:
    return float(_unpacked("d", 8, value, byte_order))


def _unpacked(code: str, size: int, value: bytes, byte_order: str) -> Any:
    order = BYTE_ORDERS.get(byte_order.upper())
    if order is None:
        raise ValueError(f"{byte_order!r} is no byte order: give {' or '.join(BYTE_ORDERS)}")
    if len(value) != size:
        raise ValueError(f"{len(value)} bytes are given where the number takes {size}")
    return struct.unpack(order + code, value)[0]


_ENCODING: Final = Parameter("encoding", STRING, "hex, utf8, ascii or base64")
_VALUE: Final = Parameter("value", BYTES)
_ORDER: Final = Parameter(
    "byte_order", STRING, "BIG_ENDIAN, which it is without this argument, or LITTLE_ENDIAN"
)


def _number_forms(kind: SqlType) -> tuple[Form, ...]:
    return Form((_VALUE,), kind), Form((_VALUE, _ORDER), kind)


FUNCTIONS: Final[tuple[Scalar, ...]] = (
    Scalar(
        "BIGINT_FROM_BYTES",
        Category.BYTES,
        "The BIGINT that 8 bytes stand for.",
        _number_forms(BIGINT),
        bigint_from_bytes,
        examples=(
            "BIGINT_FROM_BYTES(TO_BYTES('000000012a05f200', 'hex')) => 5000000000",
            "BIGINT_FROM_BYTES(TO_BYTES('0100000000000000', 'hex'), 'LITTLE_ENDIAN') => 1",
        ),
    ),
    Scalar(
        "DOUBLE_FROM_BYTES",
        Category.BYTES,
        "The DOUBLE that 8 bytes stand for.",
        _number_forms(DOUBLE),
        double_from_bytes,
        examples=("DOUBLE_FROM_BYTES(TO_BYTES('3ff8000000000000', 'hex')) => 1.5",),
    ),
    Scalar(
        "INT_FROM_BYTES",
        Category.BYTES,
        "The INTEGER that 4 bytes stand for.",
        _number_forms(INTEGER),
        int_from_bytes,
        examples=(
            "INT_FROM_BYTES(TO_BYTES('000007e8', 'hex')) => 2024",
            "INT_FROM_BYTES(TO_BYTES('e8070000', 'hex'), 'LITTLE_ENDIAN') => 2024",
        ),
    ),
    Scalar(
        "TO_BYTES",
        Category.BYTES,
        "The bytes that a text stands for.",
        (Form((Parameter("text", STRING), _ENCODING), BYTES),),
        to_bytes,
        examples=("LEN(TO_BYTES('TW9sZGF1', 'base64')) => 6",),
    ),
    Scalar(
        "FROM_BYTES",
        Category.BYTES,
        "Bytes as text.",
        (Form((_VALUE, _ENCODING), STRING),),
        from_bytes,
        examples=(
            "FROM_BYTES(TO_BYTES('Moldau', 'utf8'), 'base64') => 'TW9sZGF1'",
            "FROM_BYTES(TO_BYTES('ok', 'ascii'), 'hex') => '6F6B'",
        ),
    ),
    Scalar(
        "ENCODE",
        Category.STRING,
        "A text in one encoding, written in another one.",
        (
            Form(
                (
                    Parameter("text", STRING),
                    Parameter("input_encoding", STRING, "hex, utf8, ascii or base64"),
                    Parameter("output_encoding", STRING, "hex, utf8, ascii or base64"),
                ),
                STRING,
            ),
        ),
        encode,
        examples=(
            "ENCODE('6d6f6c646175', 'hex', 'utf8') => 'moldau'",
            "ENCODE('ok', 'utf8', 'base64') => 'b2s='",
        ),
    ),
    Scalar(
        "MD5",
        Category.STRING,
        "The MD5 hash of a text, in hexadecimal digits. It is not fit for passwords or signatures.",
        (Form((Parameter("text", STRING),), STRING),),
        md5,
        examples=("MD5('moldau') => '51403721e9a8e9ee1e3ed60666518ddf'",),
    ),
)
