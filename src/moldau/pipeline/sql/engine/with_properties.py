"""WITH (...): which properties there are, and their values, checked one by one and against each other."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from moldau.pipeline.sql.definitions import KeyWindow
from moldau.pipeline.sql.syntax.errors import NOWHERE, Position, SqlError, did_you_mean, short
from moldau.pipeline.sql.syntax.parser import parse_expression
from moldau.pipeline.sql.syntax.tree.expressions import ColumnName
from moldau.pipeline.sql.syntax.tree.relations import DURATION_DAYS_MAX, UNIT_MS
from moldau.pipeline.sql.syntax.tree.statements import Property
from moldau.pipeline.sql.types import BIGINT_MAX, INTEGER_MAX

COMMON: Final[Mapping[str, type]] = {
    "KAFKA_TOPIC": str,
    "PARTITIONS": int,
    "REPLICAS": int,
    "RETENTION_MS": int,
    "CLEANUP_POLICY": str,
    "FORMAT": str,
    "KEY_FORMAT": str,
    "VALUE_FORMAT": str,
    "KEY_DELIMITER": str,
    "VALUE_DELIMITER": str,
    "KEY_SCHEMA_ID": int,
    "VALUE_SCHEMA_ID": int,
    "KEY_SCHEMA_FULL_NAME": str,
    "VALUE_SCHEMA_FULL_NAME": str,
    "VALUE_AVRO_SCHEMA_FULL_NAME": str,
    "KEY_PROTOBUF_NULLABLE_REPRESENTATION": str,
    "VALUE_PROTOBUF_NULLABLE_REPRESENTATION": str,
    "WRAP_SINGLE_VALUE": bool,
    "TIMESTAMP": str,
    "TIMESTAMP_FORMAT": str,
}
OF_CREATE: Final[Mapping[str, type]] = {
    **COMMON,
    "WINDOW_TYPE": str,
    "WINDOW_SIZE": str,
    "SOURCED_BY_CONNECTOR": str,
    "KEY": str,
}
"""`KEY` is of KSQL 5."""
OF_INSERT: Final[Mapping[str, type]] = {"QUERY_ID": str}
OF_TOPIC_ASSERTION: Final[Mapping[str, type]] = {"PARTITIONS": int, "REPLICAS": int}

FORMAT_PROPERTIES: Final = ("DELIMITER", "SCHEMA_ID", "SCHEMA_FULL_NAME", "PROTOBUF_NULLABLE_REPRESENTATION")
"""With KEY_ or VALUE_ before them."""
_EXPECTS: Final = {str: "text in single quotes", int: "a whole number", bool: "true or false"}
_EXAMPLES: Final = {str: "'text'", int: "6", bool: "true"}
_RANGES: Final = {
    "PARTITIONS": (1, 100_000),
    "REPLICAS": (1, 2**15 - 1),
    "RETENTION_MS": (-1, BIGINT_MAX),
    "KEY_SCHEMA_ID": (0, INTEGER_MAX),
    "VALUE_SCHEMA_ID": (0, INTEGER_MAX),
}
"""The least and the largest value of each property that is a number. REPLICAS may also be -1."""
_WHOLE_NUMBER: Final = re.compile(r"-?[0-9]+")
_WINDOW_SIZE: Final = re.compile(r"\s*(\d+)\s+([A-Za-z]+)\s*")


@dataclass(frozen=True, slots=True)
class WithProperties:
    """The values by name, each of its type."""

    values: Mapping[str, Any]
    places: Mapping[str, Position]

    def __contains__(self, name: str) -> bool:
        return name in self.values

    def get(self, name: str) -> Any:
        return self.values.get(name)

    def wrong(self, name: str, message: str, hint: str = "") -> SqlError:
        """An error that points at a property."""
        return SqlError(message, self.places.get(name, NOWHERE), hint=hint)

    @property
    def key_format(self) -> str | None:
        return self._format("KEY_FORMAT")

    @property
    def value_format(self) -> str | None:
        return self._format("VALUE_FORMAT")

    def _format(self, name: str) -> str | None:
        found = self.values.get(name) or self.values.get("FORMAT")
        return None if found is None else str(found).upper()

    def of_format(self, side: str) -> tuple[tuple[str, str], ...]:
        """What is said of the format of KEY or VALUE."""
        found = {name: self.values.get(f"{side}_{name}") for name in FORMAT_PROPERTIES}
        if side == "VALUE" and found["SCHEMA_FULL_NAME"] is None:
            found["SCHEMA_FULL_NAME"] = self.values.get("VALUE_AVRO_SCHEMA_FULL_NAME")
        return tuple((name, str(value)) for name, value in found.items() if value is not None)

    @property
    def window(self) -> KeyWindow | None:
        kind, size = self.values.get("WINDOW_TYPE"), self.values.get("WINDOW_SIZE")
        if kind is None:
            if size is not None:
                raise self.wrong("WINDOW_SIZE", "WINDOW_SIZE needs WINDOW_TYPE")
            return None
        kind = str(kind).upper()
        if kind not in ("TUMBLING", "HOPPING", "SESSION"):
            hint = (
                did_you_mean(kind, ("TUMBLING", "HOPPING", "SESSION")) or "Use TUMBLING, HOPPING or SESSION."
            )
            raise self.wrong("WINDOW_TYPE", f"unknown WINDOW_TYPE '{kind}'", hint)
        if kind == "SESSION":
            if size is not None:
                raise self.wrong(
                    "WINDOW_SIZE", "sessions have no fixed size, so WINDOW_SIZE must be left out"
                )
            return KeyWindow("SESSION")
        if size is None:
            raise self.wrong(
                "WINDOW_TYPE",
                f"WINDOW_TYPE {kind} needs WINDOW_SIZE",
                "For example WINDOW_SIZE='30 SECONDS'.",
            )
        return KeyWindow(kind, self._size_ms(str(size)))  # type: ignore[arg-type]

    def _size_ms(self, text: str) -> int:
        found = _WINDOW_SIZE.fullmatch(text)
        unit = "" if found is None else found[2].upper()
        unit = unit if unit.endswith("S") else unit + "S"
        digits = "" if found is None else found[1].lstrip("0")
        if unit not in UNIT_MS or not digits:
            raise self.wrong(
                "WINDOW_SIZE",
                f"WINDOW_SIZE '{text}' is not a duration",
                "It is a number and a unit of time, for example '30 SECONDS'.",
            )
        limit_ms = DURATION_DAYS_MAX * UNIT_MS["DAYS"]
        if len(digits) > len(str(limit_ms)) or int(digits) * UNIT_MS[unit] > limit_ms:
            message = f"WINDOW_SIZE is {short(digits)} {unit}; it can be {DURATION_DAYS_MAX:,} DAYS at most"
            raise self.wrong("WINDOW_SIZE", message, "Give the size that the windows in the keys have.")
        return int(digits) * UNIT_MS[unit]


def read_properties(given: Sequence[Property], known: Mapping[str, type]) -> WithProperties:
    """SqlError for an unknown property, a value of a wrong type, and properties that exclude each other."""
    values: dict[str, Any] = {}
    places: dict[str, Position] = {}
    for one in given:
        name = one.name.upper()
        kind = known.get(name)
        if kind is None:
            raise _unknown(one, known)
        values[name] = _value(one, kind)
        places[name] = one.at
    found = WithProperties(values, places)
    _check(found)
    return found


def column_of(text: str) -> str:
    """The column that a property names: upper-cased unless it is quoted."""
    try:
        found = parse_expression(text)
    except SqlError:
        return text
    return found.name if isinstance(found, ColumnName) else text


def _unknown(one: Property, known: Mapping[str, type]) -> SqlError:
    name = one.name.upper()
    if name in OF_CREATE:
        return SqlError(f"property {name} has no meaning in this statement", one.at)
    hint = did_you_mean(name, known) or f"The properties are {', '.join(sorted(known))}."
    return SqlError(f"unknown property {one.name}", one.at, hint=hint)


def _value(one: Property, kind: type) -> Any:
    """As ksqlDB, numbers and booleans may stand in quotes."""
    value = one.value.value
    if kind is str and isinstance(value, str):
        if one.name.upper() == "KAFKA_TOPIC" and not value.strip():
            raise SqlError("KAFKA_TOPIC must not be empty", one.at)
        return value
    if kind is bool and (isinstance(value, bool) or str(value).lower() in ("true", "false")):
        return str(value).lower() == "true"
    if kind is int and not isinstance(value, bool) and _WHOLE_NUMBER.fullmatch(str(value)):
        return _number(one, str(value))
    shown = f"'{short(value)}'" if isinstance(value, str) else str(value)
    raise SqlError(
        f"property {one.name} has the value {shown}; it takes {_EXPECTS[kind]}",
        one.at,
        hint=f"For example {one.name}={_EXAMPLES[kind]}.",
    )


def _number(one: Property, text: str) -> int:
    name = one.name.upper()
    least, most = _RANGES[name]
    # Python converts no number of very many digits.
    value = int(text) if len(text) <= 100 else None
    if name == "REPLICAS" and value == -1:
        return -1
    if value is not None and least <= value <= most:
        return value
    if value is not None and value < least:
        raise SqlError(
            f"{name} must be at least {least}, not {value}",
            one.at,
            hint=f"For example {name}={max(least, 6)}.",
        )
    raise SqlError(
        f"{name} must be between {least} and {most}, not {short(text)}",
        one.at,
        hint=f"Give {name} a smaller number.",
    )


def _check(found: WithProperties) -> None:
    for name in ("KEY_FORMAT", "VALUE_FORMAT"):
        if name in found and "FORMAT" in found:
            raise found.wrong(
                name,
                f"{name} and FORMAT cannot be given together, since FORMAT sets both the key's and the value's format",
                "Give FORMAT alone, or KEY_FORMAT and VALUE_FORMAT.",
            )
    if "VALUE_AVRO_SCHEMA_FULL_NAME" in found and "VALUE_SCHEMA_FULL_NAME" in found:
        raise found.wrong(
            "VALUE_AVRO_SCHEMA_FULL_NAME",
            "VALUE_AVRO_SCHEMA_FULL_NAME and VALUE_SCHEMA_FULL_NAME mean the same; give VALUE_SCHEMA_FULL_NAME alone",
        )
    if "TIMESTAMP_FORMAT" in found and "TIMESTAMP" not in found:
        raise found.wrong(
            "TIMESTAMP_FORMAT", "TIMESTAMP_FORMAT needs TIMESTAMP", "TIMESTAMP names the column."
        )
    for name in ("KEY_DELIMITER", "VALUE_DELIMITER"):
        _check_delimiter(found, name)
    for name in ("KEY_PROTOBUF_NULLABLE_REPRESENTATION", "VALUE_PROTOBUF_NULLABLE_REPRESENTATION"):
        if name in found and str(found.get(name)).upper() not in ("OPTIONAL", "WRAPPER"):
            raise found.wrong(name, f"{name} is '{found.get(name)}'; it takes OPTIONAL or WRAPPER")


def _check_delimiter(found: WithProperties, name: str) -> None:
    text = found.get(name)
    if text is None:
        return
    if (len(text) != 1 and text not in ("SPACE", "TAB")) or text.isspace():
        raise found.wrong(
            name, f"{name} is '{text}'; it takes one character", "SPACE and TAB are written as words: 'TAB'."
        )
