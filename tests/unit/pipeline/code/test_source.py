"""Compiled code: nulls, branches, lambdas, failures."""

from typing import Any

import pytest

from moldau.pipeline.code.source import compile_row, compile_value
from moldau.pipeline.code.tree import Apply, Argument, Branch, Code, Constant, Function, Logic, Operation

A, B = Argument("a"), Argument("b")
PLUS = Operation("+", "{0} + {1}", never_null=True)
DIVIDE = Operation("/", "{0} / {1}")
EQUAL = Operation("=", "{0} == {1}", never_null=True, on_null="False")


def run(code: Code, *values: Any) -> Any:
    return compile_value(code, ("a", "b")[: len(values)])(*values)


def test_an_operation_on_null_is_null() -> None:
    assert run(Apply(PLUS, (A, B)), 1, 2) == 3
    assert run(Apply(PLUS, (A, B)), None, 2) is None
    assert run(Apply(PLUS, (A, Constant(None))), 1) is None


def test_an_operation_may_say_what_null_makes_of_it() -> None:
    assert run(Apply(EQUAL, (A, B)), 1, 1) is True
    assert run(Apply(EQUAL, (A, B)), None, 1) is False


@pytest.mark.parametrize(
    ("left", "right", "both", "either"),
    [
        (True, True, True, True),
        (True, False, False, True),
        (False, None, False, None),
        (None, False, False, None),
        (True, None, None, True),
        (None, True, None, True),
        (None, None, None, None),
    ],
)
def test_logic_has_three_values(left: Any, right: Any, both: Any, either: Any) -> None:
    assert run(Logic(False, (A, B)), left, right) is both
    assert run(Logic(True, (A, B)), left, right) is either


def test_logic_stops_at_what_decides() -> None:
    is_zero = Apply(EQUAL, (B, Constant(0)))
    code = Logic(True, (is_zero, Apply(EQUAL, (Apply(DIVIDE, (A, B)), Constant(2.0)))))
    assert run(code, 4, 0) is True
    assert run(code, 4, 2) is True


@pytest.mark.parametrize("count", [2, 9, 1_000])
def test_logic_and_branches_of_any_length(count: int) -> None:
    tests = tuple(Apply(EQUAL, (A, Constant(number))) for number in range(count))
    either = compile_value(Logic(True, tests), ("a",))
    assert [either(given) for given in (0, count - 1, count, None)] == [True, True, False, False]
    branch = compile_value(
        Branch(tuple((one, Constant(n)) for n, one in enumerate(tests)), Constant("none")), ("a",)
    )
    assert [branch(given) for given in (0, count - 1, count, None)] == [0, count - 1, "none", "none"]


def test_long_logic_within_long_logic() -> None:
    inner = Logic(False, tuple(Apply(EQUAL, (A, Constant(1))) for _ in range(10)))
    code = compile_value(Logic(True, (*(Apply(EQUAL, (A, Constant(0))),) * 10, inner)), ("a",))
    assert [code(0), code(1), code(2)] == [True, True, False]


def test_a_branch_computes_only_its_result() -> None:
    code = Branch(((Apply(EQUAL, (B, Constant(0))), Constant("none")),), Apply(DIVIDE, (A, B)))
    assert run(code, 4, 0) == "none"
    assert run(code, 4, 2) == 2.0


def test_a_lambda_sees_what_is_around_it() -> None:
    each = Operation("each", function=lambda values, function: [function(one) for one in values])
    code = Apply(each, (A, Function(("x",), Apply(PLUS, (Argument("x"), B)))))
    assert run(code, [1, 2], 10) == [11, 12]


def test_a_value_of_a_row_that_fails_is_null_and_told() -> None:
    told: list[tuple[int, str]] = []
    codes = (Apply(DIVIDE, (A, B)), Apply(PLUS, (A, B)))
    row = compile_row(codes, ("a", "b"), lambda index, failure: told.append((index, str(failure))))
    assert row(1, 0) == (None, 1)
    assert told == [(0, "division by zero")]


def test_text_of_a_user_is_never_source() -> None:
    code = Apply(PLUS, (Constant("'); import os #"), A))
    compiled = compile_value(code, ("a",))
    assert "import" not in (compiled.__doc__ or "")
    assert compiled("!") == "'); import os #!"
