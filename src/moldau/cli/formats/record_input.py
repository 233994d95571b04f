"""Parses a line of input into a record. Pure.

raw: a value, or key and value with a separator between them. hex: the same in hexadecimal digits. json: an object as
`consume --format json` prints it.
"""

import base64
import binascii
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import orjson

from moldau.cli.failures import Failure

Headers = list[tuple[str, str | bytes | None]]


class Outgoing(NamedTuple):
    """Partition -1 means by key. Timestamp 0 means now."""

    key: bytes | None
    value: bytes | None
    headers: Headers
    partition: int = -1
    timestamp_ms: int = 0


class LineFormat(NamedTuple):
    """How to parse lines, and the parts that all records of a run share."""

    form: str = "raw"
    key: bytes | None = None
    key_separator: str | None = None
    null_marker: str | None = None
    headers: Sequence[tuple[str, str]] = ()
    partition: int = -1
    timestamp_ms: int = 0
    keep_partitions: bool = False

    def parse(self, lines: Iterable[bytes]) -> Iterator[Outgoing]:
        read = self._json if self.form == "json" else self._pair
        for number, line in enumerate(lines, start=1):
            try:
                yield read(line)
            except ValueError as error:
                raise Failure(
                    f"line {number} {error}.", "The lines before it were sent, the others were not."
                ) from error

    def _pair(self, line: bytes) -> Outgoing:
        decode: Callable[[bytes], bytes] = _unhex if self.form == "hex" else bytes
        key, value = self.key, line
        if self.key_separator is not None:
            separator = self.key_separator.replace("\\t", "\t")
            key, found, value = line.partition(separator.encode())
            if not found:
                raise ValueError(f"has no key: '{self.key_separator}' does not occur in the line")
            key = decode(key)
        is_null = self.null_marker is not None and value == self.null_marker.encode()
        return self._outgoing(key, None if is_null else decode(value), [])

    def _json(self, line: bytes) -> Outgoing:
        try:
            item = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise ValueError(f"is not valid JSON: {error}") from error
        if not isinstance(item, dict):
            raise ValueError('is not a JSON object like {"key": ..., "value": ...}')
        headers = item.get("headers") or []
        if not isinstance(headers, list) or not all(
            isinstance(each, dict) and "name" in each for each in headers
        ):
            raise ValueError('has headers that are not a list of {"name": ..., "value": ...}')
        key = _bytes_field(item, "key")
        record = self._outgoing(
            self.key if key is None else key,
            _bytes_field(item, "value"),
            [(str(each["name"]), _bytes_field(each, "value")) for each in headers],
        )
        if self.keep_partitions:
            record = record._replace(partition=_number(item, "partition", record.partition))
        return record._replace(timestamp_ms=self.timestamp_ms or _number(item, "timestamp", 0))

    def _outgoing(self, key: bytes | None, value: bytes | None, headers: Headers) -> Outgoing:
        return Outgoing(key, value, [*headers, *self.headers], self.partition, self.timestamp_ms)


def _unhex(digits: bytes) -> bytes:
    try:
        return bytes.fromhex(digits.decode("ascii"))
    except ValueError as error:
        raise ValueError("is not a sequence of hexadecimal digit pairs") from error


def _bytes_field(item: dict[str, Any], name: str) -> bytes | None:
    """A string is used as it is, `NAME_base64` is decoded, and any other JSON value is serialized."""
    encoded = item.get(f"{name}_base64")
    if encoded is not None:
        try:
            return base64.b64decode(encoded, validate=True)
        except (binascii.Error, TypeError, ValueError) as error:
            raise ValueError(f"has invalid base64 in {name}_base64") from error
    value = item.get(name)
    if value is None:
        return None
    return value.encode() if isinstance(value, str) else orjson.dumps(value)


def _number(item: dict[str, Any], name: str, default: int) -> int:
    value = item.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"has a {name} that is not an integer: {value!r}")
    return value if value >= 0 else default
