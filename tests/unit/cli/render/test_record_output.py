"""Records as raw bytes, JSON, hex and columns."""

import json

import pytest

from moldau.cli.render import record_output
from moldau.cli.render.record_output import Record

RECORD = Record(
    topic="orders",
    partition=2,
    offset=41,
    timestamp_ms=1577836800123,
    timestamp_type="create_time",
    key=b"k1",
    value=b'{"a": 1}',
    headers=[("trace", b"abc"), ("empty", None)],
)


def test_raw_is_the_value_and_a_line_feed() -> None:
    assert record_output.raw([], b"\t")(RECORD) == b'{"a": 1}\n'


def test_raw_puts_the_chosen_fields_before_the_value_in_a_fixed_order() -> None:
    line = record_output.raw(["key", "offset", "headers", "timestamp", "partition"], b"|")(RECORD)
    assert line == b'2020-01-01T00:00:00.123Z|2|41|trace=abc,empty=|k1|{"a": 1}\n'


def test_raw_passes_bytes_through_and_writes_null_for_what_is_not_there() -> None:
    record = RECORD._replace(key=None, value=b"\xff\x00")
    assert record_output.raw(["key"], b"\t")(record) == b"null\t\xff\x00\n"
    assert record_output.raw([], b"\t")(RECORD._replace(value=None)) == b"null\n"


def test_json_is_one_line_with_every_field() -> None:
    line = record_output.as_json(RECORD)
    assert line.endswith(b"\n") and line.count(b"\n") == 1
    assert json.loads(line) == {
        "topic": "orders",
        "partition": 2,
        "offset": 41,
        "timestamp": 1577836800123,
        "timestamp_type": "create_time",
        "key": "k1",
        "value": '{"a": 1}',
        "headers": [{"name": "trace", "value": "abc"}, {"name": "empty", "value": None}],
    }


def test_json_writes_what_is_no_text_in_base64_under_another_name() -> None:
    fields = json.loads(record_output.as_json(RECORD._replace(key=b"\xff", value=b"\x00\xfe")))
    assert fields["key_base64"] == "/w=="
    assert fields["value_base64"] == "AP4="
    assert "key" not in fields and "value" not in fields


def test_json_keeps_a_tombstone_apart_from_an_empty_value() -> None:
    assert json.loads(record_output.as_json(RECORD._replace(value=None)))["value"] is None
    assert json.loads(record_output.as_json(RECORD._replace(value=b"")))["value"] == ""


def test_hex_shows_offsets_bytes_and_what_of_them_is_text() -> None:
    text = record_output.as_hex(RECORD._replace(value=bytes(range(60, 77)), headers=[], key=None)).decode()
    assert text.splitlines() == [
        "orders partition 2 offset 41 2020-01-01T00:00:00.123Z",
        "  key: null",
        "  value: 17 bytes",
        "    00000000  3c 3d 3e 3f 40 41 42 43 44 45 46 47 48 49 4a 4b  <=>?@ABCDEFGHIJK",
        "    00000010  4c                                               L",
    ]


def test_table_rows_align_with_their_heading_and_never_break_the_line() -> None:
    row = record_output.table_row(None)(RECORD._replace(value=b"one\ntwo\x1b[31m\xff")).decode()
    assert row.endswith("one\\ntwo\\x1b[31m\\xff\n")
    heading = record_output.TABLE_HEADING
    assert row.index("k1") == heading.index("KEY")
    assert row.index("one") == heading.index("VALUE")


def test_table_rows_are_cut_at_the_width_of_the_terminal() -> None:
    row = record_output.table_row(80)(RECORD._replace(value=b"x" * 500)).decode().rstrip("\n")
    assert len(row) == 80 and row.endswith("…")


@pytest.mark.parametrize(
    ("timestamp_ms", "text"),
    [(-1, "-"), (0, "1970-01-01T00:00:00.000Z"), (2**63 - 1, str(2**63 - 1))],
)
def test_any_timestamp_a_record_can_carry_has_a_text(timestamp_ms: int, text: str) -> None:
    assert record_output.iso_time(timestamp_ms) == text
