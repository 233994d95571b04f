"""Reads and writes JSON the way the Java registries do, so that both produce the same canonical text."""

import json
import math
import re
from json.encoder import encode_basestring
from typing import Any

from moldau.registry.schemas.model import InvalidSchema

_COMMENT = re.compile(r'("(?:[^"\\]|\\.)*+(?:"|\\?\Z))|//[^\n]*+|/\*.*?(?:\*/|\Z)', re.DOTALL)
"""A comment, or a string that may contain what looks like one. An unterminated one reaches to the end, so that it is
scanned once."""


def read(text: str, what: str, *, comments: bool = False) -> Any:
    """Parses a JSON text. `what` names the format in errors; `comments` allows JavaScript's comments."""
    if comments and ("//" in text or "/*" in text):
        text = _COMMENT.sub(_blank, text)
    try:
        return json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise InvalidSchema(f"The {what} is not JSON: {error.msg} at {where}.") from None
    except ValueError as error:
        raise InvalidSchema(f"The {what} is not JSON: {error}.") from None


def _blank(match: re.Match[str]) -> str:
    """Blanks out a comment, so that errors still name the right line and column."""
    found = match[0]
    is_open = found.startswith("/*") and not found.endswith("*/")
    return found if match[1] or is_open else re.sub(r"[^\n]", " ", found)


def write(value: object, *, sort_keys: bool = False) -> str:
    """Compact, with non-ASCII characters kept and numbers as Java prints them."""
    if isinstance(value, str):
        return encode_basestring(value)
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    if isinstance(value, float):
        return java_double(value)
    if isinstance(value, dict):
        items = sorted(value.items()) if sort_keys else value.items()
        return "{" + ",".join(f"{write(key)}:{write(item, sort_keys=sort_keys)}" for key, item in items) + "}"
    if isinstance(value, list):
        return "[" + ",".join(write(item, sort_keys=sort_keys) for item in value) + "]"
    return str(value)


def java_double(value: float) -> str:
    """As `Double.toString`: scientific notation below a thousandth and from ten million on."""
    if not math.isfinite(value):
        return '"NaN"' if math.isnan(value) else f'"{"-" if value < 0 else ""}Infinity"'
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    digits, exponent = f"{value!r}e0".split("e")[:2] if "e" in repr(value) else _scientific(value)
    return f"{digits if '.' in digits else digits + '.0'}E{int(exponent)}"


def _scientific(value: float) -> tuple[str, str]:
    """The shortest digits of a number that Python writes without an exponent."""
    sign, digits = ("-" if value < 0 else ""), repr(abs(value))
    whole, _, fraction = digits.partition(".")
    exponent = len(whole) - 1
    if whole == "0":
        stripped = fraction.lstrip("0")
        exponent = len(stripped) - len(fraction) - 1
        whole, fraction = stripped[:1], stripped[1:]
    mantissa = (whole[1:] + fraction).rstrip("0") or "0"
    return f"{sign}{whole[0]}.{mantissa}", str(exponent)


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")
