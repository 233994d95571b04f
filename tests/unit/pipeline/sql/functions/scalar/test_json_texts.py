"""JSON in texts: numbers as they are written, paths, and what is no JSON."""

import pytest
from scalar_examples import value_of

from moldau.pipeline.sql.functions.scalar.json_values import path_steps

ORDER = '{"id": 1, "of": {"a b": [10, {"c": null}], "x.y": true}, "price": 1.10, "big": 123456789012345678901234567890}'


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("$.id", "1"),
        ("$.price", "1.10"),
        ("$.big", "123456789012345678901234567890"),
        ('$.of["a b"][0]', "10"),
        ("$.of[''a b''][1].c", "null"),
        ('$["of"]["x.y"]', "true"),
        ("$.of.a b[1]", '{"c":null}'),
        ("$.of.nothing", None),
        ("$.id.more", None),
        ('$.of["a b"][2]', None),
        ('$.of["a b"].c', None),
    ],
)
def test_paths(path: str, value: str | None) -> None:
    assert value_of(f"EXTRACTJSONFIELD('{ORDER}', '{path}')") == value


def test_the_whole_and_containers_keep_their_numbers() -> None:
    assert value_of("EXTRACTJSONFIELD('[1.0, 2e3, \"é\"]', '$')") == '[1.0,2000,"é"]'
    assert value_of("EXTRACTJSONFIELD('\"text\"', '$')") == "text"


@pytest.mark.parametrize("path", ["", "id", "$.", "$[", "$.a..b", "$[]", "$x"])
def test_what_is_no_path(path: str) -> None:
    with pytest.raises(ValueError, match="is no path into JSON"):
        path_steps(path)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("IS_JSON_STRING('')", False),
        ("IS_JSON_STRING('null')", True),
        ("IS_JSON_STRING('{}')", True),
        ("IS_JSON_STRING('[1,]')", False),
        ("JSON_ARRAY_CONTAINS('[1.5]', 1.5)", True),
        ("JSON_ARRAY_CONTAINS('[1.5]', 1.5E0)", True),
        ("JSON_ARRAY_CONTAINS('[1.0]', 1)", False),
        ("JSON_ARRAY_CONTAINS('[1]', TRUE)", False),
        ("JSON_ARRAY_CONTAINS('[true]', TRUE)", True),
        ("JSON_ARRAY_CONTAINS('[\"1\"]', '1')", True),
        ("JSON_ARRAY_CONTAINS('[[1]]', 1)", False),
        ("JSON_ARRAY_CONTAINS('{}', 1)", False),
        ("JSON_ARRAY_CONTAINS('not json', 1)", False),
        ("JSON_ARRAY_CONTAINS(NULL, 1)", False),
        ("JSON_ARRAY_LENGTH('[]')", 0),
        ("JSON_ARRAY_LENGTH('123')", None),
        ("JSON_KEYS('{}')", []),
        ("JSON_KEYS('1')", None),
        ('JSON_RECORDS(\'{"d": 1.50, "e": null}\')', {"d": "1.50", "e": "null"}),
        ("JSON_RECORDS('[]')", None),
        ("JSON_ITEMS('[]')", []),
        ("JSON_ITEMS('[{}, 1]')", None),
        ("JSON_ITEMS('{}')", None),
        ('JSON_CONCAT(\'{"a": {"5": 6}}\', \'{"a": {"3": 4}}\')', '{"a":{"3":4}}'),
        ("JSON_CONCAT('null', 'null')", "[null,null]"),
        ("JSON_CONCAT('[1, [2]]', '[[[3]]]')", "[1,[2],[[3]]]"),
        ("JSON_CONCAT('{}', '1')", "[{},1]"),
        ("JSON_CONCAT('[]')", "[]"),
    ],
)
def test_values(text: str, value: object) -> None:
    assert value_of(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", "1"),
        ("15.30", "15.30"),
        ("1E10", "1.0E10"),
        ("SQRT(-1)", '"NaN"'),
        ("'a\"b'", '"a\\"b"'),
        ("TRUE", "true"),
        ("CAST('13:25' AS TIME)", '"13:25"'),
        ("FROM_UNIXTIME(0)", '"1970-01-01T00:00:00.000"'),
        ("TO_BYTES('ok', 'utf8')", '"b2s="'),
        ("ARRAY[FROM_DAYS(0)]", '["1970-01-01"]'),
        ("MAP('b' := 2, 'a' := NULL)", '{"a":null,"b":2}'),
        ("ARRAY[STRUCT(J := 1, I := MAP('x' := FROM_DAYS(1)))]", '[{"I":{"x":"1970-01-02"},"J":1}]'),
        ("CAST(NULL AS STRUCT<A INTEGER>)", "null"),
    ],
)
def test_values_of_all_types_as_json(text: str, value: str) -> None:
    assert value_of(f"TO_JSON_STRING({text})") == value


@pytest.mark.parametrize(
    "name", ["JSON_ARRAY_LENGTH", "JSON_KEYS", "JSON_RECORDS", "JSON_ITEMS", "JSON_CONCAT"]
)
def test_what_is_no_json_is_said(name: str) -> None:
    with pytest.raises(ValueError, match="'abc' is no JSON"):
        value_of(f"{name}('abc')")


def test_deep_json_is_refused() -> None:
    with pytest.raises(ValueError, match="is no JSON"):
        value_of(f"JSON_CONCAT('{'[' * 100_000}')")
    with pytest.raises(ValueError, match="is no JSON"):
        value_of(f"EXTRACTJSONFIELD('{'[' * 100_000}', '$[0]')")
