"""Parses and formats the values of settings, as Kafka's ConfigDef does."""

import re
from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import Any, Final


class ConfigType(IntEnum):
    """The numbers are those of DescribeConfigs."""

    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


_WHOLE_NUMBER: Final = re.compile(r"[+-]?[0-9]+")
_DECIMAL_NUMBER: Final = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def _parse_boolean(text: str) -> bool | None:
    return {"true": True, "false": False}.get(text.lower())


def _whole_number(bits: int) -> Callable[[str], int | None]:
    limit = 1 << (bits - 1)

    def parse(text: str) -> int | None:
        if len(text) > 20 or not _WHOLE_NUMBER.fullmatch(text):
            return None
        value = int(text)
        return value if -limit <= value < limit else None

    return parse


def _parse_double(text: str) -> float | None:
    return float(text) if _DECIMAL_NUMBER.fullmatch(text) else None


def parse_list(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",")) if text.strip() else ()


def format_value(value: object) -> str | None:
    """The text of a value in DescribeConfigs, as in Kafka."""
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return ",".join(value)
    if isinstance(value, float):
        return _format_double(value)
    return str(value)


def _format_double(value: float) -> str:
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    mantissa, _, exponent = repr(value).partition("e")
    if not exponent:
        digits = repr(value).removesuffix(".0")
        mantissa, exponent = f"{digits[0]}.{digits[1:].rstrip('0')}", str(len(digits) - 1)
    if "." not in mantissa or mantissa.endswith("."):
        mantissa = f"{mantissa.rstrip('.')}.0"
    return f"{mantissa}E{int(exponent)}"


PARSERS: Final[Mapping[ConfigType, Callable[[str], Any]]] = {
    ConfigType.BOOLEAN: _parse_boolean,
    ConfigType.STRING: str,
    ConfigType.INT: _whole_number(32),
    ConfigType.SHORT: _whole_number(16),
    ConfigType.LONG: _whole_number(64),
    ConfigType.DOUBLE: _parse_double,
    ConfigType.LIST: parse_list,
    ConfigType.CLASS: str,
    ConfigType.PASSWORD: str,
}
KINDS: Final = {
    ConfigType.BOOLEAN: "true or false",
    ConfigType.STRING: "a text",
    ConfigType.INT: "a whole number (32 bit)",
    ConfigType.SHORT: "a whole number (16 bit)",
    ConfigType.LONG: "a whole number (64 bit)",
    ConfigType.DOUBLE: "a number",
    ConfigType.LIST: "a list separated by commas",
    ConfigType.CLASS: "a class name",
    ConfigType.PASSWORD: "a secret text",
}
EXAMPLES: Final = {
    ConfigType.BOOLEAN: "true",
    ConfigType.STRING: "text",
    ConfigType.INT: "1",
    ConfigType.SHORT: "1",
    ConfigType.LONG: "1",
    ConfigType.DOUBLE: "0.5",
    ConfigType.LIST: "a,b",
    ConfigType.CLASS: "package.Class",
    ConfigType.PASSWORD: "secret",
}
