"""Hostile texts: deep, large, cyclic. Each ends in a result or in InvalidSchema, and soon."""

import json
from collections.abc import Callable

import pytest

from moldau.registry.schemas import Existing, InvalidSchema, check, parse
from moldau.registry.schemas.compatibility import CLASHES_MAX


def compared(kind: str, text: str, other: str | None = None) -> None:
    check("FULL", parse(kind, text), [Existing(1, parse(kind, other or text))])


def nested(opening: str, closing: str, depth: int, core: str) -> str:
    return opening * depth + core + closing * depth


DEEP: dict[str, tuple[str, Callable[[], str]]] = {
    "avro brackets": ("AVRO", lambda: "[" * 200_000),
    "avro arrays": ("AVRO", lambda: nested('{"type":"array","items":', "}", 50_000, '"int"')),
    "avro records": (
        "AVRO",
        lambda: (
            "".join(f'{{"type":"record","name":"R{i}","fields":[{{"name":"f","type":' for i in range(2_000))
            + '"int"'
            + "}]}" * 2_000
        ),
    ),
    "avro comments": ("AVRO", lambda: '"int" // x\n' + "/* " * 600_000),
    "avro quotes": ("AVRO", lambda: '// x\n"' + '\\"' * 900_000),
    "json nots": ("JSON", lambda: nested('{"not":', "}", 20_000, "{}")),
    "json objects": ("JSON", lambda: nested('{"type":"object","properties":{"a":', "}}", 5_000, "true")),
    "protobuf messages": ("PROTOBUF", lambda: nested("message A {", "}", 5_000, "")),
    "protobuf options": ("PROTOBUF", lambda: f"option (x) = {nested('{a:', '}', 5_000, '1')};"),
    "protobuf descriptor": ("PROTOBUF", lambda: "I" * 100_000),
}


@pytest.mark.parametrize("name", DEEP)
def test_a_text_without_end_is_refused(name: str) -> None:
    kind, text = DEEP[name]
    with pytest.raises(InvalidSchema):
        parse(kind, text())


@pytest.mark.parametrize("kind", ["AVRO", "JSON", "PROTOBUF"])
def test_a_text_of_five_megabytes_is_refused_before_it_is_read(kind: str) -> None:
    with pytest.raises(InvalidSchema, match="at most 2,097,152 are accepted"):
        parse(kind, '"' + "x" * 5_000_000 + '"')


def chain(length: int) -> str:
    first = {"type": "record", "name": "R0", "fields": []}
    return json.dumps(
        [first]
        + [
            {"type": "record", "name": f"R{i}", "fields": [{"name": "f", "type": f"R{i - 1}"}]}
            for i in range(1, length)
        ]
    )


def test_types_that_are_flat_as_text_and_deep_as_types_are_refused_in_words() -> None:
    orders = [
        parse(
            "AVRO",
            '{"type":"record","name":"T","fields":[{"name":"last","type":"R2999"}]}',
            {"chain": parse("AVRO", chain(3_000))},
        )
        for _ in range(2)
    ]
    with pytest.raises(InvalidSchema, match="nested too deeply to be compared"):
        check("FULL", orders[0], [Existing(1, orders[1])])


def test_a_union_of_thousands_is_compared_by_name() -> None:
    compared("AVRO", chain(3_000))


def test_a_graph_with_many_paths_is_walked_once() -> None:
    """Thirty levels with two alternatives each are a billion paths."""
    levels = [{"type": "record", "name": "R0", "fields": [{"name": "x", "type": "%s"}]}] + [
        {"type": "record", "name": f"R{i}", "fields": [{"name": n, "type": f"R{i - 1}"} for n in ("a", "b")]}
        for i in range(1, 30)
    ]
    text = json.dumps(levels)
    found = check("FULL", parse("AVRO", text % "string"), [Existing(1, parse("AVRO", text % "int"))])
    assert 0 < len(found) < 200


def test_definitions_that_all_refer_to_each_other_are_compared_soon() -> None:
    def web(leaf: str) -> str:
        names = [f"n{i}" for i in range(12)]
        every = [{"$ref": f"#/definitions/{name}"} for name in names]
        definitions = {
            name: {"oneOf": [*every, {"type": "object", "properties": {name: {"type": leaf}}}]}
            for name in names
        }
        return json.dumps({"oneOf": every, "definitions": definitions})

    compared("JSON", web("string"), web("integer"))


def test_alternatives_past_the_limit_are_refused_in_words() -> None:
    def many(leaf: str) -> str:
        return json.dumps(
            {"oneOf": [{"type": "object", "properties": {f"p{i}": {"type": leaf}}} for i in range(300)]}
        )

    with pytest.raises(InvalidSchema, match="use fewer of them in oneOf"):
        compared("JSON", many("string"), many("integer"))


def test_a_regular_expression_does_not_run_away() -> None:
    evil = {
        "type": "object",
        "patternProperties": {"^(a+)+$": {"type": "string"}},
        "additionalProperties": False,
    }
    name = "a" * 60 + "!"
    compared("JSON", json.dumps(evil), json.dumps({**evil, "properties": {name: {"type": "string"}}}))


def test_a_huge_enum_is_compared_and_its_message_stays_short() -> None:
    def enum(count: int) -> str:
        return json.dumps({"type": "enum", "name": "E", "symbols": [f"S{i}" for i in range(count)]})

    (clash,) = check("BACKWARD", parse("AVRO", enum(10)), [Existing(1, parse("AVRO", enum(50_000)))])
    assert "and 49985 more" in clash.message
    assert len(clash.message) < 500


def test_a_wide_object_is_compared() -> None:
    wide = {
        "type": "object",
        "properties": {f"p{i}": {"type": "string", "enum": ["a", "b"]} for i in range(5_000)},
    }
    compared("JSON", json.dumps(wide))


def test_ten_thousand_clashes_are_told_by_the_first_hundred() -> None:
    def wide(kind: str) -> str:
        fields = [{"name": f"f{i}", "type": kind} for i in range(5_000)]
        return json.dumps({"type": "record", "name": "R", "fields": fields})

    found = check("FULL", parse("AVRO", wide("int")), [Existing(1, parse("AVRO", wide("string")))])
    assert len(found) == CLASHES_MAX


def test_a_recursive_protobuf_is_compared() -> None:
    text = 'syntax = "proto3"; message A { B b = 1; A a = 2; } message B { A a = 1; map<string, B> m = 2; }'
    compared("PROTOBUF", text)


def test_a_schema_type_nobody_knows_is_refused() -> None:
    with pytest.raises(InvalidSchema, match="the types are AVRO, JSON, PROTOBUF"):
        parse("XML", "<a/>")
