"""Evaluates expressions with the real parser, analyser and compiler, and checks the examples of functions."""

import math
from typing import Any

from moldau.pipeline.code.source import compile_value
from moldau.pipeline.sql.analysis.scope import QueryScope
from moldau.pipeline.sql.expressions.casts import conversion
from moldau.pipeline.sql.expressions.typing import typed
from moldau.pipeline.sql.functions.library import builtin
from moldau.pipeline.sql.syntax.parser import parse_expression
from moldau.pipeline.sql.types import BYTES, DATE, STRING, TIME, TIMESTAMP, SqlType

WRITTEN = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf, "[]": [], "{}": {}}
"""Values that SQL has no constant for."""


def evaluated(text: str) -> tuple[SqlType | None, Any]:
    """The type and the value of an expression without columns; raises what the expression raises."""
    found = typed(parse_expression(text), QueryScope((), builtin()))
    return found.type, compile_value(found.code, ())()


def value_of(text: str) -> Any:
    return evaluated(text)[1]


def type_of(text: str) -> str:
    return str(evaluated(text)[0])


def check_example(example: str) -> None:
    """An example says `expression => value`; the value is an expression too, and text where it is a time."""
    text, _, expected = example.rpartition(" => ")
    kind, actual = evaluated(text)
    wanted = _expected(expected, kind)
    if isinstance(actual, float):
        wanted = float(wanted)
        is_near = math.isclose(actual, wanted, rel_tol=1e-12) or (math.isnan(actual) and math.isnan(wanted))
        assert is_near, f"{text} is {actual!r}"
        return
    assert actual == wanted, f"{text} is {actual!r}"
    assert isinstance(actual, bool) == isinstance(wanted, bool), f"{text} is {actual!r}"


def _expected(text: str, kind: SqlType | None) -> Any:
    if text in WRITTEN:
        return WRITTEN[text]
    written, value = evaluated(text)
    if written == STRING and kind in (DATE, TIME, TIMESTAMP, BYTES):
        convert = conversion(written, kind)
        assert convert is not None
        return convert(value)
    return value
