"""The REGEXP functions."""

from typing import Any, Final

from moldau.pipeline.java_texts.regex import replacement, to_scan, to_search
from moldau.pipeline.sql.functions.declaration import Category, Form, Parameter, Scalar
from moldau.pipeline.sql.types import INTEGER, STRING, Array


def regexp_extract(pattern: str, text: str, group: int = 0) -> str | None:
    regex = to_search(pattern, text)
    found = regex.search(text) if _has_group(regex, group) else None
    return None if found is None else found.group(group)


def regexp_extract_all(pattern: str, text: str, group: int = 0) -> list[Any] | None:
    regex = to_scan(pattern, text)
    return [found.group(group) for found in regex.finditer(text)] if _has_group(regex, group) else None


def _has_group(regex: Any, group: int) -> bool:
    if group < 0:
        raise ValueError(
            f"{group} is no group of a regular expression: they count from 1, and 0 is the whole match"
        )
    return bool(group <= regex.groups)


def regexp_replace(text: str, pattern: str, new: str) -> str:
    try:
        return str(to_scan(pattern, text).sub(replacement(new), text))
    except (IndexError, KeyError):
        raise ValueError(f"{new!r} names a group that {pattern!r} does not have") from None


def regexp_split_to_array(text: str, pattern: str) -> list[str]:
    """The parts between the matches. A pattern that matches nothing at all cuts between all characters."""
    regex = to_scan(pattern, text)
    parts, start = [], 0
    is_empty = regex.fullmatch("") is not None
    for found in regex.finditer(text):
        if is_empty and found.end() == 0:
            continue
        parts.append(text[start : found.start()])
        start = found.end()
    parts.append(text[start:])
    while is_empty and len(parts) > 1 and not parts[-1]:
        parts.pop()
    return parts


_PATTERN: Final = Parameter("pattern", STRING, "a regular expression as Java writes it")
_TEXT: Final = Parameter("text", STRING)
_GROUP: Final = Parameter(
    "group", INTEGER, "the number of a group of the pattern; the whole match without it"
)

FUNCTIONS: Final[tuple[Scalar, ...]] = (
    Scalar(
        "REGEXP_EXTRACT",
        Category.STRING,
        "The first part of a text that matches a pattern. NULL where there is none, or no such group.",
        (Form((_PATTERN, _TEXT), STRING), Form((_PATTERN, _TEXT, _GROUP), STRING)),
        regexp_extract,
        examples=(
            "REGEXP_EXTRACT('\\d+', 'order 42 of 99') => '42'",
            "REGEXP_EXTRACT('(.*) (.*)', 'hello there', 2) => 'there'",
        ),
    ),
    Scalar(
        "REGEXP_EXTRACT_ALL",
        Category.STRING,
        "All parts of a text that match a pattern.",
        (Form((_PATTERN, _TEXT), Array(STRING)), Form((_PATTERN, _TEXT, _GROUP), Array(STRING))),
        regexp_extract_all,
        examples=(
            "REGEXP_EXTRACT_ALL('\\d+', 'order 42 of 99') => ARRAY['42', '99']",
            "REGEXP_EXTRACT_ALL('(\\w+)=(\\w+)', 'a=1 b=2', 2) => ARRAY['1', '2']",
        ),
    ),
    Scalar(
        "REGEXP_REPLACE",
        Category.STRING,
        "A text with something else for each part that matches a pattern; $1 stands for the first group.",
        (Form((_TEXT, _PATTERN, Parameter("new", STRING)), STRING),),
        regexp_replace,
        examples=(
            "REGEXP_REPLACE('a1b22', '[0-9]+', '#') => 'a#b#'",
            "REGEXP_REPLACE('2024-01-31', '(\\d+)-(\\d+)-(\\d+)', '$3.$2.$1') => '31.01.2024'",
        ),
    ),
    Scalar(
        "REGEXP_SPLIT_TO_ARRAY",
        Category.STRING,
        "The parts of a text between the parts that match a pattern; an empty pattern cuts between all characters.",
        (Form((_TEXT, _PATTERN), Array(STRING)),),
        regexp_split_to_array,
        examples=(
            "REGEXP_SPLIT_TO_ARRAY('a1b22c', '[0-9]+') => ARRAY['a', 'b', 'c']",
            "REGEXP_SPLIT_TO_ARRAY('abc', '') => ARRAY['a', 'b', 'c']",
        ),
    ),
)
