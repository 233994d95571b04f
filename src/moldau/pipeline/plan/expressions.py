"""Column expressions: what a filter or a map does, as data.

A small language over one record: `col("amount") > 0.8`, `key()`, `timestamp()`. `evaluation.py` runs it in Python. A
host may compile the same tree to its own columns, and a topology with expressions can be printed and hashed completely.
Nulls behave as in SQL: an operation on null is null, `and`/`or` are three-valued, a null predicate is not true.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

Evaluator = Callable[[Any, Any, int], Any]
"""(key, value, timestamp_ms) -> result"""


class Expression:
    """Operators on it create further expressions, so it has no truth value itself."""

    __slots__ = ()

    def evaluator(self) -> Evaluator:
        """A function of (key, value, timestamp_ms)."""
        from moldau.pipeline.plan.evaluation import compiled

        return compiled(self)

    def __bool__(self) -> bool:
        raise TypeError(f"({self}) has no truth value; use & | ~ instead of and, or, not")

    def __eq__(self, other: object) -> "Call":  # type: ignore[override]
        return Call("==", (self, expression(other)))

    def __ne__(self, other: object) -> "Call":  # type: ignore[override]
        return Call("!=", (self, expression(other)))

    def __lt__(self, other: object) -> "Call":
        return Call("<", (self, expression(other)))

    def __le__(self, other: object) -> "Call":
        return Call("<=", (self, expression(other)))

    def __gt__(self, other: object) -> "Call":
        return Call(">", (self, expression(other)))

    def __ge__(self, other: object) -> "Call":
        return Call(">=", (self, expression(other)))

    def __and__(self, other: object) -> "Call":
        return Call("and", (self, expression(other)))

    def __or__(self, other: object) -> "Call":
        return Call("or", (self, expression(other)))

    def __invert__(self) -> "Call":
        return Call("not", (self,))

    def __add__(self, other: object) -> "Call":
        return Call("+", (self, expression(other)))

    def __sub__(self, other: object) -> "Call":
        return Call("-", (self, expression(other)))

    def __mul__(self, other: object) -> "Call":
        return Call("*", (self, expression(other)))

    def __truediv__(self, other: object) -> "Call":
        return Call("/", (self, expression(other)))

    def __mod__(self, other: object) -> "Call":
        return Call("%", (self, expression(other)))

    def __hash__(self) -> int:
        return hash(str(self))


@dataclass(frozen=True, eq=False, slots=True)
class Column(Expression):
    """A field of the value by its path. The empty path is the value itself."""

    path: tuple[str, ...]

    def __str__(self) -> str:
        return ".".join(self.path) if self.path else "value"


@dataclass(frozen=True, eq=False, slots=True)
class Key(Expression):
    """The record's key, or a field of it."""

    path: tuple[str, ...] = ()

    def __str__(self) -> str:
        return ".".join(("key", *self.path))


@dataclass(frozen=True, eq=False, slots=True)
class Timestamp(Expression):
    """The record's timestamp in milliseconds."""

    def __str__(self) -> str:
        return "timestamp"


@dataclass(frozen=True, eq=False, slots=True)
class Literal(Expression):
    value: Any

    def __str__(self) -> str:
        return repr(self.value)


@dataclass(frozen=True, eq=False, slots=True)
class Call(Expression):
    """An operator or function by name. `evaluation.FUNCTIONS` lists them."""

    name: str
    arguments: tuple[Expression, ...]
    infix: ClassVar[tuple[str, ...]] = (
        "==",
        "!=",
        "<",
        "<=",
        ">",
        ">=",
        "+",
        "-",
        "*",
        "/",
        "%",
        "and",
        "or",
    )

    def __str__(self) -> str:
        if self.name in self.infix:
            return f"({self.arguments[0]} {self.name} {self.arguments[1]})"
        return f"{self.name}({', '.join(map(str, self.arguments))})"


@dataclass(frozen=True, eq=False, slots=True)
class Struct(Expression):
    """A new value with named fields."""

    fields: tuple[tuple[str, Expression], ...]

    def __str__(self) -> str:
        return "{" + ", ".join(f"{name}: {of}" for name, of in self.fields) + "}"


def col(path: str = "") -> Column:
    """A field of the value: `col("address.city")`; `col()` is the whole value."""
    return Column(tuple(path.split(".")) if path else ())


def key(path: str = "") -> Key:
    return Key(tuple(path.split(".")) if path else ())


def timestamp() -> Timestamp:
    return Timestamp()


def lit(value: Any) -> Literal:
    return Literal(value)


def struct(fields: Mapping[str, object] | None = None, **more: object) -> Struct:
    """`struct(user=col("id"), total=col("a") + col("b"))`"""
    return Struct(tuple((name, expression(of)) for name, of in {**(fields or {}), **more}.items()))


def call(name: str, *arguments: object) -> Call:
    """A named function: upper, lower, trim, length, abs, round, coalesce, is_null, is_in, cast_*, concat..."""
    return Call(name, tuple(expression(argument) for argument in arguments))


def expression(value: object) -> Expression:
    return value if isinstance(value, Expression) else Literal(value)
