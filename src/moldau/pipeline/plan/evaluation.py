"""Evaluates column expressions in Python: each tree is compiled once to nested functions."""

import operator
from collections.abc import Callable
from typing import Any

from moldau.core.errors import ConfigError
from moldau.pipeline.plan.expressions import (
    Call,
    Column,
    Evaluator,
    Expression,
    Key,
    Literal,
    Struct,
    Timestamp,
)


def _divide(left: Any, right: Any) -> Any:
    return None if right == 0 else left / right


def _modulo(left: Any, right: Any) -> Any:
    return None if right == 0 else left - right * int(left / right)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _divide,
    "%": _modulo,
    "not": operator.not_,
    "abs": abs,
    "round": round,
    "upper": str.upper,
    "lower": str.lower,
    "trim": str.strip,
    "length": len,
    "concat": lambda *parts: "".join(parts),
    "starts_with": str.startswith,
    "contains": operator.contains,
    "is_in": lambda value, *choices: value in choices,
    "cast_string": str,
    "cast_long": int,
    "cast_double": float,
}
"""Functions of non-null values. If an argument is null, the result is null."""

NULL_AWARE = frozenset({"and", "or", "is_null", "is_not_null", "coalesce"})


def compiled(tree: Expression) -> Evaluator:
    match tree:
        case Column(path):
            return _of_value(path)
        case Key(path):
            return _of_key(path)
        case Timestamp():
            return lambda key, value, timestamp_ms: timestamp_ms
        case Literal(constant):
            return lambda key, value, timestamp_ms: constant
        case Struct(fields):
            return _struct([(name, compiled(of)) for name, of in fields])
        case Call(name, arguments):
            return _call(name, [compiled(argument) for argument in arguments])
    raise ConfigError(f"{tree!r} is no column expression")


def _of_value(path: tuple[str, ...]) -> Evaluator:
    if not path:
        return lambda key, value, timestamp_ms: value
    if len(path) == 1:
        field = path[0]
        return lambda key, value, timestamp_ms: None if value is None else value.get(field)
    return lambda key, value, timestamp_ms: _walk(value, path)


def _of_key(path: tuple[str, ...]) -> Evaluator:
    if not path:
        return lambda key, value, timestamp_ms: key
    return lambda key, value, timestamp_ms: _walk(key, path)


def _walk(value: Any, path: tuple[str, ...]) -> Any:
    for field in path:
        if value is None:
            return None
        value = value.get(field)
    return value


def _struct(fields: list[tuple[str, Evaluator]]) -> Evaluator:
    return lambda key, value, timestamp_ms: {name: of(key, value, timestamp_ms) for name, of in fields}


def _call(name: str, arguments: list[Evaluator]) -> Evaluator:
    if name in NULL_AWARE:
        return _null_aware(name, arguments)
    function = FUNCTIONS.get(name)
    if function is None:
        raise ConfigError(
            f"no function {name!r} in column expressions; known are {', '.join(sorted(FUNCTIONS))}"
        )
    if len(arguments) == 2:
        return _binary(function, *arguments)

    def any_number(key: Any, value: Any, timestamp_ms: int) -> Any:
        given = [argument(key, value, timestamp_ms) for argument in arguments]
        return None if None in given else function(*given)

    return any_number


def _binary(function: Callable[..., Any], left_of: Evaluator, right_of: Evaluator) -> Evaluator:
    def binary(key: Any, value: Any, timestamp_ms: int) -> Any:
        left = left_of(key, value, timestamp_ms)
        if left is None:
            return None
        right = right_of(key, value, timestamp_ms)
        return None if right is None else function(left, right)

    return binary


def _null_aware(name: str, arguments: list[Evaluator]) -> Evaluator:
    if name == "is_null":
        return lambda key, value, timestamp_ms: arguments[0](key, value, timestamp_ms) is None
    if name == "is_not_null":
        return lambda key, value, timestamp_ms: arguments[0](key, value, timestamp_ms) is not None
    if name == "coalesce":

        def coalesce(key: Any, value: Any, timestamp_ms: int) -> Any:
            given = (argument(key, value, timestamp_ms) for argument in arguments)
            return next((one for one in given if one is not None), None)

        return coalesce
    decided_by = name == "or"

    def logical(key: Any, value: Any, timestamp_ms: int) -> Any:
        left, right = (argument(key, value, timestamp_ms) for argument in arguments)
        if left is decided_by or right is decided_by:
            return decided_by
        return None if left is None or right is None else not decided_by

    return logical
