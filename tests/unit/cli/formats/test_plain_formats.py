"""Keys and values of Kafka's own serializers: the bytes Streams and Java write, as text and back."""

import struct

import pytest

from moldau.cli.formats.plain import FORMATS, Undecodable, decoder, encoder


@pytest.mark.parametrize(
    ("form", "stored", "text"),
    [
        ("int", struct.pack(">i", -7), b"-7"),
        ("long", struct.pack(">q", 2**40), b"1099511627776"),
        ("short", struct.pack(">h", 5), b"5"),
        ("double", struct.pack(">d", 0.1), b"0.1"),
        ("float", struct.pack(">f", 1.5), b"1.5"),
        ("string", "žluť".encode(), "žluť".encode()),
        ("bytes", b"\xff\x00", b"\xff\x00"),
        ("hex", b"\xff\x00", b"ff00"),
        ("json", b'{"a":[1,2]}', b'{"a":[1,2]}'),
        ("boolean", b"\x01", b"true"),
        ("uuid", b"1b4e28ba-2fa1-11d2-883f-0016d3cca427", b"1b4e28ba-2fa1-11d2-883f-0016d3cca427"),
    ],
)
def test_there_and_back(form: str, stored: bytes, text: bytes) -> None:
    assert decoder(form)(stored, []) == text
    assert encoder(form)(text) == stored


def test_every_format_is_tried_above() -> None:
    assert len(FORMATS) == 11


@pytest.mark.parametrize(
    ("form", "stored", "reason"),
    [
        ("int", b"12345678", "has 8 bytes, but an int has 4"),
        ("long", b"1", "has 1 byte, but a long has 8"),
        ("string", b"\xff", "is not UTF-8"),
        ("json", b"{", "is not valid JSON"),
        ("boolean", b"\x02", "is not a boolean"),
        ("uuid", b"x", "is not the text of a UUID"),
    ],
)
def test_bytes_that_are_something_else(form: str, stored: bytes, reason: str) -> None:
    with pytest.raises(Undecodable, match=reason):
        decoder(form)(stored, [])


@pytest.mark.parametrize(
    ("form", "text", "reason"),
    [
        ("int", b"x", "'x' is not a valid int"),
        ("int", b"4294967296", "is not a valid int"),
        ("double", b"one", "is not a valid double"),
        ("hex", b"f", "hexadecimal"),
        ("json", b"{", "not valid JSON"),
        ("boolean", b"yes", "neither true nor false"),
        ("uuid", b"x", "not a UUID"),
        ("string", b"\xff", "not UTF-8"),
    ],
)
def test_text_that_is_no_such_thing(form: str, text: bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        encoder(form)(text)
