"""Guesses at unexpected bytes."""

import gzip
import struct

import pytest

from moldau.cli.formats.lookalike import looks_like, protobuf_fields


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "an empty value"),
        (b'{"a": 1}', 'plain JSON: {"a": 1}'),
        (b"[1, 2]", "plain JSON: [1, 2]"),
        (b'{"a": ', 'text that begins like JSON but is not: {"a":'),
        (b"hello", "plain text: hello"),
        ("žluťoučký".encode(), "plain text: žluťoučký"),
        (b"x" * 100, "plain text: " + "x" * 39 + "…"),
        (b"<order/>", "XML or HTML: <order/>"),
        (b"Obj\x01\x04", "an Avro container file"),
        (b"\xc3\x01 12345678", "Avro in the single-object encoding, without a registry's frame"),
        (gzip.compress(b"x", mtime=0), "gzip"),
        (b"\x00\x00\x00\x00\x07rest", "a record framed with schema id 7"),
        (struct.pack(">q", 7 << 24), "a record framed with schema id 7, or the number 117,440,512"),
        (struct.pack(">q", -5), "the number -5, as an integer serializer writes it"),
        (struct.pack(">i", -5), "the number -5, as an integer serializer writes it"),
        (
            b"\x08\x96\x01\x12\x03abc\x19" + b"\0" * 8,
            "Protobuf without a registry's frame, with the fields 1, 2, 3",
        ),
        (b"\xff\xfe\xfd\xfc\xfb", "5 bytes of an unknown kind, starting with ff fe fd fc fb"),
    ],
)
def test_looks(data: bytes, said: str) -> None:
    assert looks_like(data) == said


@pytest.mark.parametrize("data", [b"\x08", b"\x12\x05abc", b"\x0b", b"\x00\x01", b"\x12" + b"\xff" * 12, b""])
def test_bytes_that_are_no_whole_protobuf_message(data: bytes) -> None:
    assert protobuf_fields(data) == []
