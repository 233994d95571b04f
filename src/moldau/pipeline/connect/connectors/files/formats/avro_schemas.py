"""Schemas of Connect as schemas of Avro, with the properties that Confluent's converter gives them, and back."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from moldau.pipeline.connect.connectors.files.formats.plain_values import KEY, VALUE
from moldau.pipeline.connect.data import schema as schemas
from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.logical import scale_of, to_plain
from moldau.pipeline.connect.data.schema import DATE, DECIMAL, TIME, TIMESTAMP, Field, Schema, SchemaType

NAMESPACE: Final = "io.confluent.connect.avro"
STRUCT_NAME: Final = "ConnectDefault"
ENTRY_NAME: Final = f"{NAMESPACE}.MapEntry"
PRECISION: Final = 64
_PLAIN: Final = {
    SchemaType.INT8: "int",
    SchemaType.INT16: "int",
    SchemaType.INT32: "int",
    SchemaType.INT64: "long",
    SchemaType.FLOAT32: "float",
    SchemaType.FLOAT64: "double",
    SchemaType.BOOLEAN: "boolean",
    SchemaType.STRING: "string",
    SchemaType.BYTES: "bytes",
}
_READ: Final = {
    "int": schemas.INT32,
    "long": schemas.INT64,
    "float": schemas.FLOAT32,
    "double": schemas.FLOAT64,
    "boolean": schemas.BOOLEAN,
    "string": schemas.STRING,
    "bytes": schemas.BYTES,
    "fixed": schemas.BYTES,
    "enum": schemas.STRING,
}
_LOGICAL: Final = {DATE: "date", TIME: "time-millis", TIMESTAMP: "timestamp-millis"}
_LOGICAL_READ: Final[Mapping[tuple[str, Any], Schema]] = {
    ("int", "date"): schemas.date(),
    ("int", "time-millis"): schemas.time(),
    ("long", "time-micros"): schemas.time(),
    ("long", "timestamp-millis"): schemas.timestamp(),
    ("long", "timestamp-micros"): schemas.timestamp(),
}
_NAME: Final = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)


def is_avro_map(schema: Schema) -> bool:
    """A map of Avro has texts as keys; others are arrays of entries."""
    return schema.key_schema is not None and schema.key_schema.type is SchemaType.STRING


def avro_of(schema: Schema) -> Any:
    return _Writer().avro(schema)


class _Writer:
    """Avro defines a name once, and structs of the same name may differ."""

    def __init__(self) -> None:
        self._named: dict[str, Schema] = {}

    def avro(self, schema: Schema) -> Any:
        made = self._of_type(schema)
        if not schema.optional:
            return made
        return [made, "null"] if schema.default is not None else ["null", made]

    def _of_type(self, schema: Schema) -> Any:
        match schema.type:
            case SchemaType.STRUCT:
                return self._record(schema)
            case SchemaType.ARRAY if schema.value_schema is not None:
                return {"type": "array", "items": self.avro(schema.value_schema)}
            case SchemaType.MAP if schema.key_schema is not None and schema.value_schema is not None:
                if is_avro_map(schema):
                    return {"type": "map", "values": self.avro(schema.value_schema)}
                entry = schemas.struct({KEY: schema.key_schema, VALUE: schema.value_schema}, name=ENTRY_NAME)
                return {"type": "array", "items": self._record(entry)}
        found: dict[str, Any] = {"type": _PLAIN[schema.type]}
        if schema.type in (SchemaType.INT8, SchemaType.INT16):
            found["connect.type"] = str(schema.type)
        if schema.name == DECIMAL:
            found |= {"logicalType": "decimal", "precision": PRECISION, "scale": scale_of(schema)}
        elif schema.name in _LOGICAL:
            found["logicalType"] = _LOGICAL[schema.name]
        return (found | _connect_properties(schema)) if len(found) > 1 or schema.name else found["type"]

    def _record(self, schema: Schema) -> Any:
        name = self._unused_name(schema)
        if self._named.get(name) == schema:
            return name
        self._named[name] = schema
        return {
            "type": "record",
            "name": name,
            "fields": [self._field(one) for one in schema.fields],
            **({"doc": schema.doc} if schema.doc else {}),
            **_connect_properties(schema),
        }

    def _unused_name(self, schema: Schema) -> str:
        wanted = schema.name or f"{NAMESPACE}.{STRUCT_NAME}"
        base = wanted if _NAME.fullmatch(wanted) else f"{NAMESPACE}.{STRUCT_NAME}"
        number, name = 1, base
        while self._named.get(name, schema) != schema:
            number += 1
            name = f"{base}{number}"
        return name

    def _field(self, field: Field) -> dict[str, Any]:
        if not _NAME.fullmatch(field.name) or "." in field.name:
            raise DataError(
                f"the field {field.name!r} has a name that Avro does not allow: rename it with the transformation "
                "ReplaceField, or use another format.class"
            )
        found = {"name": field.name, "type": self.avro(field.schema)}
        if field.schema.default is not None and field.schema.type in _PLAIN:
            found["default"] = _default(field.schema)
        elif field.schema.optional and field.schema.default is None:
            found["default"] = None
        if field.schema.doc:
            found["doc"] = field.schema.doc
        return found


def _default(schema: Schema) -> Any:
    convert = to_plain(schema)
    plain = schema.default if convert is None else convert(schema.default)
    return bytes(plain).decode("latin-1") if schema.type is SchemaType.BYTES else plain


def _connect_properties(schema: Schema) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if schema.name is not None:
        found["connect.name"] = schema.name
    if schema.version is not None:
        found["connect.version"] = schema.version
    if schema.parameters:
        found["connect.parameters"] = dict(schema.parameters)
    return found


def schema_of(avro: Any) -> Schema:
    """Of a schema in a file. Raises DataError for a union of several types, which Connect does not have."""
    return _Reader().schema(avro)


class _Reader:
    def __init__(self) -> None:
        self._named: dict[str, Schema] = {}

    def schema(self, avro: Any) -> Schema:
        match avro:
            case str():
                return _READ[avro] if avro in _READ else self._known(avro)
            case list():
                kinds = [one for one in avro if one != "null"]
                if len(kinds) != 1:
                    raise DataError(f"a union of {len(kinds)} types has no schema in Connect: {avro!r}")
                return replace(self.schema(kinds[0]), optional="null" in avro)
            case {"type": "record", "name": str(name)}:
                fields = tuple(Field(one["name"], self._of_field(one)) for one in avro["fields"])
                made = Schema(
                    SchemaType.STRUCT,
                    name=avro.get("connect.name") or _original(name),
                    version=avro.get("connect.version"),
                    doc=avro.get("doc"),
                    fields=fields,
                )
                self._named[name] = made
                return made
            case {"type": "array", "items": items}:
                inner = self.schema(items)
                if inner.name == ENTRY_NAME:
                    return schemas.mapping(inner.fields[0].schema, inner.fields[1].schema)
                return schemas.array(inner)
            case {"type": "map", "values": values}:
                return schemas.mapping(schemas.STRING, self.schema(values))
            case {"type": dict() | list() as inner}:
                return self.schema(inner)
            case {"type": str(kind)}:
                return self._of_plain(kind, avro)
        raise DataError(f"{avro!r} is no schema of Avro")

    def _of_plain(self, kind: str, avro: Mapping[str, Any]) -> Schema:
        logical = avro.get("logicalType")
        if logical == "decimal":
            made = schemas.decimal(avro.get("scale", 0))
        elif (kind, logical) in _LOGICAL_READ:
            made = _LOGICAL_READ[kind, logical]
        elif kind not in _READ:
            return self._known(kind)
        elif avro.get("connect.type") in (SchemaType.INT8, SchemaType.INT16):
            made = Schema(SchemaType(avro["connect.type"]))
        else:
            made = _READ[kind]
        if made.name is None and (name := avro.get("connect.name")):
            made = replace(made, name=name, version=avro.get("connect.version"))
        if kind in ("enum", "fixed") and "name" in avro:
            self._named[avro["name"]] = made
        return made

    def _known(self, name: str) -> Schema:
        if name not in self._named:
            raise DataError(
                f"the type {name!r} refers to itself or is unknown: Connect has no recursive schemas"
            )
        return self._named[name]

    def _of_field(self, field: Mapping[str, Any]) -> Schema:
        made = self.schema(field["type"])
        default = field.get("default")
        if default is None or made.type not in _PLAIN or made.name is not None:
            return made
        return replace(made, default=default.encode("latin-1") if made.type is SchemaType.BYTES else default)


def _original(name: str) -> str | None:
    return None if name.startswith(f"{NAMESPACE}.{STRUCT_NAME}") else name
