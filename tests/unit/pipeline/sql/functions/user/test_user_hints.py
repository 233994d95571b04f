"""Types of SQL from type hints."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from typing import Annotated, Any, TypedDict, TypeVar

import pandas as pd
import pyarrow as pa
import pytest

from moldau.pipeline.sql.functions.user.hints import Shape, WrongHint, element_of, hint_of

T = TypeVar("T")


@dataclass
class Point:
    x: float
    tags: list[str]


class Pair(TypedDict):
    left: int
    right: Annotated[Decimal, "DECIMAL(4, 1)"]


@pytest.mark.parametrize(
    ("annotation", "text"),
    [
        (bool, "BOOLEAN"),
        (int, "BIGINT"),
        (float, "DOUBLE"),
        (str, "STRING"),
        (bytes, "BYTES"),
        (date, "DATE"),
        (time, "TIME"),
        (datetime, "TIMESTAMP"),
        (Decimal, "DECIMAL"),
        (list[int], "ARRAY<BIGINT>"),
        (dict[str, list[float]], "MAP<STRING, ARRAY<DOUBLE>>"),
        (Point, "STRUCT<X DOUBLE, TAGS ARRAY<STRING>>"),
        (Pair, "STRUCT<`LEFT` BIGINT, `RIGHT` DECIMAL(4, 1)>"),
        ("DECIMAL(10, 2)", "DECIMAL(10, 2)"),
        ("int", "INTEGER"),
        (Annotated[int, "INTEGER"], "INTEGER"),
        (T, "T"),
        (list[T], "ARRAY<T>"),  # type: ignore[valid-type]
        (Any, "ANY"),
        (Callable[[int, str], bool], "LAMBDA (BIGINT, STRING) => BOOLEAN"),
    ],
)
def test_a_hint_is_a_type(annotation: Any, text: str) -> None:
    assert str(hint_of(annotation).type).replace("`", "") == text.replace("`", "")
    assert not hint_of(annotation).takes_null


def test_none_among_the_types_takes_null() -> None:
    assert hint_of(int | None).takes_null
    assert str(hint_of(int | None).type) == "BIGINT"


def test_columns() -> None:
    series, array = hint_of(Annotated[pd.Series, "DOUBLE"]), hint_of(pa.Int64Array)
    assert (series.shape, str(series.type)) == (Shape.PANDAS, "DOUBLE")
    assert (array.shape, str(array.type)) == (Shape.ARROW, "BIGINT")


@pytest.mark.parametrize(
    ("annotation", "message"),
    [
        (int | str, "several types"),
        (object, "no type that SQL knows"),
        (list, "no type that SQL knows"),
        ("DECIMALL(3)", "no type of SQL"),
        (pd.Series, "does not say what it holds"),
    ],
)
def test_what_is_no_type(annotation: Any, message: str) -> None:
    with pytest.raises(WrongHint, match=message):
        hint_of(annotation)


def test_the_rows_of_a_table_function() -> None:
    assert element_of(list[int]) is int
    assert element_of("ARRAY<DATE>") == "DATE"
    with pytest.raises(WrongHint, match="no list of values"):
        element_of(int)
