"""JSON to Avro's data and back."""

import io
import json
from typing import Any

import fastavro
import pytest

from moldau.cli.formats.avro_json import to_datum, to_json
from moldau.registry.schemas import parse
from moldau.registry.schemas.avro.schema import AvroSchema
from moldau.registry.schemas.avro.types import AvroType


def node(schema: Any) -> AvroType:
    parsed = parse("AVRO", json.dumps(schema))
    assert isinstance(parsed, AvroSchema)
    return parsed.root


def there_and_back(schema: Any, value: Any) -> Any:
    compiled = fastavro.parse_schema(schema)
    out = io.BytesIO()
    fastavro.schemaless_writer(out, compiled, to_datum(node(schema), value))
    return to_json(fastavro.schemaless_reader(io.BytesIO(out.getvalue()), compiled, None))


def logical(kind: str, name: str, **more: int) -> dict[str, Any]:
    return {"type": kind, "logicalType": name, **more}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ("null", None),
        ("long", 2**62),
        ("double", 1.5),
        ("bytes", "a\u00ff"),
        ({"type": "fixed", "name": "F", "size": 2}, "ab"),
        ({"type": "enum", "name": "E", "symbols": ["A"]}, "A"),
        ({"type": "array", "items": ["null", "int"]}, [1, None]),
        ({"type": "map", "values": "string"}, {"k": "v"}),
        (logical("bytes", "decimal", precision=9, scale=2), "-12.30"),
        (logical("int", "date"), "2026-01-31"),
        (logical("int", "time-millis"), "12:30:00.250000"),
        (logical("long", "timestamp-micros"), "2026-01-31T12:00:00.000001+00:00"),
        (logical("string", "uuid"), "1f2a6f0e-58a5-4e7e-9b57-5b1a1d6c2d11"),
    ],
)
def test_a_value_comes_back_as_it_was(schema: Any, value: Any) -> None:
    assert there_and_back(schema, value) == value


def test_a_union_takes_plain_and_tagged_values() -> None:
    union = [
        "null",
        "string",
        {"type": "record", "name": "a.P", "fields": [{"name": "x", "type": "int"}]},
        {
            "type": "record",
            "name": "a.Q",
            "fields": [{"name": "x", "type": "int"}, {"name": "y", "type": "int"}],
        },
    ]
    for value in (None, "text", {"x": 1}, {"x": 1, "y": 2}):
        assert there_and_back(union, value) == value
    assert there_and_back(union, {"string": "text"}) == "text"
    assert there_and_back(union, {"a.Q": {"x": 1, "y": 2}}) == {"x": 1, "y": 2}


@pytest.mark.parametrize(
    ("schema", "value", "said"),
    [
        ("int", 2**31, "the value is 2147483648, but the schema requires int"),
        ("boolean", 1, "the schema requires boolean"),
        ("bytes", "\u0100", "one character per byte"),
        ({"type": "fixed", "name": "F", "size": 2}, "abc", "2 bytes for fixed F"),
        ({"type": "enum", "name": "E", "symbols": ["A", "B"]}, "C", "one of A, B"),
        ({"type": "array", "items": "int"}, [1, "x"], "[1] is 'x', but the schema requires int"),
        (["null", "int"], "x", "null or int"),
        (logical("int", "date"), "tomorrow", "a date in ISO 8601"),
        (
            {
                "type": "record",
                "name": "R",
                "fields": [{"name": "a", "type": {"type": "map", "values": "int"}}],
            },
            {"a": {"k": None}},
            "a.k is null, but the schema requires int",
        ),
        (
            {"type": "record", "name": "R", "fields": []},
            {"b": 1},
            "has field b, which record R does not have",
        ),
    ],
)
def test_what_does_not_fit_is_named(schema: Any, value: Any, said: str) -> None:
    with pytest.raises(ValueError) as caught:
        to_datum(node(schema), value)
    assert said in str(caught.value)
