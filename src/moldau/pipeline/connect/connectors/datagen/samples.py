"""From an Avro schema to a function that draws values. `arg.properties` in the schema says which values.

A value depends on the dice and on the number of the record alone, so that a task goes on where it stopped.
"""

import base64
import binascii
import json
import string
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple

from moldau.pipeline.connect.api import ConnectError
from moldau.pipeline.connect.connectors.datagen.regex_texts import REPEATS_MAX, text_drawer
from moldau.pipeline.connect.data import schema as schemas
from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.logical import date_of, moment_of, time_of
from moldau.pipeline.connect.data.schema import Schema, SchemaType
from moldau.pipeline.connect.data.struct import Struct
from moldau.pipeline.connect.data.validation import RANGES, check

Draw = Callable[[Random, int], Any]
"""From dice and the number of the record, counted from 0."""
Arguments = Mapping[str, Any]

ARGUMENTS: Final = "arg.properties"
LENGTH_DEFAULT: Final = {"min": 8, "max": 16}
TRIES_MAX: Final = 1_000
_LETTERS: Final = string.ascii_letters + string.digits
_PLAIN: Final = {
    "int": schemas.INT32,
    "long": schemas.INT64,
    "float": schemas.FLOAT32,
    "double": schemas.FLOAT64,
    "boolean": schemas.BOOLEAN,
    "string": schemas.STRING,
    "bytes": schemas.BYTES,
}
_TIMES: Final[dict[tuple[str, str], tuple[Schema, Callable[[int], Any]]]] = {
    ("int", "date"): (schemas.date(), date_of),
    ("int", "time-millis"): (schemas.time(), time_of),
    ("long", "timestamp-millis"): (schemas.timestamp(), moment_of),
}


class Sampler(NamedTuple):
    schema: Schema
    draw: Draw


def option_files(text: str) -> list[str]:
    """The files in which an Avro schema has options."""
    try:
        return list(_files_in(json.loads(text)))
    except ValueError:  # Nothing can be drawn from it.
        return []


def _files_in(avro: Any) -> Iterator[str]:
    if isinstance(avro, list):
        for one in avro:
            yield from _files_in(one)
    elif isinstance(avro, dict):
        for name, one in avro.items():
            if name == "options" and isinstance(one, dict):
                yield str(one.get("file", ""))
            else:
                yield from _files_in(one)


def sampler_of(text: str) -> Sampler:
    """From the JSON of an Avro schema. Raises ConnectError for a schema it cannot draw from."""
    try:
        avro = json.loads(text)
    except ValueError as wrong:
        raise ConnectError(f"The Avro schema is no JSON: {wrong}") from None
    try:
        made = _Compiler().sampler(avro, "the schema", "")
        check(made.schema, made.draw(Random(0), 0))
    except (KeyError, TypeError, ValueError, AttributeError, DataError) as wrong:
        raise ConnectError(f"The Avro schema cannot be used: {wrong!r}") from wrong
    if made.schema.type is not SchemaType.STRUCT:
        raise ConnectError("The Avro schema is no record: only records can be generated")
    return made


