"""Walks over the parts of an expression."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any, Final

from moldau.pipeline.sql.syntax.tree.expressions import Expression, When

_NAMES: Final[dict[type[Any], tuple[str, ...]]] = {}
"""Of the fields of each kind of expression; `fields` is slow."""


def children(expression: Expression | When) -> Iterator[Expression]:
    """The expressions directly inside, in their order."""
    for name in _field_names(type(expression)):
        yield from _expressions(getattr(expression, name))


def _field_names(kind: type[Any]) -> tuple[str, ...]:
    found = _NAMES.get(kind)
    if found is None:
        found = _NAMES[kind] = tuple(one.name for one in fields(kind))
    return found


def _expressions(value: object) -> Iterator[Expression]:
    if isinstance(value, Expression):
        yield value
    elif isinstance(value, When):
        yield from children(value)
    elif isinstance(value, tuple) and not (is_dataclass(value) or hasattr(value, "_fields")):
        for one in value:
            yield from _expressions(one)


def parts(expression: Expression) -> Iterator[Expression]:
    """The expression and everything inside, from the outside in."""
    yield expression
    for child in children(expression):
        yield from parts(child)
