"""PostgreSQL's texts of arrays and of hstore: `{1,NULL,"a,b",{2}}` and `"a"=>"1", "b"=>NULL`."""

import re
from collections.abc import Callable
from typing import Any, Final

_ELEMENT: Final = re.compile(r'"((?:[^"\\]|\\.)*)"|([^,{}"]+)', re.S)
_ESCAPED: Final = re.compile(r"\\(.)", re.S)
_PAIR: Final = re.compile(r'"((?:[^"\\]|\\.)*)"=>(?:"((?:[^"\\]|\\.)*)"|NULL)', re.S)


def array_of(text: str, read: Callable[[str], Any]) -> list[Any]:
    """Arrays of several dimensions become nested lists."""
    # An array whose first index is not 1 is written with its bounds: [0:1]={a,b}
    start = text.index("{")
    found, end = _array(text, start + 1, read)
    if end != len(text):
        raise ValueError(f"{text!r} is no array as PostgreSQL writes them")
    return found


def _array(text: str, at: int, read: Callable[[str], Any]) -> tuple[list[Any], int]:
    values: list[Any] = []
    while text[at] != "}":
        if text[at] == ",":
            at += 1
        if text[at] == "{":
            inner, at = _array(text, at + 1, read)
            values.append(inner)
            continue
        element = _ELEMENT.match(text, at)
        if element is None:
            raise ValueError(f"{text!r} is no array as PostgreSQL writes them: see position {at}")
        quoted, plain = element.groups()
        if quoted is not None:
            values.append(read(_unescaped(quoted)))
        else:
            values.append(None if plain == "NULL" else read(plain))
        at = element.end()
    return values, at + 1


def hstore_of(text: str) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for pair in _PAIR.finditer(text):
        key, value = pair.groups()
        found[_unescaped(key)] = None if value is None else _unescaped(value)
    return found


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(r"\1", text) if "\\" in text else text
