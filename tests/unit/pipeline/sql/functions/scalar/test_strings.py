"""Edges of the functions of text, and their forms for BYTES."""

import pytest
from scalar_examples import evaluated, value_of

from moldau.pipeline.sql.syntax.errors import SqlError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("SUBSTRING('stream', 0, 2)", "st"),
        ("SUBSTRING('stream', -20, 2)", "st"),
        ("SUBSTRING('stream', 3, -1)", ""),
        ("SUBSTRING('stream', 3, 99)", "ream"),
        ("SUBSTRING('', 1)", ""),
        ("INITCAP('o''neill  PLC\tlimited')", "O'neill  Plc\tLimited"),
        ("INITCAP('')", ""),
        ("INITCAP('  two words')", "Two Words"),
        ("INITCAP('a\u00a0b')", "A\u00a0b"),
        ("SPLIT('', '')", [""]),
        ("TRIM('\t\n a ')", "a"),
        ("TRIM('\u00a0a')", "\u00a0a"),
        ("INSTR('banana', 'an', 0)", 0),
        ("INSTR('banana', 'an', 7)", 0),
        ("INSTR('banana', 'an', 6)", 0),
        ("INSTR('banana', 'an', -2)", 4),
        ("INSTR('banana', 'an', -3)", 2),
        ("INSTR('banana', 'an', 1, 3)", 0),
        ("INSTR('aaaa', 'aa', 1, 3)", 3),
        ("INSTR('aaaa', 'aa', -1, 3)", 1),
        ("INSTR(NULL, 'a')", 0),
        ("LPAD('', 3, 'ab')", "aba"),
        ("LPAD('abc', 0, 'x')", ""),
        ("RPAD(NULL, 3, 'x')", None),
        ("CONCAT(NULL, NULL)", ""),
        ("CONCAT_WS('-', NULL, NULL)", ""),
        ("SPLIT('', ',')", [""]),
        ("SPLIT(',a,', ',')", ["", "a", ""]),
        ("SPLIT(NULL, ',')", None),
        ("SPLIT_TO_MAP('a=1=2;;b;c=', ';', '=')", {"a": "1", "c": ""}),
        ("SPLIT_TO_MAP('a=1', '=', '=')", None),
        ("SPLIT_TO_MAP('a=1', ';', '')", None),
        ("ELT(0, 'a')", None),
        ("ELT(NULL, 'a')", None),
        ("ELT(2, 'a', NULL)", None),
        ("FIELD('x')", 0),
        ("REPLACE('aaa', 'aa', 'b')", "ba"),
        ("LEN('žlutý')", 5),
        ("LEN(NULL)", None),
        ("CHR(1114112)", None),
        ("CHR(55296)", None),
        ("CHR('u004b')", None),
        ("CHR('\\u00zz')", None),
        ("CHR('\\ud83d\\ude00')", "\U0001f600"),
        ("UCASE('straße')", "STRASSE"),
    ],
)
def test_values(text: str, value: object) -> None:
    assert value_of(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("LEN(TO_BYTES('žlutý', 'utf8'))", 7),
        ("SUBSTRING(TO_BYTES('stream', 'utf8'), -2)", b"am"),
        ("LPAD(TO_BYTES('a', 'utf8'), 3, TO_BYTES('xy', 'utf8'))", b"xya"),
        ("RPAD(TO_BYTES('abc', 'utf8'), 2, TO_BYTES('xy', 'utf8'))", b"ab"),
        ("CONCAT(TO_BYTES('a', 'utf8'), NULL, TO_BYTES('b', 'utf8'))", b"ab"),
        ("CONCAT_WS(TO_BYTES('-', 'utf8'), TO_BYTES('a', 'utf8'), TO_BYTES('b', 'utf8'))", b"a-b"),
        ("SPLIT(TO_BYTES('a-b', 'utf8'), TO_BYTES('-', 'utf8'))", [b"a", b"b"]),
        ("SPLIT(TO_BYTES('ab', 'utf8'), TO_BYTES('', 'utf8'))", [b"a", b"b"]),
    ],
)
def test_bytes_have_the_same_functions(text: str, value: object) -> None:
    assert value_of(text) == value


def test_the_type_of_bytes_is_kept() -> None:
    assert str(evaluated("CONCAT(TO_BYTES('a', 'utf8'))")[0]) == "BYTES"


@pytest.mark.parametrize(
    "text", ["CONCAT('a', TO_BYTES('b', 'utf8'))", "LEN(1)", "SUBSTRING('a')", "LPAD('a', '3', 'b')"]
)
def test_wrong_arguments_are_refused_with_the_forms_there_are(text: str) -> None:
    with pytest.raises(SqlError, match="does not take") as refused:
        value_of(text)
    assert "It takes: " in str(refused.value)


def test_padding_has_a_limit() -> None:
    with pytest.raises(ValueError, match="2000000000 characters are too many"):
        value_of("LPAD('a', 2000000000, 'b')")
