"""Generates values for an Avro schema, in the JSON that `produce --value-format avro` accepts.

Honours `arg.properties` of the Avro random generator: options, range, length and iteration.
"""

import datetime
import string
from collections.abc import Callable, Mapping
from itertools import count
from random import Random
from typing import Any

from moldau.registry.schemas.avro.types import (
    Array,
    AvroType,
    Enum,
    Fixed,
    Map,
    Primitive,
    Record,
    Union,
)

DEPTH_MAX = 5
"""Below this depth, recursive schemas get nulls and empty lists, so that values end."""
LENGTHS = (1, 4)
TEXT_LENGTHS = (4, 12)
NUMBERS = {"int": (0, 10_000), "long": (0, 1_000_000_000), "float": (0.0, 1000.0), "double": (0.0, 1000.0)}
EPOCH = datetime.datetime(2025, 1, 1, tzinfo=datetime.UTC)
SPAN_S = 365 * 24 * 3600


class AvroValues:
    """Generates a sequence of values, determined by the seed."""

    def __init__(self, root: AvroType, seed: int = 0) -> None:
        self._root = root
        self._random = Random(seed)
        self._counters: dict[int, count[int]] = {}

    def make(self) -> Any:
        return self._value(self._root, 0, {})

    def _value(self, node: AvroType, depth: int, told: Mapping[str, Any]) -> Any:
        told = told or _told(getattr(node, "props", {}))
        if "options" in told and isinstance(told["options"], list):
            return self._random.choice(told["options"])
        if "iteration" in told:
            return self._next(node, told["iteration"])
        if isinstance(node, Union):
            return self._value(self._branch(node, depth), depth, told)
        if isinstance(node, Record):
            return {
                field.name: self._value(field.type, depth + 1, _told(field.props)) for field in node.fields
            }
        if isinstance(node, Array):
            return [self._value(node.items, depth + 1, {}) for _ in range(self._length(told, depth))]
        if isinstance(node, Map):
            size = self._length(told, depth)
            return {self._text(TEXT_LENGTHS): self._value(node.values, depth + 1, {}) for _ in range(size)}
        if isinstance(node, Enum):
            return self._random.choice(node.symbols)
        return self._scalar(node, told)

    def _branch(self, node: Union, depth: int) -> AvroType:
        """Sometimes null, and always null at the depth limit."""
        nulls = [branch for branch in node.branches if branch.kind == "null"]
        others = [branch for branch in node.branches if branch.kind != "null"]
        if nulls and (not others or depth >= DEPTH_MAX or self._random.random() < 0.1):
            return nulls[0]
        return self._random.choice(others)

    def _scalar(self, node: Primitive | Fixed, told: Mapping[str, Any]) -> Any:
        logical = str(node.props.get("logicalType"))
        if logical in _LOGICAL:
            return _LOGICAL[logical](self._random)
        if logical == "decimal":
            return self._decimal(node)
        if isinstance(node, Fixed):
            return "".join(chr(self._random.randrange(128)) for _ in range(node.size))
        if node.kind in NUMBERS:
            return self._number(node.kind, told)
        if node.kind == "boolean":
            return self._random.random() < 0.5
        return None if node.kind == "null" else self._text(_bounds(told.get("length"), TEXT_LENGTHS))

    def _number(self, kind: str, told: Mapping[str, Any]) -> int | float:
        low, high = _bounds(told.get("range"), NUMBERS[kind])
        if kind in ("float", "double"):
            return round(self._random.uniform(low, high), 2)
        return self._random.randrange(int(low), max(int(high), int(low) + 1))

    def _decimal(self, node: Primitive | Fixed) -> str:
        precision, scale = int(str(node.props.get("precision", 4))), int(str(node.props.get("scale", 0)))
        digits = min(precision, 9 if isinstance(node, Primitive) else max(1, 2 * node.size - 1))
        number = self._random.randrange(10**digits)
        return f"{number / 10**scale:.{scale}f}"

    def _next(self, node: AvroType, told: Mapping[str, Any]) -> Any:
        step = int(told.get("step", 1))
        counter = self._counters.setdefault(id(node), count(int(told.get("start", 0)), step))
        number = next(counter)
        restart = told.get("restart")
        if restart is not None and step > 0 and number >= int(restart):
            del self._counters[id(node)]
            return self._next(node, told)
        return str(number) if node.kind == "string" else number

    def _length(self, told: Mapping[str, Any], depth: int) -> int:
        return 0 if depth >= DEPTH_MAX else self._random.randint(*_bounds(told.get("length"), LENGTHS))

    def _text(self, lengths: tuple[Any, Any]) -> str:
        return "".join(self._random.choices(string.ascii_lowercase, k=self._random.randint(*lengths)))


def _told(props: Mapping[str, Any]) -> Mapping[str, Any]:
    found = props.get("arg.properties")
    return found if isinstance(found, dict) else {}


def _bounds(told: Any, default: tuple[Any, Any]) -> tuple[Any, Any]:
    """A number is both bounds; an object has min and max."""
    if isinstance(told, dict):
        return told.get("min", default[0]), told.get("max", default[1])
    return (told, told) if isinstance(told, int) else default


def _moment(random: Random) -> datetime.datetime:
    return EPOCH + datetime.timedelta(seconds=random.randrange(SPAN_S), milliseconds=random.randrange(1000))


def _local(random: Random) -> str:
    return _moment(random).replace(tzinfo=None).isoformat(timespec="milliseconds")


def _uuid(random: Random) -> str:
    import uuid

    return str(uuid.UUID(int=random.getrandbits(128), version=4))


_LOGICAL: dict[str, Callable[[Random], str]] = {
    "date": lambda random: _moment(random).date().isoformat(),
    "time-millis": lambda random: _moment(random).time().isoformat(timespec="milliseconds"),
    "time-micros": lambda random: _moment(random).time().isoformat(timespec="milliseconds"),
    "timestamp-millis": lambda random: _moment(random).isoformat(timespec="milliseconds"),
    "timestamp-micros": lambda random: _moment(random).isoformat(timespec="milliseconds"),
    "local-timestamp-millis": _local,
    "local-timestamp-micros": _local,
    "uuid": _uuid,
}
