"""Evaluates column expressions in Python: each tree becomes `pipeline.code`, which is compiled once to one function."""

import sys
from collections.abc import Callable, Sequence
from typing import Any, Final

from moldau.core.errors import ConfigError
from moldau.pipeline.code.source import compile_value
from moldau.pipeline.code.tree import Apply, Argument, Branch, Code, Constant, Logic, Operation
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

PARAMETERS: Final = ("key", "value", "timestamp_ms")


def _modulo(left: Any, right: Any) -> Any:
    return None if right == 0 else left - right * int(left / right)


OPERATORS: Final = {
    **{name: f"{{0}} {name} {{1}}" for name in ("==", "!=", "<", "<=", ">", ">=", "+", "-", "*")},
    "/": "None if {1} == 0 else {0} / {1}",
    "not": "not {0}",
}
"""As Python writes them."""

FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "%": _modulo,
    "abs": abs,
    "round": round,
    "upper": str.upper,
    "lower": str.lower,
    "trim": str.strip,
    "length": len,
    "concat": lambda *parts: "".join(parts),
    "starts_with": str.startswith,
    "contains": lambda value, part: part in value,
    "is_in": lambda value, *choices: value in choices,
    "cast_string": str,
    "cast_long": int,
    "cast_double": float,
}
"""Functions of non-null values. If an argument is null, the result is null."""

NULL_AWARE: Final = ("and", "or", "is_null", "is_not_null", "coalesce")

_FIELD: Final = Operation("field", "None if {0} is None else {0}.get({1})", takes_null=True, is_read=True)
_IS_NULL: Final = Operation("is_null", "{0} is None", takes_null=True, never_null=True)
_IS_NOT_NULL: Final = Operation("is_not_null", "{0} is not None", takes_null=True, never_null=True)


def compiled(tree: Expression) -> Evaluator:
    return compile_value(code_of(tree), PARAMETERS)


def code_of(tree: Expression) -> Code:
    match tree:
        case Column(path):
            return _walk("value", path)
        case Key(path):
            return _walk("key", path)
        case Timestamp():
            return Argument("timestamp_ms")
        case Literal(constant):
            return Constant(constant)
        case Struct(fields):
            return _struct([name for name, _ in fields], [code_of(of) for _, of in fields])
        case Call(name, arguments):
            return _call(name, tuple(map(code_of, arguments)))
    raise ConfigError(f"{tree!r} is no column expression")


def _walk(parameter: str, path: Sequence[str]) -> Code:
    found: Code = Argument(parameter)
    for name in path:
        found = Apply(_FIELD, (found, Constant(sys.intern(name))))
    return found


def _struct(names: Sequence[str], values: Sequence[Code]) -> Code:
    text = ", ".join(f"{{{2 * index}}}: {{{2 * index + 1}}}" for index in range(len(names)))
    operation = Operation("struct", f"{{{{{text}}}}}", takes_null=True, never_null=True)
    pairs = zip(names, values, strict=True)
    return Apply(operation, tuple(code for name, value in pairs for code in (Constant(name), value)))


def _call(name: str, arguments: tuple[Code, ...]) -> Code:
    match name:
        case "and" | "or":
            return Logic(name == "or", arguments)
        case "is_null":
            return Apply(_IS_NULL, arguments)
        case "is_not_null":
            return Apply(_IS_NOT_NULL, arguments)
        case "coalesce":
            cases = tuple((Apply(_IS_NOT_NULL, (one,)), one) for one in arguments[:-1])
            return Branch(cases, arguments[-1]) if cases else arguments[0]
    text, function = OPERATORS.get(name), FUNCTIONS.get(name)
    if text is None and function is None:
        known = ", ".join(sorted((*OPERATORS, *FUNCTIONS, *NULL_AWARE)))
        raise ConfigError(f"no function {name!r} in column expressions; known are {known}")
    return Apply(Operation(name, text, function), arguments)
