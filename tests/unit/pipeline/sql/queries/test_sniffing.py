"""The formats that PRINT finds."""

import struct

import pytest

from moldau.pipeline.sql.queries.sniffing import Sniffer


@pytest.mark.parametrize(
    ("data", "formats", "text"),
    [
        (b'{"A": 1}', "JSON or KAFKA_STRING", '{"A":1}'),
        (b"hello", "KAFKA_STRING", "hello"),
        (b"four", "KAFKA_STRING", "four"),
        (struct.pack(">i", 7), "KAFKA_INT", "7"),
        (struct.pack(">q", 7), "KAFKA_BIGINT or KAFKA_DOUBLE", "7"),
        (b"\xff\xfe\xfd", "UNRECOGNIZED_BYTES", "ff fe fd"),
        ("Grüße\n".encode(), "KAFKA_STRING", "Grüße\\n"),
    ],
)
def test_of_values(data: bytes, formats: str, text: str) -> None:
    sniffer = Sniffer(None, is_key=False)
    assert (sniffer.text(data), sniffer.formats) == (text, formats)


def test_windowed_keys() -> None:
    start_ms, end_ms = 1_588_263_712_000, 1_588_263_713_000
    sniffer = Sniffer(None, is_key=True)
    assert sniffer.text(b"alice" + struct.pack(">q", start_ms)) == f"[alice@{start_ms}/-]"
    assert sniffer.formats == "HOPPING(KAFKA_STRING) or TUMBLING(KAFKA_STRING)"
    session = Sniffer(None, is_key=True)
    assert session.text(b"alice" + struct.pack(">qq", end_ms, start_ms)) == f"[alice@{start_ms}/{end_ms}]"
    assert session.formats.startswith("SESSION(KAFKA_STRING)")


def test_formats_that_a_record_contradicts_are_dropped() -> None:
    sniffer = Sniffer(None, is_key=False)
    assert "no data" in sniffer.formats
    sniffer.text(b'{"A": 1}')
    assert sniffer.text(b"text") == "text"
    assert sniffer.formats == "KAFKA_STRING"
    assert sniffer.text(None) == "<null>"


def test_records_with_a_schema() -> None:
    sniffer = Sniffer(lambda data: ("AVRO", '{"A": 1}') if data[4] == 9 else None, is_key=False)
    assert sniffer.text(b"\0\0\0\0\x09abc") == '{"A": 1}'
    assert sniffer.formats == "AVRO"
