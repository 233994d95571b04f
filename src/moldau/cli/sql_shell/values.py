"""Values of answers as text. Numbers keep the digits the server wrote: 1.50 stays 1.50."""

import json
from typing import Any, Final

NULL: Final = "null"


class Digits(str):
    """A number with a fraction or an exponent, as it was written."""

    __slots__ = ()


def parsed(text: str) -> Any:
    """ValueError if it is not JSON."""
    return json.loads(text, parse_float=Digits)


def json_text(value: Any) -> str:
    """On one line."""
    match value:
        case Digits():
            return str(value)
        case dict():
            return (
                "{" + ", ".join(f"{_quoted(name)}: {json_text(each)}" for name, each in value.items()) + "}"
            )
        case list() | tuple():
            return "[" + ", ".join(map(json_text, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def cell_text(value: Any) -> str:
    """In a table: strings without quotes; arrays, maps and structs as the console of ksqlDB writes them."""
    match value:
        case None:
            return NULL
        case bool():
            return "true" if value else "false"
        case dict():
            return "{" + ", ".join(f"{name}={cell_text(each)}" for name, each in value.items()) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(cell_text, value)) + "]"
    return str(value)


def is_number(value: Any) -> bool:
    return isinstance(value, int | float | Digits) and not isinstance(value, bool)


def _quoted(text: str) -> str:
    return json.dumps(str(text), ensure_ascii=False)
