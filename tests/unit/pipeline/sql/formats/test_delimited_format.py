from decimal import Decimal

import pytest

from moldau.pipeline.serdes import Decoder, Encoder
from moldau.pipeline.sql.definitions import Format
from moldau.pipeline.sql.formats import row_serde
from moldau.pipeline.sql.syntax.errors import SqlError
from moldau.pipeline.sql.types import BIGINT, BOOLEAN, BYTES, DOUBLE, INTEGER, STRING, Array, Column
from moldau.pipeline.sql.types import Decimal as DecimalType

COLUMNS = (Column("ID", BIGINT), Column("NAME", STRING), Column("PRICE", DOUBLE))


def codec(*columns: Column, delimiter: str | None = None, is_key: bool = False) -> tuple[Encoder, Decoder]:
    said = () if delimiter is None else (("DELIMITER", delimiter),)
    serde = row_serde(Format("DELIMITED", said), columns, is_key=is_key)
    return serde.encoder("t", is_key=is_key), serde.decoder("t", is_key=is_key)


def test_fields_are_separated_by_commas() -> None:
    encode, decode = codec(*COLUMNS)
    assert encode((1, "nail", 0.5)) == b"1,nail,0.5"
    assert decode(b"1,nail,0.5") == (1, "nail", 0.5)
    assert decode(b" 120, bob, 49") == (120, " bob", 49.0)


@pytest.mark.parametrize(("word", "mark"), [("TAB", b"\t"), ("SPACE", b" "), ("|", b"|"), ("$", b"$")])
def test_other_delimiters(word: str, mark: bytes) -> None:
    encode, decode = codec(*COLUMNS, delimiter=word)
    assert encode((1, "nail", 2.0)) == mark.join([b"1", b"nail", b"2.0"])
    assert decode(mark.join([b"1", b"nail", b"2.0"])) == (1, "nail", 2.0)


@pytest.mark.parametrize("text", ["a,b", 'say "hi"', "two\nlines", "trailing ", " leading", "#1", "\r"])
def test_text_that_needs_quotes_gets_them(text: str) -> None:
    encode, decode = codec(*COLUMNS)
    data = encode((1, text, None))
    assert data is not None and b'"' in data
    assert decode(data) == (1, text, None)


def test_an_empty_field_is_null() -> None:
    encode, decode = codec(*COLUMNS)
    assert encode((None, None, None)) == b",,"
    assert decode(b",,") == (None, None, None)
    assert decode(None) is None and encode(None) is None


def test_decimals_booleans_and_bytes() -> None:
    encode, decode = codec(Column("D", DecimalType(10, 2)), Column("B", BOOLEAN), Column("X", BYTES))
    row = (Decimal("1000000.10"), True, b"\x00\xff")
    assert encode(row) == b"1000000.10,true,AP8="
    assert decode(b"1000000.1,TRUE,AP8=") == row


@pytest.mark.parametrize(
    ("data", "part"),
    [
        (b"1,nail", "2 fields and 3 columns"),
        (b"one,nail,1", "column ID BIGINT: 'one' is no BIGINT"),
        (b"9223372036854775808,nail,1", "out of the range of BIGINT"),
        (b'1,"nail,1', "not well-formed"),
    ],
)
def test_what_is_wrong_with_a_record_is_said(data: bytes, part: str) -> None:
    _, decode = codec(*COLUMNS)
    with pytest.raises(ValueError, match=part):
        decode(data)


def test_nested_types_are_refused() -> None:
    with pytest.raises(SqlError, match="ARRAY<INTEGER> of column XS"):
        codec(Column("XS", Array(INTEGER)))


@pytest.mark.parametrize("word", ["", "ab", '"', "\n"])
def test_a_bad_delimiter_is_refused(word: str) -> None:
    with pytest.raises(SqlError, match="delimiter"):
        codec(*COLUMNS, delimiter=word)


def test_a_single_column() -> None:
    encode, decode = codec(Column("A", INTEGER), is_key=True)
    assert encode((5,)) == b"5"
    assert decode(b"5") == (5,)
    assert decode(encode((None,))) == (None,)
