"""JSON as text and as values, with numbers as they are written.

`json_value` is quick and enough to look at kinds, texts and whole numbers; `exact_value` keeps each number as it is
written; `json_text` writes values as Jackson does.
"""

import base64
import json
import re
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final

import orjson

from moldau.pipeline.sql.types import BYTES, DATE, TIME, TIMESTAMP, Array, Map, SqlType, Struct
from moldau.pipeline.sql.value_texts import date_text, decimal_text, double_text, time_text, timestamp_text

_SEGMENT: Final = re.compile(
    r"""\.(?P<name>[^.\[\]"']+)|\[\s*(?:(?P<plain>[^\]"']+?)|"(?P<double>(?:[^"\\]|\\.)*)"|'(?P<single>(?:[^'\\]|\\.)*)')\s*\]"""
)
_ESCAPE: Final = re.compile(r"\\(.)")


@lru_cache(maxsize=4)
def json_value(text: str) -> Any:
    """Remembered for the other functions that look into the same text. It must not be changed."""
    try:
        return orjson.loads(text)
    except ValueError as wrong:
        raise ValueError(f"{_shown(text)} is no JSON: {wrong}") from None


def exact_value(text: str) -> Any:
    """Numbers with a fraction or an exponent are decimals."""
    try:
        return json.loads(text, parse_float=Decimal)
    except (ValueError, RecursionError) as wrong:
        raise ValueError(f"{_shown(text)} is no JSON: {wrong}") from None


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:60] + "...")


@lru_cache(maxsize=512)
def path_steps(path: str) -> tuple[str, ...]:
    """Of `$.a[0]["b c"]`; ValueError where it is no such path."""
    steps: list[str] = []
    place = 1
    while path.startswith("$") and place < len(path):
        found = _SEGMENT.match(path, place)
        if found is None:
            break
        quoted = found["double"] if found["double"] is not None else found["single"]
        steps.append((found["name"] or found["plain"]) if quoted is None else _ESCAPE.sub(r"\1", quoted))
        place = found.end()
    if not path.startswith("$") or place != len(path):
        raise ValueError(f"{path!r} is no path into JSON; one looks like '$.order.items[0]'")
    return tuple(steps)


def at_path(value: Any, steps: tuple[str, ...]) -> tuple[bool, Any]:
    """Whether there is something at the path, and what it is."""
    for step in steps:
        if isinstance(value, dict):
            if step not in value:
                return False, None
            value = value[step]
        elif isinstance(value, list):
            if not (step.isascii() and step.isdigit()) or int(step) >= len(value):
                return False, None
            value = value[int(step)]
        else:
            return False, None
    return True, value


def json_text(value: Any) -> str:
    """Without spaces."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return _string_text(value)
        case int():
            return str(value)
        case Decimal():
            return decimal_text(value)
        case float():
            text = double_text(value)
            return text if value == value and abs(value) != float("inf") else f'"{text}"'
        case list():
            return f"[{','.join(map(json_text, value))}]"
        case dict():
            return "{" + ",".join(f"{_string_text(name)}:{json_text(of)}" for name, of in value.items()) + "}"
    raise TypeError(f"{value!r} is no JSON value")


def _string_text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def sql_to_json(kind: SqlType | None, value: Any) -> Any:
    """A SQL value as a value of JSON: times are text, bytes base64, the fields of a STRUCT in the order of names."""
    if value is None or kind is None:
        return None
    match kind:
        case Array(element=element):
            return [sql_to_json(element, one) for one in value]
        case Map(value=of):
            return {str(key): sql_to_json(of, value[key]) for key in sorted(value)}
        case Struct(fields=fields):
            return {
                name: sql_to_json(of, value.get(name))
                for name, of in sorted(fields, key=lambda field: field[0])
            }
    if kind == DATE:
        return date_text(value)
    if kind == TIME:
        return time_text(value)
    if kind == TIMESTAMP:
        return timestamp_text(value)
    return base64.b64encode(value).decode() if kind == BYTES else value
