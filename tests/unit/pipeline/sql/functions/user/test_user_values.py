"""Values of SQL in Python and back."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any, TypedDict

import numpy as np
import pytest

from moldau.pipeline.sql.functions.declaration import AnyType
from moldau.pipeline.sql.functions.user.values import reader, writer
from moldau.pipeline.sql.syntax.parser import parse_type


@dataclass
class Visit:
    page: str
    at: datetime | None


class Place(TypedDict):
    name: str


ROUND_TRIPS = [
    ("BOOLEAN", True, True),
    ("BIGINT", 7, 7),
    ("DOUBLE", 1.5, 1.5),
    ("STRING", "x", "x"),
    ("BYTES", b"x", b"x"),
    ("DATE", 18_262, date(2020, 1, 1)),
    ("TIME", 36_930_500, time(10, 15, 30, 500_000)),
    ("TIMESTAMP", 1_577_836_800_123, datetime(2020, 1, 1, 0, 0, 0, 123_000, tzinfo=UTC)),
    ("ARRAY<DATE>", [18_262, None], [date(2020, 1, 1), None]),
    ("MAP<STRING, DATE>", {"a": 18_262}, {"a": date(2020, 1, 1)}),
    ("STRUCT<A INT, D DATE>", {"A": 1, "D": 18_262}, {"A": 1, "D": date(2020, 1, 1)}),
]


@pytest.mark.parametrize(("kind", "sql", "python"), ROUND_TRIPS)
def test_both_ways(kind: str, sql: Any, python: Any) -> None:
    read = reader(parse_type(kind))
    assert (sql if read is None else read(sql)) == python
    assert writer(parse_type(kind))(python) == sql


def test_structs_as_the_users_classes() -> None:
    kind = parse_type("STRUCT<PAGE STRING, AT TIMESTAMP>")
    read = reader(kind, Visit)
    assert read is not None
    visit = read({"PAGE": "a", "AT": 0})
    assert visit == Visit("a", datetime(1970, 1, 1, tzinfo=UTC))
    assert writer(kind)(visit) == {"PAGE": "a", "AT": 0}
    place = reader(parse_type("STRUCT<NAME STRING>"), Place)
    assert place is not None
    assert place({"NAME": "x"}) == {"name": "x"}
    many = reader(parse_type("ARRAY<STRUCT<PAGE STRING, AT TIMESTAMP>>"), list[Visit])
    assert many is not None
    assert many([{"PAGE": "a", "AT": None}]) == [Visit("a", None)]


@pytest.mark.parametrize(
    ("kind", "given", "expected"),
    [
        ("DOUBLE", 3, 3.0),
        ("DOUBLE", np.float32(1.5), 1.5),
        ("BIGINT", np.int64(7), 7),
        ("DECIMAL(6, 2)", Decimal("1.005"), Decimal("1.01")),
        ("DECIMAL(6, 2)", 3, Decimal("3.00")),
        ("ARRAY<BIGINT>", (1, 2), [1, 2]),
        ("STRUCT<A INT, B INT>", {"a": 1}, {"A": 1, "B": None}),
        ("TIMESTAMP", datetime(1970, 1, 1, 0, 0, 1), 1_000),
        ("STRING", None, None),
    ],
)
def test_what_a_function_may_return(kind: str, given: Any, expected: Any) -> None:
    found = writer(parse_type(kind))(given)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("STRING", 3),
        ("BIGINT", 1.5),
        ("BIGINT", True),
        ("INTEGER", 2**31),
        ("DECIMAL(4, 2)", Decimal("100")),
        ("ARRAY<BIGINT>", "12"),
        ("MAP<STRING, INT>", [1]),
        ("DATE", datetime(2020, 1, 1)),
        ("STRUCT<A INT>", {"z": 1}),
    ],
)
def test_another_type_is_a_failure(kind: str, given: Any) -> None:
    with pytest.raises(ValueError, match="returned"):
        writer(parse_type(kind))(given)


def test_a_result_of_any_type_may_be_a_time() -> None:
    assert writer(AnyType())([date(1970, 1, 2), 3]) == [1, 3]
