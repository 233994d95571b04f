"""Schemas of Connect as schemas of Avro, with the properties that Confluent's AvroData gives them. Pure."""

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote_plus

from moldau.pipeline.connect.converters.registry.leaf_values import leaf_writer
from moldau.pipeline.connect.data import schema as schemas
from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.logical import scale_of
from moldau.pipeline.connect.data.schema import DATE, DECIMAL, TIME, TIMESTAMP, Field, Schema, SchemaType

NAMESPACE: Final = "io.confluent.connect.avro"
STRUCT_NAME: Final = "ConnectDefault"
ENTRY: Final = f"{NAMESPACE}.MapEntry"
UNION: Final = f"{NAMESPACE}.Union"
ENUM: Final = f"{NAMESPACE}.Enum"
FIXED_SIZE: Final = "connect.fixed.size"
PRECISION: Final = "connect.decimal.precision"
PRECISION_DEFAULT: Final = 64
KEY, VALUE = "key", "value"
PLAIN: Final = {
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
LOGICAL: Final = {DATE: "date", TIME: "time-millis", TIMESTAMP: "timestamp-millis"}
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FULL_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*")


def is_avro_map(schema: Schema) -> bool:
    """A map of Avro has texts as keys; others are arrays of entries."""
    keys = schema.key_schema
    return keys is not None and keys.type is SchemaType.STRING and not keys.optional


def entry_of(schema: Schema) -> Schema:
    """The struct that an entry of such a map is."""
    assert schema.key_schema is not None
    assert schema.value_schema is not None
    return schemas.struct({KEY: schema.key_schema, VALUE: schema.value_schema}, name=ENTRY)


def scrubbed(name: str) -> str:
    """A name that Avro allows, as Confluent's `scrub.invalid.names` makes it."""
    encoded = quote_plus(name)
    return re.sub(r"[^A-Za-z0-9_]", "_", encoded if _NAME.match(encoded) else f"x{encoded}")


class AvroSchemas:
    """Makes one schema. Avro defines a name once, and structs of the same name may differ."""

    def __init__(self, *, has_meta: bool, is_enhanced: bool, scrubs: bool) -> None:
        self._has_meta, self._is_enhanced, self._scrubs = has_meta, is_enhanced, scrubs
        self._named: dict[str, Schema] = {}

    def avro(self, schema: Schema) -> Any:
        """With null where it is allowed. Its default decides what comes first in the union."""
        made = self._of_type(schema)
        if not schema.optional:
            return made
        more = made if isinstance(made, list) else [made]
        return [*more, "null"] if schema.default is not None else ["null", *more]

    def _of_type(self, schema: Schema) -> Any:
        match schema.type:
            case SchemaType.STRUCT if schema.name == UNION:
                return [self._of_type(one.schema) for one in schema.fields]
            case SchemaType.STRUCT:
                return self._record(schema)
            case SchemaType.ARRAY if schema.value_schema is not None:
                made = {"type": "array", "items": self.avro(schema.value_schema)}
                return made | self._meta(schema)
            case SchemaType.MAP if is_avro_map(schema):
                assert schema.value_schema is not None
                return {"type": "map", "values": self.avro(schema.value_schema)} | self._meta(schema)
            case SchemaType.MAP:
                return {"type": "array", "items": self._record(entry_of(schema))} | self._meta(schema)
        return self._of_plain(schema)

    def _of_plain(self, schema: Schema) -> Any:
        if self._is_enhanced and schema.type is SchemaType.STRING and ENUM in schema.parameters:
            return self._enum(schema)
        if schema.type is SchemaType.BYTES and schema.parameters.get(FIXED_SIZE, "").isdecimal():
            return self._fixed(schema)
        found: dict[str, Any] = {"type": PLAIN[schema.type]}
        if schema.name == DECIMAL:
            precision = schema.parameters.get(PRECISION, "")
            number = int(precision) if precision.isdecimal() else PRECISION_DEFAULT
            found |= {"logicalType": "decimal", "precision": number, "scale": scale_of(schema)}
        elif schema.name in LOGICAL:
            found["logicalType"] = LOGICAL[schema.name]
        if schema.type in (SchemaType.INT8, SchemaType.INT16) and self._has_meta:
            found["connect.type"] = str(schema.type)
        found |= self._meta(schema)
        return found if len(found) > 1 else found["type"]

    def _enum(self, schema: Schema) -> Any:
        name = schema.parameters[ENUM]
        if name in self._named:
            return name
        self._named[name] = schema
        prefix = f"{ENUM}."
        symbols = [one for key, one in schema.parameters.items() if key.startswith(prefix)]
        made: dict[str, Any] = {"type": "enum", "name": name, "symbols": symbols}
        return made | self._meta(schema)

    def _fixed(self, schema: Schema) -> Any:
        name = self._unused_name(schema)
        if self._named.get(name) == schema:
            return name
        self._named[name] = schema
        made = {"type": "fixed", "name": name, "size": int(schema.parameters[FIXED_SIZE])}
        return made | self._meta(schema)

    def _record(self, schema: Schema) -> Any:
        name = self._unused_name(schema)
        if self._named.get(name) == schema:
            return name
        self._named[name] = schema
        made: dict[str, Any] = {"type": "record", "name": name.rpartition(".")[2]}
        if space := name.rpartition(".")[0]:
            made["namespace"] = space
        if schema.doc:
            made["doc"] = schema.doc
        made["fields"] = [self._field(one) for one in schema.fields]
        return made | (self._meta(schema) if schema.name != ENTRY else {})

    def _unused_name(self, schema: Schema) -> str:
        base = schema.name or f"{NAMESPACE}.{STRUCT_NAME}"
        if not _FULL_NAME.fullmatch(base):
            if not self._scrubs:
                raise _wrong_name("schema", base)
            base = ".".join(scrubbed(part) for part in base.split("."))
        number, name = 1, base
        while self._named.get(name, schema) != schema:
            number += 1
            name = f"{base}{number}"
        return name

    def field_name(self, name: str) -> str:
        if _NAME.fullmatch(name):
            return name
        if not self._scrubs:
            raise _wrong_name("field", name)
        return scrubbed(name)

    def _field(self, field: Field) -> dict[str, Any]:
        found = {"name": self.field_name(field.name), "type": self.avro(field.schema)}
        if field.schema.doc:
            found["doc"] = field.schema.doc
        if field.schema.default is not None and field.schema.type in PLAIN:
            found["default"] = plain_default(field.schema)
        elif field.schema.optional and field.schema.default is None:
            found["default"] = None
        return found

    def _meta(self, schema: Schema) -> dict[str, Any]:
        """What Avro has no words for."""
        if not self._has_meta:
            return {}
        found: dict[str, Any] = {}
        if schema.doc and schema.type is not SchemaType.STRUCT:
            found["connect.doc"] = schema.doc
        if schema.version is not None:
            found["connect.version"] = schema.version
        if schema.parameters:
            found["connect.parameters"] = dict(schema.parameters)
        if schema.default is not None and schema.type in PLAIN:
            found["connect.default"] = plain_default(schema)
        if schema.name is not None:
            found["connect.name"] = schema.name
        return found


def plain_default(schema: Schema) -> Any:
    written = leaf_writer(schema)(schema.default)
    return bytes(written).decode("latin-1") if schema.type is SchemaType.BYTES else written


def _wrong_name(what: str, name: str) -> DataError:
    return DataError(
        f"the {what} {name!r} has a name that Avro does not allow: rename it with ReplaceField or SetSchemaMetadata, "
        "or set scrub.invalid.names=true"
    )


def without_logical_types(avro: Any) -> Any:
    """What the codec works with: logical types are converted here, and `decimal` must not be checked twice."""
    match avro:
        case list():
            return [without_logical_types(one) for one in avro]
        case Mapping():
            found = {key: one for key, one in avro.items() if key != "logicalType"}
            for key in ("type", "items", "values"):
                if key in found:
                    found[key] = without_logical_types(found[key])
            if isinstance(found.get("fields"), list):
                found["fields"] = [
                    {**one, "type": without_logical_types(one["type"])} for one in found["fields"]
                ]
            return found
    return avro
