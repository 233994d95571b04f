"""Values between Avro and SQL: for a type of the one and a type of the other, a function, or None where a value is
right as it is. ValueError where the two do not fit.
"""

from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

from moldau.pipeline.sql.expressions.numbers import EXACT, fitted
from moldau.pipeline.sql.formats.avro.columns import entry_types, without_null
from moldau.pipeline.sql.types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    INTEGER,
    STRING,
    TIME,
    TIMESTAMP,
    Array,
    Map,
    SqlType,
    Struct,
)
from moldau.pipeline.sql.types import Decimal as DecimalType
from moldau.pipeline.sql.value_texts import double_text

Convert = Callable[[Any], Any]

_READ_AS: Final[dict[SqlType, tuple[str, ...]]] = {
    BOOLEAN: ("boolean",),
    INTEGER: ("int",),
    BIGINT: ("long", "int"),
    DOUBLE: ("double", "float", "int", "long"),
    STRING: ("string", "enum", "int", "long", "float", "double", "boolean"),
    BYTES: ("bytes", "fixed"),
    DATE: ("int",),
    TIME: ("int", "long"),
    TIMESTAMP: ("long",),
}
_WRITTEN_AS: Final[dict[SqlType, tuple[str, ...]]] = {
    **_READ_AS,
    INTEGER: ("int", "long"),
    BIGINT: ("long",),
    DOUBLE: ("double", "float"),
    STRING: ("string", "enum"),
}
_PER_MS: Final = {"micros": 1_000, "nanos": 1_000_000}


def reader(tree: Any, kind: SqlType) -> Convert | None:
    """From a value of Avro that is not null."""
    if isinstance(tree, list):
        return _of_union(tree, kind, reader)
    name, logical = _kind(tree)
    match kind:
        case DecimalType(precision=precision, scale=scale) if logical == "decimal":
            shift = -tree.get("scale", 0)
            return lambda value: fitted(
                Decimal(int.from_bytes(value, "big", signed=True)).scaleb(shift, EXACT), precision, scale
            )
        case Array(element=element) if name == "array":
            return _over_list(_nullable(reader(tree["items"], element)))
        case Map(value=of) if name == "map":
            return _over_dict(_nullable(reader(tree["values"], of)))
        case Map(value=of) if name == "array" and entry_types(tree["items"]) is not None:
            return _from_entries(tree["items"], of)
        case Struct(fields=fields) if name == "record":
            return _from_record(tree, fields)
    if name not in _READ_AS.get(kind, ()):
        raise _unfit(tree, kind)
    if kind == STRING and name not in ("string", "enum"):
        return _text
    if kind == DOUBLE and name in ("int", "long"):
        return float
    per_ms = _PER_MS.get(logical.rpartition("-")[2]) if kind in (TIME, TIMESTAMP) else None
    return None if per_ms is None else lambda value: value // per_ms


def writer(tree: Any, kind: SqlType) -> Convert | None:
    """To a value of Avro, from one that is not null."""
    if isinstance(tree, list):
        return _of_union(tree, kind, writer)
    name, logical = _kind(tree)
    match kind:
        case DecimalType() if logical == "decimal":
            return _decimal_bytes(tree)
        case Array(element=element) if name == "array":
            return _over_list(_nullable(writer(tree["items"], element)))
        case Map(value=of) if name == "map":
            return _over_dict(_nullable(writer(tree["values"], of)))
        case Map(value=of) if name == "array" and entry_types(tree["items"]) is not None:
            return _to_entries(tree["items"], of)
        case Struct(fields=fields) if name == "record":
            return _to_record(tree, fields)
    if name not in _WRITTEN_AS.get(kind, ()):
        raise _unfit(tree, kind)
    per_ms = _PER_MS.get(logical.rpartition("-")[2]) if kind in (TIME, TIMESTAMP) else None
    return None if per_ms is None else lambda value: value * per_ms


def _kind(tree: Any) -> tuple[str, str]:
    """The type's name and its logical type."""
    if isinstance(tree, str):
        return tree, ""
    inner = tree["type"]
    return (inner if isinstance(inner, str) else _kind(inner)[0]), str(tree.get("logicalType", ""))


