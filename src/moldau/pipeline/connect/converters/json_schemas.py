"""Schemas of Connect as JSON, in the form of Kafka's JsonConverter, and back."""

from collections.abc import Mapping
from typing import Any, Final

from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.schema import Field, Schema, SchemaType

_TYPES: Final = {str(kind): kind for kind in SchemaType}
_CURE: Final = "the schema in the record must have the form that Kafka's JsonConverter writes"


def json_of_schema(schema: Schema, default_to_json: Any) -> dict[str, Any]:
    """`default_to_json` makes JSON of a default, given its schema and value."""
    found: dict[str, Any] = {"type": str(schema.type)}
    match schema.type:
        case SchemaType.ARRAY:
            found["items"] = _inner(schema.value_schema, default_to_json)
        case SchemaType.MAP:
            found["keys"] = _inner(schema.key_schema, default_to_json)
            found["values"] = _inner(schema.value_schema, default_to_json)
        case SchemaType.STRUCT:
            found["fields"] = [
                {**json_of_schema(one.schema, default_to_json), "field": one.name} for one in schema.fields
            ]
    found["optional"] = schema.optional
    said = {"name": schema.name, "version": schema.version, "doc": schema.doc}
    found.update((name, value) for name, value in said.items() if value is not None)
    if schema.parameters:
        found["parameters"] = dict(schema.parameters)
    if schema.default is not None:
        found["default"] = default_to_json(schema, schema.default)
    return found


def _inner(schema: Schema | None, default_to_json: Any) -> dict[str, Any] | None:
    return None if schema is None else json_of_schema(schema, default_to_json)


def schema_of_json(found: Any, default_of_json: Any) -> Schema:
    """`default_of_json` makes the value of a default, given its schema and JSON. Raises DataError."""
    if not isinstance(found, Mapping) or found.get("type") not in _TYPES:
        kind = found.get("type") if isinstance(found, Mapping) else found
        raise DataError(f"{kind!r} is no type of a schema: {_CURE}, with one of {', '.join(_TYPES)}")
    kind = _TYPES[found["type"]]
    schema = Schema(
        kind,
        optional=found.get("optional") is True,
        name=_text(found, "name"),
        version=_version(found),
        doc=_text(found, "doc"),
        parameters=_parameters(found),
        fields=_fields(found, default_of_json) if kind is SchemaType.STRUCT else (),
        key_schema=_part(found, "keys", default_of_json) if kind is SchemaType.MAP else None,
        value_schema=_values(found, kind, default_of_json),
    )
    if found.get("default") is None:
        return schema
    return with_default(schema, default_of_json(schema, found["default"]))


def with_default(schema: Schema, default: Any) -> Schema:
    return Schema(
        schema.type,
        schema.optional,
        schema.name,
        schema.version,
        schema.doc,
        default,
        schema.parameters,
        schema.fields,
        schema.key_schema,
        schema.value_schema,
    )


def _values(found: Mapping[str, Any], kind: SchemaType, default_of_json: Any) -> Schema | None:
    name = {SchemaType.ARRAY: "items", SchemaType.MAP: "values"}.get(kind)
    return None if name is None else _part(found, name, default_of_json)


def _part(found: Mapping[str, Any], name: str, default_of_json: Any) -> Schema:
    if found.get(name) is None:
        raise DataError(f"the schema of an {found['type']} does not say its {name}: {_CURE}")
    return schema_of_json(found[name], default_of_json)


def _fields(found: Mapping[str, Any], default_of_json: Any) -> tuple[Field, ...]:
    fields = found.get("fields")
    if not isinstance(fields, list):
        raise DataError(f'the schema of a struct has no list "fields": {_CURE}')
    made = []
    for one in fields:
        name = one.get("field") if isinstance(one, Mapping) else None
        if not isinstance(name, str):
            raise DataError(f'a field of a struct\'s schema has no name ("field"): {_CURE}')
        made.append(Field(name, schema_of_json(one, default_of_json)))
    return tuple(made)


def _text(found: Mapping[str, Any], name: str) -> str | None:
    value = found.get(name)
    return value if isinstance(value, str) else None


def _version(found: Mapping[str, Any]) -> int | None:
    value = found.get("version")
    return value if type(value) is int else None


def _parameters(found: Mapping[str, Any]) -> dict[str, str]:
    value = found.get("parameters")
    if not isinstance(value, Mapping):
        return {}
    if not all(isinstance(one, str) for one in value.values()):
        raise DataError(f"the parameters of a schema must be texts: {_CURE}")
    return dict(value)
