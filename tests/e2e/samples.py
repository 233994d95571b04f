"""One plausible request of every kind and version, made from its declaration: raw material for broken ones."""

from typing import Any

from moldau.protocol.records.builder import build_batch
from moldau.protocol.records.record import Record
from moldau.protocol.spec import Field, Request, fields_of

ABSENT_TOPIC = "absent"

_SCALARS: dict[object, Any] = {
    "bool": True,
    "int8": 1,
    "int16": 1,
    "uint16": 1,
    "int32": 1,
    "uint32": 1,
    "int64": 1,
    "float64": 1.0,
    "uuid": bytes(range(16)),
    "string": ABSENT_TOPIC,
    "bytes": b"bytes",
    "records": bytes(build_batch([Record(0, 1_700_000_000_000, b"key", b"value")])),
}


def sample(request: type[Request], version: int) -> Any:
    """Every array has one element, nothing is null; what the version lacks is at its default."""
    return _structure(request, version)


def _structure(declared: type[Any], version: int) -> Any:
    present = [field for field in fields_of(declared) if version in field.versions]
    return declared(**{field.name: _value(field, version) for field in present})


def _value(field: Field, version: int) -> Any:
    value = _structure(field.of, version) if isinstance(field.of, type) else _SCALARS[field.of]
    return [value] if field.is_array else value