class _Compiler:
    """Knows the named types that have been read."""

    def __init__(self) -> None:
        self._named: dict[str, Sampler] = {}

    def sampler(self, avro: Any, where: str, namespace: str) -> Sampler:
        match avro:
            case str():
                return self._by_name(avro, where, namespace)
            case list():
                return self._union(avro, where, namespace)
            case {"type": dict() | list() as inner}:
                return self.sampler(inner, where, namespace)
            case {"type": str()}:
                pass
            case _:
                raise ConnectError(f"{where} is no Avro schema: {avro!r}")
        arguments: Arguments = avro.get(ARGUMENTS, {})
        made = self._of_type(avro, arguments, where, namespace)
        if "options" in arguments:
            made = Sampler(made.schema, _of_options(made.schema, avro, arguments["options"], where))
        if "name" in avro:
            self._named[_full_name(avro, namespace)] = made
        return made

    def _by_name(self, name: str, where: str, namespace: str) -> Sampler:
        if name in _PLAIN or name == "null":
            return self.sampler({"type": name}, where, namespace)
        for known in (f"{namespace}.{name}", name):
            if known in self._named:
                return self._named[known]
        raise ConnectError(f"{where} has the type {name!r}, which the schema does not define before")

    def _of_type(self, avro: Any, arguments: Arguments, where: str, namespace: str) -> Sampler:
        kind = avro["type"]
        match kind:
            case "record":
                return self._record(avro, where, namespace)
            case "enum":
                symbols: Sequence[str] = avro["symbols"]
                return Sampler(schemas.STRING, lambda dice, _: dice.choice(symbols))
            case "array":
                return self._array(avro, arguments, where, namespace)
            case "map":
                return self._map(avro, arguments, where, namespace)
            case "fixed":
                size = int(avro["size"])
                return Sampler(schemas.BYTES, lambda dice, _: dice.randbytes(size))
            case "int" | "long" | "float" | "double":
                return _number(kind, avro.get("logicalType"), arguments, where)
            case "boolean":
                return Sampler(schemas.BOOLEAN, _boolean(arguments, where))
            case "string":
                return Sampler(schemas.STRING, _string(arguments, where))
            case "bytes" if avro.get("logicalType") == "decimal":
                return _decimal(avro, arguments, where)
            case "bytes":
                length = _length(arguments, where)
                return Sampler(schemas.BYTES, lambda dice, _: dice.randbytes(length(dice)))
            case "null":
                raise ConnectError(f"{where} is null: only unions of null and one other type have nulls")
        return self._by_name(kind, where, namespace)

    def _record(self, avro: Any, where: str, namespace: str) -> Sampler:
        name = _full_name(avro, namespace)
        inside = name.rpartition(".")[0]
        found = {
            one["name"]: self.sampler(one["type"], f"field {one['name']}", inside) for one in avro["fields"]
        }
        schema = schemas.struct({label: one.schema for label, one in found.items()}, name=name)
        draws = [one.draw for one in found.values()]
        return Sampler(schema, lambda dice, number: Struct(schema, [draw(dice, number) for draw in draws]))

    def _array(self, avro: Any, arguments: Arguments, where: str, namespace: str) -> Sampler:
        inner, length = self.sampler(avro["items"], f"{where}[]", namespace), _length(arguments, where)
        return Sampler(
            schemas.array(inner.schema),
            lambda dice, number: [inner.draw(dice, number) for _ in range(length(dice))],
        )

    def _map(self, avro: Any, arguments: Arguments, where: str, namespace: str) -> Sampler:
        inner, length = self.sampler(avro["values"], f"{where}{{}}", namespace), _length(arguments, where)
        keys = self.sampler({"type": "string", ARGUMENTS: arguments.get("keys", {})}, where, namespace)
        return Sampler(
            schemas.mapping(schemas.STRING, inner.schema),
            lambda dice, number: {
                keys.draw(dice, number): inner.draw(dice, number) for _ in range(length(dice))
            },
        )

    def _union(self, avro: list[Any], where: str, namespace: str) -> Sampler:
        rest = [one for one in avro if one not in ("null", {"type": "null"})]
        if len(rest) != 1 or len(avro) > 2:
            raise ConnectError(f"{where} is a union: only those of null and one other type are supported")
        inner = self.sampler(rest[0], where, namespace)
        if len(avro) == 1:
            return inner
        draw = inner.draw
        return Sampler(
            replace(inner.schema, optional=True),
            lambda dice, number: draw(dice, number) if dice.random() < 0.5 else None,
        )


def _full_name(avro: Mapping[str, Any], namespace: str) -> str:
    name: str = avro["name"]
    space = avro.get("namespace", namespace)
    return name if "." in name or not space else f"{space}.{name}"


def _number(kind: str, logical: str | None, arguments: Arguments, where: str) -> Sampler:
    plain = _PLAIN[kind]
    if "iteration" in arguments:
        draw = _iteration(arguments["iteration"], where)
    elif plain.type in RANGES:
        lowest, highest = RANGES[plain.type]
        low, high = _bounds(arguments, where, lowest, highest + 1)

        def draw(dice: Random, number: int) -> Any:
            return dice.randrange(low, high)
    else:
        low, high = _bounds(arguments, where, 0.0, 1.0)

        def draw(dice: Random, number: int) -> Any:
            return dice.uniform(low, high)

    if (kind, logical or "") not in _TIMES:
        return Sampler(plain, draw)
    schema, value_of = _TIMES[kind, logical or ""]
    if not arguments:
        # Any number would be a time outside of a day, or of Python's dates.
        return Sampler(schema, lambda dice, _: value_of(dice.randrange(10_000)))
    return Sampler(schema, lambda dice, number: value_of(draw(dice, number)))


def _decimal(avro: Any, arguments: Arguments, where: str) -> Sampler:
    scale = int(avro.get("scale", 0))
    largest = 10 ** (int(avro["precision"]) - scale)
    low, high = (
        int(Decimal(str(one)).scaleb(scale)) for one in _bounds(arguments, where, 1 - largest, largest)
    )
    return Sampler(schemas.decimal(scale), lambda dice, _: Decimal(dice.randrange(low, high)).scaleb(-scale))


def _boolean(arguments: Arguments, where: str) -> Draw:
    if "iteration" in arguments:
        start = bool(arguments["iteration"]["start"])
        return lambda dice, number: start ^ bool(number % 2)
    odds = float(arguments.get("odds", 0.5))
    return lambda dice, number: dice.random() < odds


