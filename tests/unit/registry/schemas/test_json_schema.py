"""JSON Schema: valid and invalid schemas, `$ref`, canonical and normalised text."""

import json
from typing import Any

import pytest

from moldau.registry.schemas import Existing, InvalidSchema, ParsedSchema, check, parse


def schema(value: Any, references: dict[str, ParsedSchema] | None = None) -> ParsedSchema:
    return parse("JSON", json.dumps(value), references)


def test_canonical_is_compact_and_keeps_the_order() -> None:
    given = parse(
        "JSON", '{ "type" : "object",\n "properties": {"b": {"const": 1.50}, "a": {"title": "ü"}} }'
    )
    assert given.canonical == '{"type":"object","properties":{"b":{"const":1.5},"a":{"title":"ü"}}}'


def test_normalised_sorts_the_names() -> None:
    one = schema({"type": "object", "properties": {"b": {}, "a": {"type": "string", "minLength": 1}}})
    other = schema({"properties": {"a": {"minLength": 1, "type": "string"}, "b": {}}, "type": "object"})
    assert one.canonical != other.canonical
    assert one.normalized().canonical == other.normalized().canonical
    assert one.normalized().canonical.startswith('{"properties":{"a":{"minLength":1,')


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"type": "strin"}, "(draft-07): at #/type"),
        (
            {"properties": {"a": {"minLength": -1}}},
            "at #/properties/a/minLength, -1 is less than the minimum of 0",
        ),
        ({"required": "a"}, "at #/required"),
        ([1], "it must be an object, true or false"),
        (
            {"$ref": "#/definitions/x", "definitions": {"y": {}}},
            "points to nothing; defined are #/definitions/y",
        ),
        ({"$ref": "#nowhere"}, "names an anchor that is not defined"),
        ({"$ref": "http://example.com/a.json"}, "neither in the schema nor in its references"),
        ({"properties": {"$$x": {}}}, "starts with $$, which is reserved"),
        ({"$schema": "https://json-schema.org/draft/2020-12/schema", "items": [{}]}, "(2020-12): at #/items"),
    ],
)
def test_an_invalid_schema_says_where_and_why(value: Any, said: str) -> None:
    with pytest.raises(InvalidSchema) as caught:
        schema(value)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "draft",
    [
        "http://json-schema.org/draft-04/schema#",
        "http://json-schema.org/draft-06/schema#",
        "http://json-schema.org/draft-07/schema#",
        "https://json-schema.org/draft/2019-09/schema",
        "https://json-schema.org/draft/2020-12/schema",
        "http://example.com/a-draft-of-ours",
    ],
)
def test_every_draft_is_taken_and_none_is_fetched(draft: str) -> None:
    assert schema({"$schema": draft, "type": "object"}).canonical


@pytest.mark.parametrize(
    ("ref", "name"),
    [
        ("address.json", "address.json"),
        ("http://example.com/address.json", "http://example.com/address.json"),
        ("address.json#/definitions/street", "address.json"),
    ],
)
def test_a_ref_leads_into_a_reference(ref: str, name: str) -> None:
    def order(kind: str) -> ParsedSchema:
        leaf = {"type": kind, "definitions": {"street": {"type": kind}}}
        return schema({"type": "object", "properties": {"to": {"$ref": ref}}}, {name: schema(leaf)})

    (clash,) = check("BACKWARD", order("integer"), [Existing(1, order("string"))])
    assert clash.path == "#/properties/to"
    assert check("FULL", order("string"), [Existing(1, order("string"))]) == []


def test_a_ref_is_resolved_against_the_id_of_the_schema() -> None:
    address = schema({"$id": "http://example.com/address.json", "type": "string"})
    whole = {"$id": "http://example.com/order.json", "properties": {"to": {"$ref": "address.json"}}}
    assert schema(whole, {"address": address}).canonical


def test_anchors_and_inner_ids_are_found() -> None:
    given = schema(
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": "http://example.com/root.json",
            "properties": {"a": {"$ref": "#name"}, "b": {"$ref": "inner.json"}},
            "$defs": {
                "n": {"$anchor": "name", "type": "string"},
                "i": {"$id": "inner.json", "type": "integer"},
            },
        }
    )
    old = schema({"properties": {"a": {"type": "string"}, "b": {"type": "string"}}})
    assert [clash.path for clash in check("BACKWARD", given, [Existing(1, old)])] == ["#/properties/b"]


@pytest.mark.parametrize(
    "value",
    [
        {"$ref": "#"},
        {
            "$ref": "#/definitions/a",
            "definitions": {"a": {"$ref": "#/definitions/b"}, "b": {"$ref": "#/definitions/a"}},
        },
        {"anyOf": [{"$ref": "#"}, {"type": "object", "properties": {"x": {"$ref": "#"}}}]},
        {"properties": {"a": {"not": {"$ref": "#"}}}},
    ],
)
def test_a_ref_that_leads_back_to_itself_ends(value: Any) -> None:
    one, other = schema(value), schema(value)
    assert check("FULL", one, [Existing(1, other)]) == []


def test_a_recursive_change_behind_an_alternative_is_not_hidden_by_the_cycle() -> None:
    def tree(leaf: str) -> ParsedSchema:
        node = {"oneOf": [{"type": leaf}, {"type": "array", "items": {"$ref": "#/definitions/node"}}]}
        return schema({"properties": {"root": {"$ref": "#/definitions/node"}}, "definitions": {"node": node}})

    assert check("BACKWARD", tree("integer"), [Existing(1, tree("string"))])


def test_in_2019_09_keywords_beside_a_ref_hold_and_in_draft_7_they_do_not() -> None:
    def beside(draft: str, limit: int) -> ParsedSchema:
        return schema(
            {
                "$schema": draft,
                "$ref": "#/definitions/s",
                "maxLength": limit,
                "definitions": {"s": {"type": "string"}},
            }
        )

    new, old = "https://json-schema.org/draft/2019-09/schema", "http://json-schema.org/draft-07/schema#"
    assert check("BACKWARD", beside(new, 5), [Existing(1, beside(new, 9))])
    assert check("BACKWARD", beside(old, 5), [Existing(1, beside(old, 9))]) == []
