"""A value whose type is known, and how it is computed."""

from typing import NamedTuple

from moldau.pipeline.code.tree import Apply, Code, Constant, Operation
from moldau.pipeline.sql.types import SqlType


class Typed(NamedTuple):
    type: SqlType | None
    """None: NULL by itself, which is of any type."""
    code: Code


NULL = Typed(None, Constant(None))


def applied(kind: SqlType, operation: Operation, *arguments: Typed) -> Typed:
    return Typed(kind, Apply(operation, tuple(argument.code for argument in arguments)))


def is_constant(value: Typed) -> bool:
    return isinstance(value.code, Constant)


def type_name(kind: SqlType | None) -> str:
    return "NULL" if kind is None else str(kind)