def _string(arguments: Arguments, where: str) -> Draw:
    prefix, suffix = str(arguments.get("prefix", "")), str(arguments.get("suffix", ""))
    draw: Draw
    if "regex" in arguments:
        draw = _matching(arguments, where)
    elif "iteration" in arguments:
        number_of = _iteration(arguments["iteration"], where)

        def draw(dice: Random, number: int) -> str:
            return str(number_of(dice, number))
    else:
        length = _length(arguments, where)

        def draw(dice: Random, number: int) -> str:
            return "".join(dice.choices(_LETTERS, k=length(dice)))

    if not prefix and not suffix:
        return draw
    return lambda dice, number: f"{prefix}{draw(dice, number)}{suffix}"


def _matching(arguments: Arguments, where: str) -> Draw:
    """Draws again while the text does not have the length that is asked for."""
    pattern = arguments["regex"]
    if "length" not in arguments:
        plain = text_drawer(pattern)
        return lambda dice, number: plain(dice)
    given = arguments["length"]
    low, high = (
        (given, None) if not isinstance(given, Mapping) else (given.get("min", 0), given.get("max", None))
    )
    drawn = text_drawer(pattern, REPEATS_MAX + low)

    def draw(dice: Random, number: int) -> str:
        for _ in range(TRIES_MAX):
            text = drawn(dice)
            if len(text) >= low and (high is None or len(text) < high):
                return text
        raise ConnectError(
            f"{where}: {TRIES_MAX} texts of the regex {pattern!r} do not have the length {given}: change one of them"
        )

    return draw


def _iteration(given: Mapping[str, Any], where: str) -> Draw:
    start, restart = given["start"], given.get("restart")
    first = given.get("initial", start)
    if restart is None:
        step = given.get("step", 1)
        return lambda dice, number: first + step * number
    if restart == start:
        raise ConnectError(
            f"{where}: the iteration restarts where it starts, at {start}: give it another restart"
        )
    step, span = given.get("step", 1 if restart > start else -1), restart - start
    return lambda dice, number: start + (first - start + step * number) % span


def _bounds(arguments: Arguments, where: str, lowest: Any, highest: Any) -> tuple[Any, Any]:
    """The upper bound is exclusive."""
    given = arguments.get("range", {})
    low, high = given.get("min", lowest), given.get("max", highest)
    if low >= high:
        raise ConnectError(f"{where}: the range from {low} to {high}, its end exclusive, is empty")
    return low, high


def _length(arguments: Arguments, where: str) -> Callable[[Random], int]:
    given = arguments.get("length", LENGTH_DEFAULT)
    if not isinstance(given, Mapping):
        return lambda dice: int(given)
    low = given.get("min", 0)
    high = given.get("max", low + LENGTH_DEFAULT["max"])
    if low >= high:
        raise ConnectError(f"{where}: a length from {low} to {high}, its end exclusive, is impossible")
    return lambda dice: dice.randrange(low, high)


def _of_options(schema: Schema, avro: Any, given: Any, where: str) -> Draw:
    if isinstance(given, Mapping):
        given = _options_in_file(given, where)
    if not given:
        raise ConnectError(f"{where} has no options to choose from")
    is_fixed = avro["type"] == "fixed"
    choices = [_option(schema, one, is_fixed) for one in given]
    for one in choices:
        check(schema, one, f"an option of {where}")
    return lambda dice, number: dice.choice(choices)


def _options_in_file(given: Mapping[str, Any], where: str) -> Sequence[Any]:
    path = str(given.get("file", ""))
    if given.get("encoding") != "json":
        raise ConnectError(f"{where}: options in a file must have the encoding json")
    try:
        found = json.loads(Path(path).read_text())
    except (OSError, ValueError) as failure:
        raise ConnectError(f"{where}: the options in {path} cannot be read: {failure}") from failure
    return found if isinstance(found, list) else [found]


def _option(schema: Schema, one: Any, is_fixed: bool) -> Any:
    """A JSON value as a value of the schema."""
    match schema.type:
        case SchemaType.STRUCT:
            return Struct(schema, [_option(field.schema, one[field.name], False) for field in schema.fields])
        case SchemaType.ARRAY if schema.value_schema is not None:
            return [_option(schema.value_schema, inner, False) for inner in one]
        case SchemaType.MAP if schema.value_schema is not None:
            return {key: _option(schema.value_schema, inner, False) for key, inner in one.items()}
        case SchemaType.BYTES if schema.name == schemas.DECIMAL:
            return Decimal(str(one))
        case SchemaType.BYTES if is_fixed:
            return str(one).encode("latin-1")
        case SchemaType.BYTES:
            try:
                return base64.b64decode(one, validate=True)
            except binascii.Error as wrong:
                raise ConnectError(f"the option {one!r} for bytes is no base64: {wrong}") from None
    return one
