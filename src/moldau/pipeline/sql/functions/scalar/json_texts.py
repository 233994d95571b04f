"""Functions of JSON in a text."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from moldau.pipeline.sql.functions.declaration import AnyType, Category, Form, Parameter, Scalar
from moldau.pipeline.sql.functions.scalar.json_values import (
    at_path,
    exact_value,
    json_text,
    json_value,
    path_steps,
    sql_to_json,
)
from moldau.pipeline.sql.types import BOOLEAN, INTEGER, STRING, Array, Map, SqlType


def extractjsonfield(text: str, path: str) -> str | None:
    steps = path_steps(path)
    is_there, found = at_path(json_value(text), steps)
    if not is_there:
        return None
    if isinstance(found, str):
        return found
    if isinstance(found, float | list | dict):
        _, found = at_path(exact_value(text), steps)
    return json_text(found)


def is_json_string(text: str | None) -> bool:
    if text is None:
        return False
    try:
        json_value(text)
    except ValueError:
        return False
    return True


def json_array_contains(text: str | None, wanted: Any) -> bool:
    """A number with a fraction is not the same as one without, nor is a text."""
    if text is None:
        return False
    try:
        values = json_value(text)
    except ValueError:
        return False
    if not isinstance(values, list):
        return False
    if isinstance(wanted, str | bool | int | None):
        return any(type(value) is type(wanted) and value == wanted for value in values)
    return any(type(value) is float and value == float(wanted) for value in values)


def json_array_length(text: str) -> int | None:
    values = json_value(text)
    return len(values) if isinstance(values, list) else None


def json_concat(*texts: str | None) -> str | None:
    """As PostgreSQL's || does for jsonb."""
    if any(text is None for text in texts):
        return None
    values = [exact_value(text) for text in texts if text is not None]
    if all(isinstance(value, dict) for value in values):
        return json_text({name: of for value in values for name, of in value.items()})
    return json_text([one for value in values for one in (value if isinstance(value, list) else [value])])


def json_keys(text: str) -> list[str] | None:
    value = json_value(text)
    return list(value) if isinstance(value, dict) else None


def json_records(text: str) -> dict[str, str] | None:
    value = exact_value(text)
    return {name: json_text(of) for name, of in value.items()} if isinstance(value, dict) else None


def json_items(text: str) -> list[str] | None:
    values = exact_value(text)
    is_of_objects = isinstance(values, list) and all(isinstance(value, dict) for value in values)
    return list(map(json_text, values)) if is_of_objects else None


def to_json_string(kind: SqlType | None, value: Any) -> str:
    return json_text(sql_to_json(kind, value))


def _json_of(types: Sequence[SqlType | None]) -> Callable[..., Any]:
    return partial(to_json_string, types[0])


_JSON: Final = Parameter("json", STRING)


def _function(name: str, doc: str, result: Any, meaning: Callable[..., Any], *examples: str) -> Scalar:
    return Scalar(name, Category.JSON, doc, (Form((_JSON,), result),), meaning, examples=examples)


