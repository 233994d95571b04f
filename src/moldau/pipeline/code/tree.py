"""What an expression computes, after names, types and operators have been settled.

Null behaves as in SQL: an operation on null is null unless it `takes_null` or says otherwise; AND and OR have three
values.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


class Code:
    """One of the classes below."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Constant(Code):
    value: Any


@dataclass(frozen=True, slots=True)
class Argument(Code):
    """A parameter of the function that is made, or of the lambda around."""

    name: str


@dataclass(frozen=True, slots=True)
class Operation:
    """What is done with values: text such as `({0} + {1})`, or else a function. In a text, `{f}` is the function: for
    what is too rare, or too long, for the text."""

    name: str
    text: str | None = None
    function: Callable[..., Any] | None = None
    takes_null: bool = False
    never_null: bool = False
    """The result is not null; where nulls are not taken, that of arguments that are not."""
    on_null: str = "None"
    """What the result is where an argument is null and nulls are not taken: `False`, of comparisons in SQL."""
    is_read: bool = False
    """Reads a part of a parameter and takes null: done once, before all else, so what it raises belongs to no single
    expression. Not of a lambda's."""


@dataclass(frozen=True, slots=True)
class Apply(Code):
    operation: Operation
    arguments: tuple[Code, ...]


@dataclass(frozen=True, slots=True)
class Logic(Code):
    """AND, or OR, of two or more."""

    is_or: bool
    operands: tuple[Code, ...]


@dataclass(frozen=True, slots=True)
class Branch(Code):
    """The result that belongs to the first condition that holds; only that one is computed."""

    cases: tuple[tuple[Code, Code], ...]
    otherwise: Code


@dataclass(frozen=True, slots=True)
class Function(Code):
    """A lambda, to be called by the operation it is an argument of."""

    parameters: tuple[str, ...]
    body: Code
