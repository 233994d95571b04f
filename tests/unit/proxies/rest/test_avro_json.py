"""Avro's JSON encoding: what was written comes back, fastavro agrees, and what does not fit is named with its place."""

import io
import json
from typing import Any

import fastavro
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.proxies.rest.formats.avro import AvroCodec

TREE = {
    "type": "record",
    "name": "Tree",
    "namespace": "shop",
    "fields": [
        {"name": "label", "type": "string"},
        {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["LEAF", "NODE"]}},
        {
            "name": "data",
            "type": ["null", "bytes", {"type": "fixed", "name": "Two", "size": 2}],
            "default": None,
        },
        {"name": "weight", "type": ["null", "int", "double", "string", "boolean"], "default": None},
        {"name": "children", "type": {"type": "array", "items": "Tree"}, "default": []},
        {"name": "extras", "type": {"type": "map", "values": "long"}, "default": {}},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}, "default": 0},
    ],
}
latin = st.text(st.characters(max_codepoint=255), max_size=5)
trees = st.recursive(
    st.fixed_dictionaries(
        {
            "label": st.text(),
            "kind": st.sampled_from(["LEAF", "NODE"]),
            "data": st.none()
            | latin.map(lambda text: {"bytes": text})
            | st.just("\x00ÿ").map(lambda text: {"shop.Two": text}),
            "weight": st.none()
            | st.integers(-(2**31), 2**31 - 1).map(lambda number: {"int": number})
            | st.floats(allow_nan=False, allow_infinity=False).map(lambda number: {"double": number})
            | st.text().map(lambda text: {"string": text})
            | st.booleans().map(lambda flag: {"boolean": flag}),
            "extras": st.dictionaries(st.text(), st.integers(-(2**63), 2**63 - 1), max_size=2),
            "day": st.integers(0, 20_000),
        }
    ),
    lambda inner: inner.flatmap(
        lambda tree: st.lists(inner, max_size=2).map(lambda children: tree | {"children": children})
    ),
    max_leaves=4,
).map(lambda tree: {"children": [], **tree})


def completed(tree: dict[str, Any]) -> dict[str, Any]:
    return tree | {"children": [completed({"children": [], **each}) for each in tree["children"]]}


@given(trees)
def test_what_was_written_is_read_again(tree: dict[str, Any]) -> None:
    codec = AvroCodec(TREE, [])
    assert codec.decode(codec.encode(tree)) == completed(tree)


@given(trees)
def test_fastavro_writes_the_same_json(tree: dict[str, Any]) -> None:
    """Its JSON writer knows no schema that contains itself, and no empty key of a map, so these are left out."""
    flat = TREE | {"fields": [field for field in TREE["fields"] if field["name"] not in ("children", "data")]}
    leaf = {name: value for name, value in tree.items() if name not in ("children", "data")}
    leaf["extras"] = {name: number for name, number in leaf["extras"].items() if name}
    codec = AvroCodec(flat, [])
    encoded = codec.encode(leaf)
    parsed = fastavro.parse_schema(flat)
    out = io.StringIO()
    datum = fastavro.schemaless_reader(io.BytesIO(encoded), parsed, None)
    fastavro.json_writer(out, parsed, [datum])
    assert json.loads(out.getvalue()) == codec.decode(encoded) == leaf


@pytest.mark.parametrize(
    ("schema", "value", "words"),
    [
        ("int", 2**31, " is 2147483648, but the schema requires an int"),
        ("int", True, "requires an int"),
        ("long", 1.5, "requires a long"),
        ("boolean", 1, "true or false"),
        ("string", None, " is null, but the schema requires a string"),
        ("bytes", "€", "up to"),
        ({"type": "array", "items": "int"}, [1, "x"], "[1] is 'x'"),
        ({"type": "map", "values": "int"}, {"a": "x"}, ".a is 'x'"),
        (TREE, {"label": "x"}, " has no field kind, which record shop.Tree requires"),
        (TREE, {"label": "x", "kind": "LEAF", "colour": 1}, " has field colour"),
        (
            TREE,
            {"label": "x", "kind": "FLOWER"},
            ".kind is 'FLOWER', but the schema requires one of LEAF, NODE",
        ),
        (["null", "int", "string"], [], "one of the types null, int, string"),
        (["int", "string"], {"int": "x"}, ".int is 'x'"),
    ],
)
def test_what_does_not_fit_is_named_with_its_place(schema: Any, value: Any, words: str) -> None:
    with pytest.raises(ValueError) as caught:
        AvroCodec(schema, []).encode(value)
    assert words in str(caught.value)


def test_a_plain_value_is_taken_where_one_type_fits() -> None:
    codec = AvroCodec(["null", "int", "string", "double"], [])
    assert codec.decode(codec.encode("x")) == {"string": "x"}
    assert codec.decode(codec.encode(3)) == {"int": 3}
    assert codec.decode(codec.encode(None)) is None


def test_numbers_that_json_does_not_have() -> None:
    codec = AvroCodec("double", [])
    for text in ("NaN", "Infinity", "-Infinity"):
        assert codec.decode(codec.encode(text)) == text
