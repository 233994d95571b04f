"""What stands in for a null, what becomes one, and AS_VALUE, which changes nothing."""

from typing import Any, Final

from moldau.pipeline.sql.functions.declaration import Category, Form, Parameter, Scalar, Variable

_T: Final = Variable("T")


def coalesce(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


def ifnull(value: Any, other: Any) -> Any:
    return other if value is None else value


def nullif(value: Any, other: Any) -> Any:
    return None if value == other else value


def as_value(value: Any) -> Any:
    return value


FUNCTIONS: Final[tuple[Scalar, ...]] = (
    Scalar(
        "AS_VALUE",
        Category.OTHER,
        "The value itself. In a table it copies a column of the key to the value.",
        (Form((Parameter("key_column", _T),), _T),),
        as_value,
        examples=("AS_VALUE('k1') => 'k1'",),
    ),
    Scalar(
        "COALESCE",
        Category.NULLS,
        "The first of the values that is not null.",
        (Form((Parameter("first", _T), Parameter("others", _T)), _T, is_variadic=True),),
        coalesce,
        takes_null=True,
        examples=("COALESCE(NULL, 'a', 'b') => 'a'", "COALESCE(CAST(NULL AS INTEGER), NULL) => NULL"),
    ),
    Scalar(
        "IFNULL",
        Category.NULLS,
        "The value, or another one where it is null.",
        (Form((Parameter("value", _T), Parameter("other", _T)), _T),),
        ifnull,
        takes_null=True,
        examples=("IFNULL(NULL, 7) => 7", "IFNULL(1, 7) => 1"),
    ),
    Scalar(
        "NULLIF",
        Category.NULLS,
        "NULL where the two values are the same; the first one otherwise.",
        (Form((Parameter("value", _T), Parameter("other", _T)), _T),),
        nullif,
        takes_null=True,
        examples=("NULLIF('n/a', 'n/a') => NULL", "NULLIF('x', 'n/a') => 'x'", "NULLIF(1, NULL) => 1"),
    ),
)
