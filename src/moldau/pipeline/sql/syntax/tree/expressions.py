"""Expressions as they are written."""

from dataclasses import dataclass, field
from typing import Any, Literal

from moldau.pipeline.sql.syntax.errors import NOWHERE, Position
from moldau.pipeline.sql.types import SqlType


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    at: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class NamedType(SqlType):
    """A type of the user's own (CREATE TYPE), by its name. Stands for the real one until the catalog is asked."""

    at: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Expression(Node):
    pass


@dataclass(frozen=True, slots=True)
class Constant(Expression):
    """`kind` tells NULL, BOOLEAN, INTEGER, DECIMAL, DOUBLE and STRING apart; a decimal is a `decimal.Decimal`."""

    kind: Literal["NULL", "BOOLEAN", "INTEGER", "DECIMAL", "DOUBLE", "STRING"]
    value: Any


@dataclass(frozen=True, slots=True)
class ColumnName(Expression):
    name: str
    source: str | None = None


@dataclass(frozen=True, slots=True)
class FieldOf(Expression):
    """`struct->field`"""

    struct: Expression
    name: str


@dataclass(frozen=True, slots=True)
class ElementOf(Expression):
    """`array[1]`, `map['key']`"""

    base: Expression
    index: Expression


@dataclass(frozen=True, slots=True)
class Call(Expression):
    """`COUNT(*)` has no arguments and `is_star`."""

    name: str
    arguments: tuple[Expression, ...]
    is_star: bool = False


@dataclass(frozen=True, slots=True)
class Unit(Expression):
    """A unit of time among the arguments of a call: HOURS. Singular is read as plural."""

    name: str


@dataclass(frozen=True, slots=True)
class Lambda(Expression):
    parameters: tuple[str, ...]
    body: Expression


@dataclass(frozen=True, slots=True)
class Comparison(Expression):
    operator: Literal["=", "!=", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"]
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Arithmetic(Expression):
    """`||` joins text, as `+` does."""

    operator: Literal["+", "-", "*", "/", "%", "||"]
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Negative(Expression):
    of: Expression


@dataclass(frozen=True, slots=True)
class Logical(Expression):
    operator: Literal["AND", "OR"]
    operands: tuple[Expression, ...]
    """Two or more: `a AND b AND c` is one node, so that a long chain is not a deep tree."""


@dataclass(frozen=True, slots=True)
class Not(Expression):
    of: Expression


@dataclass(frozen=True, slots=True)
class IsNull(Expression):
    of: Expression
    is_negated: bool = False


@dataclass(frozen=True, slots=True)
class Between(Expression):
    of: Expression
    low: Expression
    high: Expression
    is_negated: bool = False


@dataclass(frozen=True, slots=True)
class InList(Expression):
    of: Expression
    choices: tuple[Expression, ...]
    is_negated: bool = False


@dataclass(frozen=True, slots=True)
class Like(Expression):
    of: Expression
    pattern: Expression
    escape: str | None = None
    is_negated: bool = False


@dataclass(frozen=True, slots=True)
class When(Node):
    condition: Expression
    result: Expression


@dataclass(frozen=True, slots=True)
class Case(Expression):
    """`operand` is None in the searched form: CASE WHEN condition THEN ..."""

    operand: Expression | None
    whens: tuple[When, ...]
    otherwise: Expression | None


@dataclass(frozen=True, slots=True)
class Cast(Expression):
    of: Expression
    type: SqlType


@dataclass(frozen=True, slots=True)
class ArrayOf(Expression):
    elements: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class MapOf(Expression):
    entries: tuple[tuple[Expression, Expression], ...]


@dataclass(frozen=True, slots=True)
class StructOf(Expression):
    fields: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True, slots=True)
class AtTimeZone(Expression):
    of: Expression
    zone: Expression
