"""examples/sql_functions: a model in a function, and its cases."""

from pathlib import Path

import pytest
from user_files import evaluated

from moldau.pipeline.sql.cases import run_file
from moldau.pipeline.sql.functions.library import Library
from moldau.pipeline.sql.functions.user.loading import library_of

EXAMPLES = Path(__file__).resolve().parents[6] / "examples" / "sql_functions"


@pytest.fixture(scope="module")
def library() -> Library:
    return library_of([str(EXAMPLES)], with_packages=False)


def test_the_cases_pass(library: Library) -> None:
    results = run_file(EXAMPLES / "cases.sql", library)
    assert [str(one) for one in results if not one.passed] == []
    assert len(results) == 3


def test_the_examples_in_the_declarations_hold(library: Library) -> None:
    for function in library.user_functions:
        for example in function.examples:
            call, _, expected = example.partition(" => ")
            assert evaluated(call, library)[1] == expected.strip("'")
