"""Converts declared records to the key and value bytes of an internal topic, and back.

A key is the record type as int16 and its fields; a value is its version as int16 and its fields. The reader
of a topic knows its record types and skips unknown ones.
"""

from typing import ClassVar, Final, TypeVar

from moldau.core.errors import PeerError
from moldau.core.ports import Buffer
from moldau.protocol.codec import decode, encode_into
from moldau.protocol.spec import Message

_PREFIX_BYTES: Final = 2
_KEY_LAYOUT: Final = 0
"""Keys always have version 0: compaction compares their bytes."""


class RecordKey(Message):
    __slots__ = ()
    RECORD_TYPE: ClassVar[int]


class RecordValue(Message):
    __slots__ = ()


_K = TypeVar("_K", bound=RecordKey)
_M = TypeVar("_M", bound=Message)


def encode_key(key: RecordKey) -> bytes:
    out = bytearray(key.RECORD_TYPE.to_bytes(_PREFIX_BYTES, "big"))
    encode_into(key, _KEY_LAYOUT, out)
    return bytes(out)


def record_type(key: Buffer) -> int:
    if len(key) < _PREFIX_BYTES:
        raise PeerError(f"a record key of {len(key)} bytes has no record type")
    return int.from_bytes(key[:_PREFIX_BYTES], "big", signed=True)


def decode_key(declared: type[_K], key: Buffer) -> _K:
    """Bytes of another record type are an error of the caller."""
    assert record_type(key) == declared.RECORD_TYPE
    return decode(declared, _KEY_LAYOUT, key, _PREFIX_BYTES)[0]


def encode_versioned(message: Message, version: int) -> bytes:
    """A value, or anything else that starts with its version, such as a consumer's subscription."""
    out = bytearray(version.to_bytes(_PREFIX_BYTES, "big"))
    encode_into(message, version, out)
    return bytes(out)


def decode_versioned(declared: type[_M], data: Buffer) -> _M:
    """PeerError if the bytes are malformed or the version is unknown."""
    version = _version(declared, data)
    if version not in declared.VERSIONS:
        raise PeerError(f"{declared.__name__} v{version} is not supported, only v{declared.VERSIONS}")
    return decode(declared, version, data, _PREFIX_BYTES)[0]


def decode_prefix(declared: type[_M], data: Buffer) -> _M:
    """Like `decode_versioned`, for families whose later versions only append fields: a newer one is read like
    the newest known, and the rest is ignored."""
    version = min(_version(declared, data), declared.VERSIONS.high)
    return decode(declared, version, data, _PREFIX_BYTES)[0]


def _version(declared: type[_M], data: Buffer) -> int:
    version = int.from_bytes(data[:_PREFIX_BYTES], "big", signed=True)
    if len(data) < _PREFIX_BYTES or version < 0:
        raise PeerError(f"{declared.__name__} of {len(data)} bytes does not start with a version")
    return version
