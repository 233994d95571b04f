"""Schemas, values and records of Connect as JSON and back, in a form that loses nothing. Forms.java has the same."""

import base64
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from moldau.pipeline.connect.data.logical import (
    DAY_MS,
    date_of,
    days_of,
    moment_of,
    ms_of,
    ms_of_time,
    time_of,
)
from moldau.pipeline.connect.data.records import Record
from moldau.pipeline.connect.data.schema import DATE, DECIMAL, TIME, TIMESTAMP, Field, Schema, SchemaType
from moldau.pipeline.connect.data.struct import Struct

JAVA_TYPES = {kind: kind.name for kind in SchemaType}


def schema_form(schema: Schema | None) -> Any:
    if schema is None:
        return None
    form: dict[str, Any] = {
        "type": JAVA_TYPES[schema.type],
        "optional": schema.optional,
        "name": schema.name,
        "version": schema.version,
        "doc": schema.doc,
        "parameters": dict(schema.parameters),
        "default": None if schema.default is None else value_form(schema, schema.default),
    }
    if schema.type is SchemaType.STRUCT:
        form["fields"] = [[one.name, schema_form(one.schema)] for one in schema.fields]
    if schema.type is SchemaType.MAP:
        form["keys"] = schema_form(schema.key_schema)
    if schema.type in (SchemaType.MAP, SchemaType.ARRAY):
        form["values"] = schema_form(schema.value_schema)
    return form


def schema_of(form: Any) -> Schema | None:
    if form is None:
        return None
    parts: dict[str, Any] = {"optional": form["optional"], "parameters": form["parameters"]}
    parts |= {name: form[name] for name in ("name", "version", "doc")}
    if "fields" in form:
        parts["fields"] = tuple(
            Field(name, schema_of(one) or Schema(SchemaType.STRING)) for name, one in form["fields"]
        )
    if "keys" in form:
        parts["key_schema"] = schema_of(form["keys"])
    if "values" in form:
        parts["value_schema"] = schema_of(form["values"])
    schema = Schema(SchemaType[form["type"]], **parts)
    if form["default"] is None:
        return schema
    return Schema(schema.type, default=value_of(schema, form["default"]), **parts)


def value_form(schema: Schema | None, value: Any) -> Any:
    if value is None:
        return None
    if schema is None:
        return _plain_form(value)
    match value:
        case datetime() | time():
            return _ms(value)
        case date():
            return days_of(value)
        case Decimal():
            return str(value)
        case Struct():
            fields = zip(schema.fields, value.values, strict=True)
            return [value_form(one.schema, inner) for one, inner in fields]
        case list() | tuple():
            return [value_form(schema.value_schema, one) for one in value]
        case dict():
            pairs = value.items()
            return [
                [value_form(schema.key_schema, key), value_form(schema.value_schema, one)]
                for key, one in pairs
            ]
        case bytes() | bytearray() | memoryview():
            return base64.b64encode(value).decode()
    return repr(float(value)) if schema.type in (SchemaType.FLOAT32, SchemaType.FLOAT64) else value


def _plain_form(value: Any) -> Any:
    match value:
        case None | bool() | str():
            return value
        case list() | tuple():
            return [_plain_form(one) for one in value]
        case dict():
            return {"m": {key: _plain_form(one) for key, one in value.items()}}
        case datetime() | time():
            return {"d": _ms(value)}
        case date():
            return {"d": days_of(value) * DAY_MS}
        case Decimal():
            return {"n": str(value)}
        case float():
            return {"f": repr(value)}
        case int():
            return {"i": str(value)}
    return {"b": base64.b64encode(value).decode()}


def _ms(value: datetime | time) -> int:
    return ms_of(value) if isinstance(value, datetime) else ms_of_time(value)


def value_of(schema: Schema, form: Any) -> Any:
    """Of a form with a schema."""
    if form is None:
        return None
    match schema.name:
        case name if name == DECIMAL:
            return Decimal(form)
        case name if name == DATE:
            return date_of(form)
        case name if name == TIME:
            return time_of(form)
        case name if name == TIMESTAMP:
            return moment_of(form)
    match schema.type:
        case SchemaType.STRUCT:
            return Struct(
                schema, [value_of(one.schema, part) for one, part in zip(schema.fields, form, strict=True)]
            )
        case SchemaType.ARRAY:
            return [value_of(schema.value_schema or schema, one) for one in form]
        case SchemaType.MAP:
            keys, values = schema.key_schema or schema, schema.value_schema or schema
            return {value_of(keys, key): value_of(values, one) for key, one in form}
        case SchemaType.BYTES:
            return base64.b64decode(form)
        case SchemaType.FLOAT32 | SchemaType.FLOAT64:
            return float(form)
    return form


def record_form(record: Record) -> dict[str, Any]:
    """`offset` is there for what goes in only."""
    return {
        "topic": record.topic,
        "partition": record.partition,
        "timestamp": record.timestamp_ms,
        "key_schema": schema_form(record.key_schema),
        "key": value_form(record.key_schema, record.key),
        "value_schema": schema_form(record.value_schema),
        "value": value_form(record.value_schema, record.value),
        "headers": [
            {"key": one.key, "schema": schema_form(one.schema), "value": value_form(one.schema, one.value)}
            for one in record.headers
        ],
    }


def comparable_record(form: dict[str, Any]) -> dict[str, Any]:
    """Without what two right answers may differ in: the order of maps, and how floats are written."""
    return {
        **form,
        **comparable_part(form, "key_schema", "key"),
        **comparable_part(form, "value_schema", "value"),
        "headers": [{**one, **comparable_part(one, "schema", "value")} for one in form["headers"]],
    }


def comparable_part(form: dict[str, Any], schema: str, value: str) -> dict[str, Any]:
    return {schema: _comparable_schema(form[schema]), value: _comparable_value(form[schema], form[value])}


def _comparable_schema(form: Any) -> Any:
    if form is None:
        return None
    made = {**form, "default": _comparable_value(form, form["default"])}
    if "fields" in form:
        made["fields"] = [[name, _comparable_schema(one)] for name, one in form["fields"]]
    for name in ("keys", "values"):
        if name in form:
            made[name] = _comparable_schema(form[name])
    return made


def _comparable_value(schema: Any, form: Any) -> Any:
    if form is None or schema is None:
        return _comparable_plain(form)
    match schema["type"]:
        case "FLOAT32" | "FLOAT64":
            return repr(float(form))
        case "STRUCT":
            fields = zip(schema["fields"], form, strict=True)
            return [_comparable_value(field[1], one) for field, one in fields]
        case "ARRAY":
            return [_comparable_value(schema["values"], one) for one in form]
        case "MAP":
            keys, values = schema["keys"], schema["values"]
            pairs = [[_comparable_value(keys, key), _comparable_value(values, one)] for key, one in form]
            return sorted(pairs, key=repr)
    return form


def _comparable_plain(form: Any) -> Any:
    match form:
        case {"f": str(text)} if len(form) == 1:
            return {"f": repr(float(text))}
        case {"m": dict(inner)} if len(form) == 1:
            return {"m": {name: _comparable_plain(one) for name, one in inner.items()}}
        case list():
            return [_comparable_plain(one) for one in form]
    return form
