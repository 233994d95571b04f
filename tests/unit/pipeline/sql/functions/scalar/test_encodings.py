"""Encodings, and numbers out of bytes."""

import math

import pytest
from scalar_examples import value_of


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("TO_BYTES('0x1a', 'hex')", b"\x1a"),
        ("TO_BYTES('0x1ab', 'hex')", b"\x01\xab"),
        ("TO_BYTES('X''1AFF''', 'HEX')", b"\x1a\xff"),
        ("TO_BYTES('ž', 'utf8')", "ž".encode()),
        ("TO_BYTES('ž', 'ascii')", b"?"),
        ("TO_BYTES('AQI', 'base64')", b"\x01\x02"),
        ("TO_BYTES(NULL, 'utf8')", None),
        ("FROM_BYTES(TO_BYTES('ff', 'hex'), 'utf8')", "\ufffd"),
        ("FROM_BYTES(TO_BYTES('ff', 'hex'), 'ascii')", "\ufffd"),
        ("FROM_BYTES(TO_BYTES('abcdef', 'hex'), 'hex')", "ABCDEF"),
        ("ENCODE('ABCDEF', 'hex', 'hex')", "abcdef"),
        ("ENCODE('žluť', 'utf8', 'ascii')", "\ufffd\ufffdlu\ufffd\ufffd"),
        ("ENCODE('', 'ascii', 'base64')", ""),
        ("MD5('')", "d41d8cd98f00b204e9800998ecf8427e"),
        ("INT_FROM_BYTES(TO_BYTES('ffffffff', 'hex'))", -1),
        ("INT_FROM_BYTES(TO_BYTES('00000080', 'hex'), 'little_endian')", -(2**31)),
        ("BIGINT_FROM_BYTES(TO_BYTES('8000000000000000', 'hex'), 'BIG_ENDIAN')", -(2**63)),
        ("DOUBLE_FROM_BYTES(TO_BYTES('000000000000f03f', 'hex'), 'LITTLE_ENDIAN')", 1.0),
        ("DOUBLE_FROM_BYTES(TO_BYTES('7ff0000000000000', 'hex'))", math.inf),
    ],
)
def test_values(text: str, value: object) -> None:
    assert value_of(text) == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("TO_BYTES('a', 'latin1')", "'latin1' is no encoding"),
        ("FROM_BYTES(TO_BYTES('a', 'utf8'), 'x')", "'x' is no encoding"),
        ("TO_BYTES('0g', 'hex')", "'0g' is not hexadecimal"),
        ("TO_BYTES('abc', 'hex')", "'abc' is not hexadecimal"),
        ("TO_BYTES('a', 'base64')", "'a' is not in base64"),
        ("INT_FROM_BYTES(TO_BYTES('00', 'hex'))", "1 bytes are given where the number takes 4"),
        ("BIGINT_FROM_BYTES(TO_BYTES('00000000', 'hex'))", "4 bytes are given where the number takes 8"),
        ("INT_FROM_BYTES(TO_BYTES('00000000', 'hex'), 'MIDDLE')", "'MIDDLE' is no byte order"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        value_of(text)
