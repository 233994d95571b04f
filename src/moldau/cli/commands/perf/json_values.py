"""Generates values that validate against a JSON Schema. `pattern` without `examples` is not supported."""

import datetime
import math
import string
import uuid
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

DEPTH_MAX = 5
ITEMS = (0, 3)
TEXT_LENGTHS = (4, 12)
NUMBERS = (0, 10_000)
EPOCH = datetime.datetime(2025, 1, 1, tzinfo=datetime.UTC)
SPAN_S = 365 * 24 * 3600


class Unmakeable(ValueError):
    """A schema for which no value can be generated."""


class JsonValues:
    """Generates a sequence of values, determined by the seed."""

    def __init__(self, root: Any, seed: int = 0) -> None:
        self._root = root
        self._random = Random(seed)

    def make(self) -> Any:
        return self._value(self._root, 0)

    def _value(self, schema: Any, depth: int) -> Any:
        if not isinstance(schema, dict):
            if schema is False:
                raise Unmakeable("a part of the schema is false, which no value matches")
            return self._text({})
        schema = self._resolved(schema)
        if "const" in schema:
            return schema["const"]
        for choices in ("enum", "examples"):
            if schema.get(choices):
                return self._random.choice(schema[choices])
        if "pattern" in schema:
            raise Unmakeable(f"cannot generate text for the pattern {schema['pattern']!r}: add `examples`")
        kind = self._kind(schema, depth)
        if kind == "object":
            return self._object(schema, depth)
        if kind == "array":
            return self._array(schema, depth)
        if kind in ("integer", "number"):
            return self._number(schema, kind)
        if kind == "boolean":
            return self._random.random() < 0.5
        return None if kind == "null" else self._text(schema)

    def _resolved(self, schema: Mapping[str, Any], seen: int = 0) -> Mapping[str, Any]:
        """Resolves `$ref`, merges `allOf`, and chooses one of `oneOf` and `anyOf`."""
        if seen > 50:
            raise Unmakeable("the schema has an endless recursion")
        merged = {
            key: value for key, value in schema.items() if key not in ("$ref", "allOf", "oneOf", "anyOf")
        }
        parts = [self._target(schema["$ref"])] if "$ref" in schema else []
        parts += schema.get("allOf", [])
        parts += [self._random.choice(schema[key]) for key in ("oneOf", "anyOf") if schema.get(key)]
        for part in parts:
            if isinstance(part, dict):
                merged = _merged(self._resolved(part, seen + 1), merged)
        return merged

    def _target(self, reference: str) -> Any:
        if not reference.startswith("#"):
            raise Unmakeable(f"the reference {reference} points outside the schema")
        node = self._root
        try:
            for step in reference.removeprefix("#").split("/")[1:]:
                node = node[step.replace("~1", "/").replace("~0", "~")]
        except (KeyError, TypeError) as error:
            raise Unmakeable(f"the reference {reference} does not exist") from error
        return node

    def _kind(self, schema: Mapping[str, Any], depth: int) -> str:
        told = schema.get("type")
        if isinstance(told, list):
            others = [kind for kind in told if kind != "null"]
            is_null = "null" in told and (not others or depth >= DEPTH_MAX or self._random.random() < 0.1)
            return "null" if is_null else self._random.choice(others)
        if isinstance(told, str):
            return told
        if "properties" in schema:
            return "object"
        return "array" if "items" in schema else "number" if "minimum" in schema else "string"

    def _object(self, schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
        required = schema.get("required", [])
        chosen = {
            name: part
            for name, part in schema.get("properties", {}).items()
            if name in required or (depth < DEPTH_MAX and part is not False)
        }
        if depth > 10 * DEPTH_MAX:
            raise Unmakeable("the schema requires itself endlessly")
        made = {name: self._value(part, depth + 1) for name, part in chosen.items()}
        return made | {name: self._text({}) for name in required if name not in made}

    def _array(self, schema: Mapping[str, Any], depth: int) -> list[Any]:
        least = int(schema.get("minItems", 0))
        most = max(least, int(schema.get("maxItems", max(least, ITEMS[1]))))
        size = least if depth >= DEPTH_MAX else self._random.randint(least, most)
        items = schema.get("items", {"type": "string"})
        if isinstance(items, list):
            return [self._value(item, depth + 1) for item in items]
        return [self._value(item, depth + 1) for item in schema.get("prefixItems", [])] + [
            self._value(items, depth + 1) for _ in range(size - len(schema.get("prefixItems", [])))
        ]

    def _number(self, schema: Mapping[str, Any], kind: str) -> int | float:
        low = schema.get("minimum", schema.get("exclusiveMinimum"))
        high = schema.get("maximum", schema.get("exclusiveMaximum"))
        if low is None or isinstance(low, bool):
            low = NUMBERS[0] if high is None or high > NUMBERS[0] else high - NUMBERS[1]
        if high is None or isinstance(high, bool):
            high = low + NUMBERS[1]
        step = schema.get("multipleOf")
        if step:
            first, last = math.ceil(low / step), math.floor(high / step)
            first += first * step == schema.get("exclusiveMinimum")
            last -= last * step == schema.get("exclusiveMaximum")
            return step * self._random.randint(first, max(first, last))  # type: ignore[no-any-return]
        if kind == "integer":
            first = math.floor(low) + 1 if low == schema.get("exclusiveMinimum") else math.ceil(low)
            last = math.ceil(high) - 1 if high == schema.get("exclusiveMaximum") else math.floor(high)
            return self._random.randint(first, max(first, last))
        # Avoid both bounds, which may be excluded.
        return low + (high - low) * self._random.uniform(0.01, 0.99)  # type: ignore[no-any-return]

    def _text(self, schema: Mapping[str, Any]) -> str:
        if schema.get("format") in _FORMATS:
            return _FORMATS[schema["format"]](self._random)
        least = int(schema.get("minLength", min(TEXT_LENGTHS[0], schema.get("maxLength", TEXT_LENGTHS[0]))))
        most = int(schema.get("maxLength", max(least, TEXT_LENGTHS[1])))
        return _letters(self._random, self._random.randint(least, most))


def _merged(part: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    both = {**part, **over}
    if "properties" in part and "properties" in over:
        both["properties"] = {**part["properties"], **over["properties"]}
    if "required" in part and "required" in over:
        both["required"] = [*part["required"], *over["required"]]
    return both


def _letters(random: Random, length: int) -> str:
    return "".join(random.choices(string.ascii_lowercase, k=length))


def _moment(random: Random) -> datetime.datetime:
    return EPOCH + datetime.timedelta(seconds=random.randrange(SPAN_S))


_FORMATS: dict[str, Callable[[Random], str]] = {
    "date-time": lambda random: _moment(random).isoformat().replace("+00:00", "Z"),
    "date": lambda random: _moment(random).date().isoformat(),
    "time": lambda random: _moment(random).time().isoformat() + "Z",
    "uuid": lambda random: str(uuid.UUID(int=random.getrandbits(128), version=4)),
    "email": lambda random: f"{_letters(random, 8)}@example.com",
    "uri": lambda random: f"https://example.com/{_letters(random, 8)}",
    "hostname": lambda random: f"{_letters(random, 8)}.example.com",
    "ipv4": lambda random: f"192.0.2.{random.randrange(1, 255)}",
}
