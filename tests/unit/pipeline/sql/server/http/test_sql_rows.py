"""Values of rows as JSON."""

import math
from decimal import Decimal as Number
from typing import Any

import pytest

from moldau.pipeline.sql.queries import ResultColumn
from moldau.pipeline.sql.server.http.rows import json_bytes, row_encoder
from moldau.pipeline.sql.types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    STRING,
    TIME,
    TIMESTAMP,
    Array,
    Decimal,
    Map,
    SqlType,
    Struct,
)


def written(kind: SqlType, value: Any) -> str:
    encode = row_encoder([ResultColumn("A", kind)])
    return json_bytes(encode((value,))).decode()


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        (BOOLEAN, True, "[true]"),
        (BIGINT, 2**63 - 1, "[9223372036854775807]"),
        (DOUBLE, 1.5, "[1.5]"),
        (DOUBLE, math.nan, '["NaN"]'),
        (DOUBLE, -math.inf, '["-Infinity"]'),
        (Decimal(5, 2), Number("1.50"), "[1.50]"),
        (Decimal(38, 0), Number("1E+20"), "[100000000000000000000]"),
        (STRING, "ü\n", '["ü\\n"]'),
        (BYTES, b"\x00\xff", '["AP8="]'),
        (DATE, 1, '["1970-01-02"]'),
        (TIME, 3_600_000, '["01:00"]'),
        (TIMESTAMP, 1_500, '["1970-01-01T00:00:01.500"]'),
        (Array(DATE), [0, None], '[["1970-01-01",null]]'),
        (Map(STRING, Decimal(3, 1)), {"a": Number("0.5")}, '[{"a":0.5}]'),
        (Struct([("D", DATE), ("S", STRING)]), {"D": 0, "S": "x"}, '[{"D":"1970-01-01","S":"x"}]'),
        (Struct([("S", STRING)]), {"S": None}, '[{"S":null}]'),
        (Array(Struct([("B", BYTES)])), [{"B": b"a"}], '[[{"B":"YQ=="}]]'),
    ],
)
def test_values(kind: SqlType, value: Any, text: str) -> None:
    assert written(kind, value) == text


@pytest.mark.parametrize("kind", [BYTES, DATE, Decimal(3, 1), Array(DATE), Struct([("D", DATE)])])
def test_null_stays_null(kind: SqlType) -> None:
    assert written(kind, None) == "[null]"


def test_the_row_itself_is_not_changed() -> None:
    row = ({"D": 0},)
    row_encoder([ResultColumn("A", Struct([("D", DATE)]))])(row)
    assert row == ({"D": 0},)


def test_text_that_is_no_unicode_does_not_end_the_query() -> None:
    assert written(STRING, "a\ud800") == '["a?"]'
