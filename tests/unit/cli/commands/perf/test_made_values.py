"""Records made up for a schema: they fit it, and are the same for the same seed."""

import io
import json
from typing import Any

import fastavro
import jsonschema
import pytest

from moldau.cli.commands.perf.avro_values import AvroValues
from moldau.cli.commands.perf.json_values import JsonValues, Unmakeable
from moldau.cli.formats.avro_json import to_datum
from moldau.registry.schemas import parse
from moldau.registry.schemas.avro.schema import AvroSchema

AVRO: dict[str, Any] = {
    "type": "record",
    "name": "Order",
    "namespace": "shop",
    "fields": [
        {"name": "id", "type": "long", "arg.properties": {"iteration": {"start": 100}}},
        {"name": "item", "type": "string", "arg.properties": {"options": ["apple", "pear"]}},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 6, "scale": 2}},
        {"name": "share", "type": {"type": "double", "arg.properties": {"range": {"min": 0.5, "max": 1}}}},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "key", "type": {"type": "string", "logicalType": "uuid"}},
        {"name": "state", "type": {"type": "enum", "name": "State", "symbols": ["NEW", "PAID"]}},
        {"name": "hash", "type": {"type": "fixed", "name": "Hash", "size": 4}},
        {"name": "tags", "type": {"type": "map", "values": "string"}},
        {"name": "parts", "type": {"type": "array", "items": "Order"}},
        {"name": "parent", "type": ["null", "Order"]},
        {"name": "paid", "type": "boolean"},
        {"name": "raw", "type": ["null", "bytes", "float"]},
    ],
}
JSON: dict[str, Any] = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "required": ["id", "items"],
    "definitions": {
        "money": {"type": "number", "minimum": 0, "exclusiveMaximum": 10},
        "node": {"type": "object", "properties": {"next": {"$ref": "#/definitions/node"}}},
    },
    "properties": {
        "id": {"type": "integer", "minimum": 5, "maximum": 7},
        "step": {"type": "integer", "multipleOf": 5, "minimum": 1, "maximum": 21},
        "name": {"type": "string", "minLength": 2, "maxLength": 3},
        "at": {"type": "string", "format": "date-time"},
        "state": {"enum": ["a", "b"]},
        "kind": {"const": 7},
        "price": {"$ref": "#/definitions/money"},
        "items": {
            "type": "array",
            "minItems": 1,
            "items": {"type": "string", "pattern": "^x", "examples": ["x1"]},
        },
        "either": {"oneOf": [{"type": "integer"}, {"type": "string"}]},
        "both": {
            "allOf": [{"properties": {"a": {"type": "boolean"}}}, {"required": ["a"]}],
            "type": "object",
        },
        "maybe": {"type": ["null", "boolean"]},
        "list": {"$ref": "#/definitions/node"},
    },
    "additionalProperties": False,
}


def avro() -> AvroValues:
    parsed = parse("AVRO", json.dumps(AVRO))
    assert isinstance(parsed, AvroSchema)
    return AvroValues(parsed.root)


def test_records_fit_an_avro_schema() -> None:
    parsed = parse("AVRO", json.dumps(AVRO))
    assert isinstance(parsed, AvroSchema)
    values = avro()
    for number in range(200):
        value = values.make()
        fastavro.schemaless_writer(io.BytesIO(), fastavro.parse_schema(AVRO), to_datum(parsed.root, value))
        assert value["item"] in ("apple", "pear") and 0.5 <= value["share"] <= 1
        if not number:
            assert value["id"] == 100


def test_the_same_records_every_time() -> None:
    first, second = avro(), avro()
    assert [first.make() for _ in range(20)] == [second.make() for _ in range(20)]


def test_values_fit_a_json_schema() -> None:
    validator = jsonschema.Draft7Validator(JSON)
    values = JsonValues(JSON)
    made = [values.make() for _ in range(200)]
    for value in made:
        validator.validate(value)
    assert {value["id"] for value in made} == {5, 6, 7}
    assert {value["step"] for value in made} == {5, 10, 15, 20}


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"type": "string", "pattern": "^x"}, "add `examples`"),
        ({"$ref": "other.json"}, "points outside the schema"),
        ({"$ref": "#/definitions/none"}, "does not exist"),
        ({"$ref": "#"}, "endless recursion"),
        (False, "no value matches"),
        (
            {"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#"}}},
            "requires itself endlessly",
        ),
    ],
)
def test_schemas_for_which_nothing_can_be_made(schema: Any, reason: str) -> None:
    with pytest.raises(Unmakeable, match=reason):
        JsonValues(schema).make()
