"""Column expressions: what they compute, what they do with nulls, how they are written."""

from typing import Any

import pytest

from moldau.core.errors import ConfigError
from moldau.pipeline.plan.expressions import Expression, call, col, key, lit, struct, timestamp

VALUE = {"a": 3, "b": None, "name": "Ada", "deep": {"x": 1.5}}


def value_of(expression: Expression) -> Any:
    return expression.evaluator()("k", VALUE, 7)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (col("a") + 1, 4),
        (col("a") * 2 - lit(1), 5),
        (col("a") / 2, 1.5),
        (col("a") / 0, None),
        (col("a") % 2, 1),
        (lit(-7) % 3, -1),
        (col("deep.x"), 1.5),
        (col("deep.y"), None),
        (col("b.z"), None),
        (col(), VALUE),
        (key(), "k"),
        (timestamp() > 5, True),
        (col("a") == 3, True),
        (col("a") != 3, False),
        (col("b") == 3, None),
        (col("b") + 1, None),
        ((col("b") == 3) & (col("a") == 0), False),
        ((col("b") == 3) | (col("a") == 3), True),
        ((col("b") == 3) & (col("a") == 3), None),
        (~(col("a") > 5), True),
        (~(col("b") > 5), None),
        (call("is_null", col("b")), True),
        (call("is_not_null", col("b")), False),
        (call("coalesce", col("b"), col("a")), 3),
        (call("upper", col("name")), "ADA"),
        (call("concat", col("name"), lit("!")), "Ada!"),
        (call("is_in", col("a"), 1, 2, 3), True),
        (call("length", col("b")), None),
        (struct(who=col("name"), twice=col("a") * 2), {"who": "Ada", "twice": 6}),
    ],
    ids=str,
)
def test_values(expression: Expression, expected: Any) -> None:
    assert value_of(expression) == expected


def test_written_as_read() -> None:
    assert str((col("amount") > 0.8) & ~call("is_null", key())) == "((amount > 0.8) and not(is_null(key)))"


def test_no_truth_value() -> None:
    with pytest.raises(TypeError, match="has no truth value"):
        bool(col("a") > 1)


def test_an_unknown_function() -> None:
    with pytest.raises(ConfigError, match="no function 'uper'"):
        call("uper", col("name")).evaluator()
