"""Every example in the declaration of a scalar function, and what declarations must say."""

import pickle

import pytest
from scalar_examples import check_example

from moldau.pipeline.sql.functions.declaration import Form, Scalar
from moldau.pipeline.sql.functions.library import builtin
from moldau.pipeline.sql.functions.scalar import SCALARS

EXAMPLES = [(function.name, example) for function in SCALARS for example in function.examples]


@pytest.mark.parametrize(("name", "example"), EXAMPLES, ids=[example for _, example in EXAMPLES])
def test_every_example_holds(name: str, example: str) -> None:
    assert name in example, "an example shows its function"
    check_example(example)


def test_names_are_unique_and_found() -> None:
    names = [function.name for function in SCALARS]
    assert len(names) == len(set(names))
    assert all(
        builtin().find(name.lower()) is function for name, function in zip(names, SCALARS, strict=True)
    )


@pytest.mark.parametrize("function", SCALARS, ids=lambda function: function.name)
def test_a_declaration_is_complete(function: Scalar) -> None:
    assert function.doc.endswith(".")
    assert function.examples or not function.is_deterministic
    assert function.forms
    for form in function.forms:
        check_form(function, form)


def check_form(function: Scalar, form: Form) -> None:
    assert all(parameter.name.isidentifier() for parameter in form.parameters)
    meaning = form.meaning or function.meaning or form.bind
    assert meaning is not None, f"{function.name} does nothing"
    pickle.loads(pickle.dumps(meaning))
