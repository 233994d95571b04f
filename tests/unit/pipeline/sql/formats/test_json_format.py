import math
from decimal import Decimal
from typing import Any

import orjson
import pytest

from moldau.pipeline.sql.definitions import Format
from moldau.pipeline.sql.formats import row_serde
from moldau.pipeline.sql.formats.json_rows import SHAPES_MAX
from moldau.pipeline.sql.types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    INTEGER,
    STRING,
    TIME,
    TIMESTAMP,
    Array,
    Column,
    Map,
    SqlType,
    Struct,
)
from moldau.pipeline.sql.types import Decimal as DecimalType


def decode(kind: SqlType, text: str) -> Any:
    """The value of a field of that type."""
    serde = row_serde(Format("JSON"), [Column("A", kind)], is_key=False)
    return serde.decoder("t", is_key=False)(b'{"A": %s}' % text.encode())[0]


def encode(kind: SqlType, value: Any) -> str:
    serde = row_serde(Format("JSON"), [Column("A", kind)], is_key=False)
    data = serde.encoder("t", is_key=False)((value,))
    assert data is not None
    return data.decode().removeprefix('{"A":').removesuffix("}")


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (INTEGER, '"12"', 12),
        (INTEGER, "12.9", 12),
        (BIGINT, '"-9223372036854775808"', -(2**63)),
        (DOUBLE, "1", 1.0),
        (DOUBLE, '"1.5e3"', 1500.0),
        (STRING, "12", "12"),
        (STRING, "true", "true"),
        (STRING, '{"a": [1, null]}', '{"a":[1,null]}'),
        (STRING, '["a", 1, null]', "[a, 1, null]"),
        (DecimalType(4, 2), '"1.005"', Decimal("1.01")),
        (DecimalType(4, 2), "12.3", Decimal("12.30")),
        (DecimalType(30, 20), "1234567890.12345678901234567890", Decimal("1234567890.12345678901234567890")),
        (BYTES, '"AP8="', b"\x00\xff"),
        (TIMESTAMP, "1700000000000", 1_700_000_000_000),
        (DATE, "19000", 19_000),
        (TIME, "86399999", 86_399_999),
        (BOOLEAN, "false", False),
        (Array(INTEGER), '[1, "2", null]', [1, 2, None]),
        (Map(STRING, DOUBLE), '{"a": 1, "b": null}', {"a": 1.0, "b": None}),
        (Map(STRING, INTEGER), '[{"key": "a", "value": 1}]', {"a": 1}),
        (Struct([("X", INTEGER), ("Y", STRING)]), '{"x": 1, "z": 0}', {"X": 1, "Y": None}),
    ],
)
def test_what_is_read_as_a_type(kind: SqlType, text: str, value: Any) -> None:
    assert decode(kind, text) == value
    assert decode(kind, "null") is None


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (INTEGER, "2147483648"),
        (INTEGER, '"x"'),
        (INTEGER, "true"),
        (BIGINT, "18446744073709551616"),
        (DOUBLE, '"x"'),
        (BOOLEAN, '"true"'),
        (BOOLEAN, "1"),
        (BYTES, '"?"'),
        (TIME, "86400000"),
        (DecimalType(4, 2), "100"),
        (Array(INTEGER), "{}"),
        (Map(STRING, INTEGER), "[1]"),
        (Struct([("X", INTEGER)]), "[]"),
    ],
)
def test_what_is_no_value_of_a_type_names_the_column(kind: SqlType, text: str) -> None:
    with pytest.raises(ValueError, match="column A"):
        decode(kind, text)


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        (DecimalType(10, 2), Decimal("1E+3"), "1000"),
        (DOUBLE, math.nan, '"NaN"'),
        (DOUBLE, -math.inf, '"-Infinity"'),
        (Array(DOUBLE), [None, math.inf], '[null,"Infinity"]'),
        (BYTES, b"\x00\xff", '"AP8="'),
        (STRING, None, "null"),
        (Map(STRING, BYTES), {"a": b""}, '{"a":""}'),
    ],
)
def test_what_is_written(kind: SqlType, value: Any, text: str) -> None:
    assert encode(kind, value) == text


def test_fields_are_found_whatever_their_case() -> None:
    columns = [Column("NAME", STRING), Column("size", INTEGER)]
    read = row_serde(Format("JSON"), columns, is_key=False).decoder("t", is_key=False)
    assert read(b'{"name": "a", "size": 1}') == ("a", 1)
    assert read(b'{"Name": "a", "NAME": "b"}') == ("b", None)
    assert read(b'{"SIZE": 1}') == (None, None), "a quoted name is as it was written"


def test_many_sets_of_fields() -> None:
    read = row_serde(Format("JSON"), [Column("A", BIGINT)], is_key=False).decoder("t", is_key=False)
    for number in range(SHAPES_MAX + 10):
        assert read(orjson.dumps({f"x{number}": 0, "a": number})) == (number,)


@pytest.mark.parametrize("data", [b"", b"{", b"\x00\x00\x00\x00\x01{}", b'"\xff"'])
@pytest.mark.parametrize("kind", [INTEGER, DecimalType(30, 2)])
def test_what_is_no_json(data: bytes, kind: SqlType) -> None:
    read = row_serde(Format("JSON"), [Column("A", kind)], is_key=False).decoder("t", is_key=False)
    with pytest.raises(ValueError, match="not JSON"):
        read(data)


def test_a_value_that_is_no_object() -> None:
    read = row_serde(Format("JSON"), [Column("A", INTEGER)], is_key=False).decoder("t", is_key=False)
    assert read(b"null") is None and read(None) is None
    with pytest.raises(ValueError, match="no object but list"):
        read(b"[1]")


def test_a_single_column_by_itself() -> None:
    serde = row_serde(Format("JSON", is_wrapped=False), [Column("A", INTEGER)], is_key=True)
    write, read = serde.encoder("t", is_key=True), serde.decoder("t", is_key=True)
    assert write((5,)) == b"5" and read(b'"5"') == (5,)
    with pytest.raises(ValueError, match="column A INTEGER"):
        read(b'"x"')


def test_no_columns() -> None:
    serde = row_serde(Format("JSON"), [], is_key=False)
    assert serde.encoder("t", is_key=False)(()) == b"{}"
    assert serde.decoder("t", is_key=False)(b'{"a": 1}') == ()


def test_only_wanted_columns_are_converted() -> None:
    columns = [Column("A", INTEGER), Column("B", INTEGER), Column("C", STRING)]
    serde = row_serde(Format("JSON"), columns, is_key=False, wanted=["C"])
    assert serde.decoder("t", is_key=False)(b'{"A": "x", "B": 1, "C": "y"}') == (None, None, "y")
    assert serde != row_serde(Format("JSON"), columns, is_key=False)