FUNCTIONS: Final[tuple[Scalar, ...]] = (
    Scalar(
        "EXTRACTJSONFIELD",
        Category.JSON,
        "What stands at a path in JSON, as text. NULL where there is nothing.",
        (Form((_JSON, Parameter("path", STRING, "such as '$.order.items[0]'")), STRING),),
        extractjsonfield,
        examples=(
            """EXTRACTJSONFIELD('{"log": {"cloud": "gcp", "instance": 4}}', '$.log.cloud') => 'gcp'""",
            """EXTRACTJSONFIELD('{"sizes": [1.50, 2]}', '$.sizes[0]') => '1.50'""",
            """EXTRACTJSONFIELD('{"a": {"b": [1, 2]}}', '$.a') => '{"b":[1,2]}'""",
            """EXTRACTJSONFIELD('{"a": 1}', '$.b') => NULL""",
        ),
    ),
    Scalar(
        "IS_JSON_STRING",
        Category.JSON,
        "Whether a text is JSON.",
        (Form((_JSON,), BOOLEAN),),
        is_json_string,
        takes_null=True,
        examples=(
            "IS_JSON_STRING('[1, 2, 3]') => TRUE",
            """IS_JSON_STRING('"abc"') => TRUE""",
            "IS_JSON_STRING('abc') => FALSE",
            "IS_JSON_STRING(NULL) => FALSE",
        ),
    ),
    Scalar(
        "JSON_ARRAY_CONTAINS",
        Category.JSON,
        "Whether a value is in an array in JSON.",
        (Form((_JSON, Parameter("value", AnyType())), BOOLEAN),),
        json_array_contains,
        takes_null=True,
        examples=(
            "JSON_ARRAY_CONTAINS('[1, 2, 3]', 3) => TRUE",
            """JSON_ARRAY_CONTAINS('["a", null]', NULL) => TRUE""",
            "JSON_ARRAY_CONTAINS('[1, 2, 3]', 'a') => FALSE",
        ),
    ),
    _function(
        "JSON_ARRAY_LENGTH",
        "How many elements an array in JSON has. NULL where there is no array.",
        INTEGER,
        json_array_length,
        "JSON_ARRAY_LENGTH('[1, [1, [2]], 3]') => 3",
        "JSON_ARRAY_LENGTH('{}') => NULL",
    ),
    Scalar(
        "JSON_CONCAT",
        Category.JSON,
        "Objects become one object, in which the last value of a name counts; anything else becomes one array. "
        "NULL where one of them is null or no JSON.",
        (Form((Parameter("jsons", STRING),), STRING, is_variadic=True),),
        json_concat,
        takes_null=True,
        examples=(
            """JSON_CONCAT('{"a": 1}', '{"b": 2}') => '{"a":1,"b":2}'""",
            """JSON_CONCAT('[1, 2]', '{"a": 1}') => '[1,2,{"a":1}]'""",
            "JSON_CONCAT('1', '2') => '[1,2]'",
            "JSON_CONCAT(NULL, '[1]') => NULL",
        ),
    ),
    _function(
        "JSON_ITEMS",
        "The objects in an array in JSON, each as text. NULL where it has anything else.",
        Array(STRING),
        json_items,
        """JSON_ITEMS('[{"a": 1}, {"b": [2]}]') => ARRAY['{"a":1}', '{"b":[2]}']""",
    ),
    _function(
        "JSON_KEYS",
        "The names in an object in JSON. NULL where there is no object.",
        Array(STRING),
        json_keys,
        """JSON_KEYS('{"a": "abc", "b": {"c": 1}}') => ARRAY['a', 'b']""",
        "JSON_KEYS('[]') => NULL",
    ),
    _function(
        "JSON_RECORDS",
        "The names and values in an object in JSON, the values as JSON. NULL where there is no object.",
        Map(STRING, STRING),
        json_records,
        """JSON_RECORDS('{"a": "abc", "b": {"c": 1}}') => MAP('a' := '"abc"', 'b' := '{"c":1}')""",
    ),
    Scalar(
        "TO_JSON_STRING",
        Category.JSON,
        "Any value as JSON. Times are text, bytes are in base64, and names in objects stand in their order.",
        (Form((Parameter("value", AnyType()),), STRING, bind=_json_of),),
        takes_null=True,
        examples=(
            "TO_JSON_STRING(ARRAY[1, NULL, 3]) => '[1,null,3]'",
            """TO_JSON_STRING(STRUCT(NAME := 'A', ID := 1)) => '{"ID":1,"NAME":"A"}'""",
            """TO_JSON_STRING(CAST('2024-01-31' AS DATE)) => '"2024-01-31"'""",
            "TO_JSON_STRING(15.30) => '15.30'",
            "TO_JSON_STRING(NULL) => 'null'",
        ),
    ),
)
