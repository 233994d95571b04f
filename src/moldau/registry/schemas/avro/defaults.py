"""Checks whether a JSON value can be the default of an Avro type."""

from moldau.registry.schemas.avro.types import MISSING, Array, AvroType, Enum, Map, Record, Union

_RANGES = {"int": (-(2**31), 2**31 - 1), "long": (-(2**63), 2**63 - 1)}
_DEPTH_MAX = 64
"""A record may be the default of a recursive field, but no real one is this deep."""


def why_not_default(node: AvroType, value: object, depth: int = 0) -> str | None:
    """Returns None when it fits, else what is wrong with it."""
    if depth > _DEPTH_MAX:
        return f"it is nested deeper than {_DEPTH_MAX} levels"
    if isinstance(node, Union):
        if any(why_not_default(branch, value, depth + 1) is None for branch in node.branches):
            return None
        return f"{_shown(value)} fits none of the union's types"
    if isinstance(node, Record):
        return _record(node, value, depth)
    if isinstance(node, Array):
        if not isinstance(value, list):
            return f"{_shown(value)} is not a list"
        return next(filter(None, (why_not_default(node.items, item, depth + 1) for item in value)), None)
    if isinstance(node, Map):
        if not isinstance(value, dict):
            return f"{_shown(value)} is not an object"
        return next(
            filter(None, (why_not_default(node.values, item, depth + 1) for item in value.values())), None
        )
    if isinstance(node, Enum):
        return None if isinstance(value, str) else f"{_shown(value)} is not a symbol"
    return None if _fits(node.kind, value) else f"{_shown(value)} is not a {node.kind}"


def _record(node: Record, value: object, depth: int) -> str | None:
    if not isinstance(value, dict):
        return f"{_shown(value)} is not an object"
    for field in node.fields:
        given = value.get(field.name, field.default)
        if given is MISSING:
            return f"it has no {field.name}, which has no default of its own"
        if why := why_not_default(field.type, given, depth + 1):
            return f"{field.name}: {why}"
    return None


def _fits(kind: str, value: object) -> bool:
    if kind == "null":
        return value is None
    if kind == "boolean":
        return isinstance(value, bool)
    if kind in _RANGES:
        low, high = _RANGES[kind]
        return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
    if kind in ("float", "double"):
        if isinstance(value, str):
            return value in ("NaN", "Infinity", "-Infinity")
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, str)


def _shown(value: object) -> str:
    text = f'"{value}"' if isinstance(value, str) else repr(value) if value is not None else "null"
    return text if len(text) <= 60 else text[:57] + "..."
