"""The formats without a schema: JSON, and bytes in base64."""

import binascii
from base64 import b64decode
from typing import Any

import orjson

from moldau.proxies.rest.failures import conversion_failed


def to_json_bytes(value: Any) -> bytes | None:
    """JSON null is a record without a value, a tombstone."""
    return None if value is None else orjson.dumps(value)


def from_json_bytes(data: bytes | None, where: str) -> Any:
    """The JSON of a record as it stands there. Raises RestFailure 42203."""
    if data is None:
        return None
    try:
        orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise conversion_failed(
            f"{where} is not JSON ({error}). Read it with format binary, or step over it with POST .../positions."
        ) from None
    return orjson.Fragment(data)


def to_binary(value: Any, where: str) -> bytes | None:
    """Raises RestFailure 42203 for what is not base64."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise conversion_failed(f"{where} is not a string; records of format binary are strings in base64.")
    try:
        return b64decode(value, validate=True)
    except (binascii.Error, ValueError) as error:
        raise conversion_failed(f"{where} is not base64: {error}.") from None


def from_binary(data: bytes | None) -> str | None:
    return None if data is None else binascii.b2a_base64(data, newline=False).decode()
