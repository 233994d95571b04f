"""Column expressions as Spark columns, for plans that run entirely in the JVM.

Python evaluates a value of any type; the JVM must know its type. A JSON field gets the type of what it is compared or
combined with, and numbers are doubles. An expression whose type stays unclear is rejected by name.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from pyspark.sql import functions as fn

from moldau.core.errors import ConfigError
from moldau.pipeline.plan.expressions import Call, Column, Expression, Key, Timestamp
from moldau.pipeline.plan.expressions import Literal as Constant

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn

Kind = Literal["text", "number", "truth", "json", "opaque"]
"""`json` is a document, or a part of one whose type is not known. `opaque` bytes can only be passed on."""


class Typed(NamedTuple):
    column: "SparkColumn"
    kind: Kind


class NotInTheJvm(ConfigError):
    """Spark columns cannot express it."""


def spark_column(tree: Expression, key: Typed, value: Typed, timestamp: "SparkColumn") -> Typed:
    """`tree` for a record with these columns."""
    match tree:
        case Column(path):
            return _field(tree, value, path)
        case Key(path):
            return _field(tree, key, path)
        case Timestamp():
            return Typed(fn.unix_millis(timestamp).cast("double"), "number")
        case Constant(constant):
            return _constant(constant)
        case Call(name, arguments):
            return _call(tree, name, [spark_column(one, key, value, timestamp) for one in arguments])
    raise NotInTheJvm(f"{tree} makes a new structure, which the JVM does not write")


def as_kind(given: Typed, kind: Kind, where: object) -> "SparkColumn":
    if given.kind == kind:
        return given.column
    if given.kind == "json" and kind in ("number", "truth", "text"):
        return given.column.try_cast({"number": "double", "truth": "boolean", "text": "string"}[kind])
    raise NotInTheJvm(f"{where} needs a {kind} and is given {given.kind}")


def _field(tree: Expression, given: Typed, path: tuple[str, ...]) -> Typed:
    if not path:
        return given
    if given.kind != "json":
        raise NotInTheJvm(f"{tree} is a field, and only JSON has fields here")
    steps = "".join(f"['{step}']" for step in path)
    if "'" in "".join(path):
        raise NotInTheJvm(f"{tree} has a quote in its name")
    return Typed(fn.get_json_object(given.column, f"${steps}"), "json")


def _constant(constant: Any) -> Typed:
    if isinstance(constant, bool):
        return Typed(fn.lit(constant), "truth")
    if isinstance(constant, int | float):
        return Typed(fn.lit(float(constant)), "number")
    if isinstance(constant, str):
        return Typed(fn.lit(constant), "text")
    raise NotInTheJvm(f"the constant {constant!r} is neither a string, a number nor a boolean")


Binary = Callable[["SparkColumn", "SparkColumn"], "SparkColumn"]

COMPARISONS: Final[dict[str, Binary]] = {
    "==": lambda left, right: left == right,
    "!=": lambda left, right: left != right,
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
}
ARITHMETIC: Final[dict[str, Binary]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "/": lambda left, right: fn.try_divide(left, right),
}
OF_TEXT: Final[dict[str, tuple[Callable[..., "SparkColumn"], Kind]]] = {
    "upper": (fn.upper, "text"),
    "lower": (fn.lower, "text"),
    "length": (lambda text: fn.char_length(text).cast("double"), "number"),
    "concat": (fn.concat, "text"),
    "starts_with": (fn.startswith, "truth"),
    "contains": (fn.contains, "truth"),
}
"""Functions of strings only, and the type of their results."""


def _call(tree: Expression, name: str, given: list[Typed]) -> Typed:
    if name in COMPARISONS:
        left, right = _alike(given, tree)
        return Typed(COMPARISONS[name](left, right), "truth")
    if name == "+" and _shared_kind(given, tree) == "text":
        return Typed(fn.concat(*(as_kind(one, "text", tree) for one in given)), "text")
    if name in ARITHMETIC:
        left, right = (as_kind(one, "number", tree) for one in given)
        return Typed(ARITHMETIC[name](left, right), "number")
    if name in OF_TEXT:
        function, kind = OF_TEXT[name]
        return Typed(function(*(as_kind(one, "text", tree) for one in given)), kind)
    if name in ("and", "or", "not"):
        truths = [as_kind(one, "truth", tree) for one in given]
        if name == "not":
            return Typed(~truths[0], "truth")
        return Typed(truths[0] & truths[1] if name == "and" else truths[0] | truths[1], "truth")
    if name in ("is_null", "is_not_null"):
        is_null = given[0].column.isNull()
        return Typed(is_null if name == "is_null" else ~is_null, "truth")
    if name == "is_in":
        value, *choices = _alike(given, tree)
        return Typed(value.isin(choices), "truth")
    if name == "coalesce":
        return Typed(fn.coalesce(*_alike(given, tree)), _shared_kind(given, tree))
    raise NotInTheJvm(f"{tree}: the function {name} runs only in Python")


def _shared_kind(given: list[Typed], tree: Expression) -> Kind:
    kinds = {one.kind for one in given} - {"json"}
    if len(kinds) != 1:
        raise NotInTheJvm(f"{tree}: the type of its parts is not known")
    return kinds.pop()


def _alike(given: list[Typed], tree: Expression) -> list["SparkColumn"]:
    kind = _shared_kind(given, tree)
    return [as_kind(one, kind, tree) for one in given]
