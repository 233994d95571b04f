"""Schemas of Avro as schemas of Connect, and what reads their values, as Confluent's AvroData maps them. Pure.

Structs named `io.confluent.connect.avro.Union` stand for unions of several types: one field of them has a value.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from moldau.pipeline.connect.converters.registry.avro.avro_schemas import (
    ENTRY,
    ENUM,
    FIXED_SIZE,
    NAMESPACE,
    PLAIN,
    STRUCT_NAME,
    UNION,
)
from moldau.pipeline.connect.converters.registry.leaf_values import Convert
from moldau.pipeline.connect.converters.sum_types import with_field
from moldau.pipeline.connect.data import schema as schemas
from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.logical import from_plain
from moldau.pipeline.connect.data.schema import Field, Schema, SchemaType
from moldau.pipeline.connect.data.struct import Struct
from moldau.pipeline.connect.data.validation import RANGES

_READ: Final = {
    "int": schemas.INT32,
    "long": schemas.INT64,
    "float": schemas.FLOAT32,
    "double": schemas.FLOAT64,
    "boolean": schemas.BOOLEAN,
    "string": schemas.STRING,
    "bytes": schemas.BYTES,
}
_LOGICAL: Final[Mapping[tuple[str, str], Schema]] = {
    ("int", "date"): schemas.date(),
    ("int", "time-millis"): schemas.time(),
    ("long", "timestamp-millis"): schemas.timestamp(),
}
_UNNAMED: Final = re.compile(rf"{re.escape(NAMESPACE)}\.{STRUCT_NAME}\d*")
_NUMBERED_ENTRY: Final = re.compile(rf"^{re.escape(ENTRY)}\d+$")
"""Of a schema with several maps whose keys are no texts."""
_PYTHON: Final[Mapping[SchemaType, type]] = {
    **dict.fromkeys(RANGES, int),
    SchemaType.FLOAT32: float,
    SchemaType.FLOAT64: float,
    SchemaType.BOOLEAN: bool,
    SchemaType.STRING: str,
    SchemaType.BYTES: bytes,
    SchemaType.ARRAY: list,
    SchemaType.MAP: dict,
    SchemaType.STRUCT: dict,
}
"""What fastavro gives for a value of each type."""


class Mapped(NamedTuple):
    """A schema, and what makes a reader of its values; None where they are as fastavro gives them. The reader is made
    last, because a struct has the schema of the field that it is in, with its doc and whether it is optional."""

    schema: Schema
    make: Callable[[Schema], Convert] | None


class Member(NamedTuple):
    """One type of a union, and the name that fastavro gives for it where it has one."""

    name: str
    mapped: Mapped


class AvroReading:
    """Reads one schema. `named` has the types that it may refer to by name, as fastavro has parsed them."""

    def __init__(self, named: Mapping[str, Any]) -> None:
        self._parsed = named
        self._made: dict[str, Mapped] = {}
        self._open: list[str] = []

    def mapped(self, avro: Any) -> Mapped:
        match avro:
            case str():
                return Mapped(_READ[avro], None) if avro in _READ else self._by_name(avro)
            case list():
                return self._union(avro)
            case {"type": "record" | "error", "name": str(name)}:
                return self._record(name, avro)
            case {"type": "array", "items": items}:
                return self._array(items, avro)
            case {"type": "map", "values": values}:
                inner = self.mapped(values)
                made = schemas.mapping(schemas.STRING, inner.schema)
                read = _each(inner)
                if read is None:
                    return Mapped(_with_meta(made, avro), None)
                return Mapped(_with_meta(made, avro), lambda _: _map_reader(read))
            case {"type": dict() | list() as inner}:
                return self.mapped(inner)
            case {"type": str(kind)}:
                return self._plain(kind, avro)
        raise DataError(f"{avro!r} is no schema of Avro")

    def _by_name(self, name: str) -> Mapped:
        if name in self._made:
            return self._made[name]
        if name in self._open or name not in self._parsed:
            raise DataError(
                f"the type {name} contains itself or is unknown: Connect has no recursive schemas here. Use "
                "ByteArrayConverter to pass the records on as they are"
            )
        return self.mapped(self._parsed[name])

    def _record(self, name: str, avro: Mapping[str, Any]) -> Mapped:
        self._open.append(name)
        parts = [(one["name"], self._field(one)) for one in avro["fields"]]
        self._open.remove(name)
        made = Schema(
            SchemaType.STRUCT,
            name=None if _UNNAMED.fullmatch(name) else _NUMBERED_ENTRY.sub(ENTRY, name),
            doc=avro.get("doc"),
            fields=tuple(Field(label, part.schema) for label, part in parts),
        )
        reads = [(label, _each(part)) for label, part in parts]
        self._made[name] = Mapped(_with_meta(made, avro), lambda schema: _struct_reader(schema, reads))
        return self._made[name]

    def _field(self, field: Mapping[str, Any]) -> Mapped:
        schema, make = self.mapped(field["type"])
        if doc := field.get("doc"):
            schema = replace(schema, doc=doc)
        default = field.get("default")
        if default is None or schema.type not in PLAIN or schema.default is not None:
            return Mapped(schema, make)
        return Mapped(replace(schema, default=_default(schema, default)), make)

    def _array(self, items: Any, avro: Mapping[str, Any]) -> Mapped:
        inner = self.mapped(items)
        read = _each(inner)
        if inner.schema.type is SchemaType.STRUCT and inner.schema.name == ENTRY:
            assert read is not None
            keys, values = (one.schema for one in inner.schema.fields)

            def pairs(value: Any) -> dict[Any, Any]:
                return dict(read(one).values for one in value)

            return Mapped(_with_meta(schemas.mapping(keys, values), avro), lambda _: pairs)
        make = None if read is None else lambda _: lambda value: [read(one) for one in value]
        return Mapped(_with_meta(schemas.array(inner.schema), avro), make)

    def _plain(self, kind: str, avro: Mapping[str, Any]) -> Mapped:
        logical = avro.get("logicalType")
        if logical == "decimal" and kind in ("bytes", "fixed"):
            made = schemas.decimal(int(avro.get("scale", 0)))
        elif (kind, logical) in _LOGICAL:
            made = _LOGICAL[kind, str(logical)]
        elif kind == "enum":
            texts = {ENUM: avro["name"], **{f"{ENUM}.{one}": one for one in avro["symbols"]}}
            made = Schema(SchemaType.STRING, name=avro["name"], parameters=texts)
        elif kind == "fixed":
            made = Schema(SchemaType.BYTES, name=avro["name"], parameters={FIXED_SIZE: str(avro["size"])})
        elif kind not in _READ:
            return self._by_name(kind)
        elif avro.get("connect.type") in (SchemaType.INT8, SchemaType.INT16):
            made = Schema(SchemaType(avro["connect.type"]))
        else:
            made = _READ[kind]
        made = _with_meta(made, avro)
        plain = from_plain(made)
        mapped = Mapped(made, None if plain is None else lambda _: plain)
        if kind in ("enum", "fixed"):
            self._made[avro["name"]] = mapped
        return mapped

    def _union(self, avro: list[Any]) -> Mapped:
        kinds = [one for one in avro if one != "null"]
        optional = len(kinds) < len(avro)
        if len(kinds) == 1:
            schema, make = self.mapped(kinds[0])
            return Mapped(replace(schema, optional=optional), make)
        members = [Member(_name_of(one), _optional(self.mapped(one))) for one in kinds]
        schema = Schema(
            SchemaType.STRUCT,
            optional=optional,
            name=UNION,
            fields=tuple(Field(one.name.rpartition(".")[2], one.mapped.schema) for one in members),
        )
        if len(schema.index) < len(members):
            raise DataError(f"two types of the union {[one.name for one in members]} have the same name")
        return Mapped(schema, lambda of: _union_reader(of, members))


def _optional(mapped: Mapped) -> Mapped:
    return Mapped(replace(mapped.schema, optional=True), mapped.make)


def _struct_reader(schema: Schema, reads: Sequence[tuple[str, Convert | None]]) -> Convert:
    def convert(value: Any) -> Struct:
        return Struct(schema, [value[label] if read is None else read(value[label]) for label, read in reads])

    return convert


def _map_reader(read: Convert) -> Convert:
    return lambda value: {key: read(one) for key, one in value.items()}


def _union_reader(schema: Schema, members: list[Member]) -> Convert:
    reads = [_each(one.mapped) for one in members]

    def convert(value: Any) -> Struct:
        at = _member_at(value, members)
        if type(value) is tuple:
            value = value[1]
        read = reads[at]
        return with_field(schema, at, value if read is None else read(value))

    return convert


def _member_at(value: Any, members: list[Member]) -> int:
    """Of a number, the first type that can hold it: its bytes tell the type, and the codec does not."""
    if type(value) is tuple:
        return [one.name for one in members].index(value[0])
    kind: type = type(value)
    for at, one in enumerate(members):
        schema = one.mapped.schema
        if _PYTHON[schema.type] is not kind:
            continue
        if schema.type in RANGES and not RANGES[schema.type][0] <= value <= RANGES[schema.type][1]:
            continue
        if schema.type is SchemaType.STRUCT and schema.index.keys() != value.keys():
            continue
        return at
    raise DataError(f"a {type(value).__name__} is none of the types {[one.name for one in members]}")


def _name_of(avro: Any) -> str:
    if isinstance(avro, str):
        return avro
    return str(avro["name"] if "name" in avro else avro["type"])


def _each(mapped: Mapped) -> Convert | None:
    """With null. fastavro gives the name of a type together with its value where a schema has unions of several."""
    convert = None if mapped.make is None else mapped.make(mapped.schema)
    if convert is None:
        # Only values of enums and fixed types have a name, beside records.
        return _unwrapped if {ENUM, FIXED_SIZE} & mapped.schema.parameters.keys() else None
    if mapped.schema.name == UNION:
        return lambda value: None if value is None else convert(value)
    return lambda value: None if value is None else convert(_unwrapped(value))


def _unwrapped(value: Any) -> Any:
    return value[1] if type(value) is tuple else value


def reader_of(mapped: Mapped) -> Convert | None:
    """Of a record's whole value."""
    return _each(mapped)


def _with_meta(schema: Schema, avro: Mapping[str, Any]) -> Schema:
    """With the properties that only Connect has."""
    parameters = avro.get("connect.parameters")
    if isinstance(parameters, Mapping):
        schema = replace(schema, parameters={**schema.parameters, **parameters})
    name, version = avro.get("connect.name"), avro.get("connect.version")
    schema = replace(
        schema,
        name=name if isinstance(name, str) else schema.name,
        version=version if type(version) is int else schema.version,
        doc=avro.get("connect.doc") or schema.doc,
    )
    default = avro.get("connect.default")
    if default is None or schema.type not in PLAIN:
        return schema
    return replace(schema, default=_default(schema, default))


def _default(schema: Schema, default: Any) -> Any:
    plain = default.encode("latin-1") if schema.type is SchemaType.BYTES else default
    convert = from_plain(schema)
    if convert is not None:
        return convert(plain)
    return float(plain) if schema.type in (SchemaType.FLOAT32, SchemaType.FLOAT64) else plain