def _unfit(tree: Any, kind: SqlType) -> ValueError:
    name, logical = _kind(tree)
    return ValueError(f"Avro's {logical or name} does not fit {kind}")


def _of_union(
    union: list[Any], kind: SqlType, make: Callable[[Any, SqlType], Convert | None]
) -> Convert | None:
    """Of several types besides null, all must be right as they are, or be read as text."""
    branches = without_null(union)
    if len(branches) == 1:
        return make(branches[0], kind)
    found = {make(branch, kind) for branch in branches}
    if found == {None}:
        return None
    if found <= {None, _text}:
        return _text
    raise ValueError(f"a union of {len(branches)} types does not fit {kind}")


def _nullable(convert: Convert | None) -> Convert | None:
    return None if convert is None else lambda value: None if value is None else convert(value)


def _over_list(convert: Convert | None) -> Convert | None:
    return None if convert is None else lambda value: [convert(one) for one in value]


def _over_dict(convert: Convert | None) -> Convert | None:
    return None if convert is None else lambda value: {name: convert(one) for name, one in value.items()}


def _from_entries(entry: Any, of: SqlType) -> Convert:
    key, value = (field["name"] for field in entry["fields"])
    types = entry_types(entry)
    assert types is not None
    read_key, read = reader(types[0], STRING) or str, _nullable(reader(types[1], of)) or _same
    return lambda entries: {read_key(one[key]): read(one[value]) for one in entries}


def _to_entries(entry: Any, of: SqlType) -> Convert:
    key, value = (field["name"] for field in entry["fields"])
    types = entry_types(entry)
    assert types is not None
    if writer(types[0], STRING) is not None:
        raise ValueError("keys of maps are written as text")
    write = _nullable(writer(types[1], of)) or _same
    return lambda found: [{key: name, value: write(one)} for name, one in found.items()]


def matching_fields(record: Any, names: list[str]) -> list[dict[str, Any] | None]:
    """For each name the field of the record that has it, whatever its case. Avro has no dots in names."""
    exact = {field["name"]: field for field in record["fields"]}
    by_upper = {name.upper(): field for name, field in exact.items()}
    known = [name.replace(".", "_") for name in names]
    return [exact.get(name) or by_upper.get(name.upper()) for name in known]


def _from_record(record: Any, fields: tuple[tuple[str, SqlType], ...]) -> Convert:
    found = matching_fields(record, [name for name, _ in fields])
    parts = [
        (name, None, _same)
        if field is None
        else (name, field["name"], _nullable(_within(name, reader, field["type"], kind)) or _same)
        for (name, kind), field in zip(fields, found, strict=True)
    ]
    return lambda value: {
        name: None if source is None else read(value[source]) for name, source, read in parts
    }


def _to_record(record: Any, fields: tuple[tuple[str, SqlType], ...]) -> Convert:
    found = matching_fields(record, [name for name, _ in fields])
    parts = []
    for (name, kind), field in zip(fields, found, strict=True):
        if field is None:
            raise ValueError(f"the schema's record {record['name']} has no field {name}")
        write = _nullable(_within(name, writer, field["type"], kind)) or _same
        parts.append((name, field["name"], write))
    return lambda value: {target: write(value[name]) for name, target, write in parts}


def _within(
    name: str, make: Callable[[Any, SqlType], Convert | None], tree: Any, kind: SqlType
) -> Convert | None:
    try:
        return make(tree, kind)
    except ValueError as wrong:
        raise ValueError(f"field {name}: {wrong}") from None


def _decimal_bytes(tree: Any) -> Convert:
    scale, precision, size = tree.get("scale", 0), tree["precision"], tree.get("size")

    def to_bytes(value: Decimal) -> bytes:
        unscaled = int(fitted(value, precision, scale).scaleb(scale, EXACT))
        length = size or (unscaled + (unscaled < 0)).bit_length() // 8 + 1
        return unscaled.to_bytes(length, "big", signed=True)

    return to_bytes


def _text(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case float():
            return double_text(value)
    return str(value)


def _same(value: Any) -> Any:
    return value
