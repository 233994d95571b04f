"""EXPLODE and CUBE_EXPLODE: rows of the elements of an array."""

from itertools import product
from typing import Any, Final

from moldau.pipeline.sql.functions.declaration import (
    ArrayOf,
    Category,
    Form,
    Parameter,
    TableFunction,
    Variable,
)

CUBE_COLUMNS_MAX: Final = 20
_T: Final = Variable("T")
_VALUES: Final = Parameter("values", ArrayOf(_T))


def explode(values: list[Any]) -> list[Any]:
    return values


def cube_explode(columns: list[Any]) -> list[list[Any]]:
    """All combinations of the columns and null, those with the fewest columns from the left first."""
    if len(columns) > CUBE_COLUMNS_MAX:
        raise ValueError(f"{len(columns)} columns are too many for a cube: it takes up to {CUBE_COLUMNS_MAX}")
    choices = [(None,) if column is None else (None, column) for column in columns]
    return [list(row) for row in product(*choices)]


FUNCTIONS: Final = (
    TableFunction(
        "EXPLODE",
        Category.TABLE,
        "A row for each element of an array. A null array makes no row.",
        (Form((_VALUES,), _T),),
        explode,
        ("SELECT order_id, EXPLODE(items) AS item FROM orders",),
    ),
    TableFunction(
        "CUBE_EXPLODE",
        Category.TABLE,
        "A row for each combination of the columns and null: 2 to the power of d rows for d columns without a null. "
        f"It takes up to {CUBE_COLUMNS_MAX} columns.",
        (Form((_VALUES,), ArrayOf(_T)),),
        cube_explode,
        ("SELECT CUBE_EXPLODE(ARRAY[region, product]) AS cube FROM orders",),
    ),
)
