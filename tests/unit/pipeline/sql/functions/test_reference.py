"""docs/guides/sql-functions.md is what the declarations say."""

import subprocess
import sys
from pathlib import Path

import pytest

from moldau.pipeline.sql.functions.declaration import (
    Aggregate,
    AnyNumber,
    ArrayOf,
    Form,
    Parameter,
    Variable,
)
from moldau.pipeline.sql.functions.library import builtin
from moldau.pipeline.sql.functions.reference import call_text, page, result_text
from moldau.pipeline.sql.types import BIGINT, STRING

ROOT = Path(__file__).resolve().parents[5]
T = Variable("T")


def test_the_page_is_up_to_date() -> None:
    command = [sys.executable, str(ROOT / "tools" / "sql-function-reference"), "--check"]
    found = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert found.returncode == 0, found.stderr


def test_it_has_every_function_with_its_forms() -> None:
    text = page(builtin())
    for function in builtin():
        assert f"\n### {function.name}\n" in text
        assert all(call_text(function.name, form) in text for form in function.forms)


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (Form((Parameter("a", STRING),), BIGINT), "F(a STRING) -> BIGINT"),
        (Form((Parameter("a", T), Parameter("b", T)), T, is_variadic=True), "F(a T, b T ...) -> T"),
        (
            Form((Parameter("a", ArrayOf(T)), Parameter("b", STRING)), STRING, True, after_variadic=1),
            "F(a ARRAY<T> ..., b STRING) -> STRING",
        ),
        (Form((Parameter("a", AnyNumber()),), lambda types: types[0]), "F(a NUMBER) -> NUMBER"),
    ],
)
def test_a_form_as_text(form: Form, text: str) -> None:
    assert call_text("F", form) == text


def test_a_rule_that_needs_real_types_is_told_in_words() -> None:
    def of_two(types: object) -> None:
        """The larger of both types."""
        raise ValueError

    assert result_text(Form((), of_two)) == "The larger of both types"  # type: ignore[arg-type]


def test_the_results_of_aggregates() -> None:
    largest = builtin().find("MAX")
    assert isinstance(largest, Aggregate)
    assert {result_text(form) for form in largest.forms} >= {"INTEGER", "BIGINT", "STRING"}
