"""Lines of input into records, and back from what `consume` prints."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.cli.failures import Failure
from moldau.cli.formats.record_input import LineFormat, Outgoing
from moldau.cli.render import record_output

KeyAndValue = tuple[bytes | None, bytes | None]


def pairs(line_format: LineFormat, *lines: bytes) -> list[KeyAndValue]:
    return [(record.key, record.value) for record in line_format.parse(lines)]


def test_a_line_is_a_value_without_key() -> None:
    assert pairs(LineFormat(), b"a", b"") == [(None, b"a"), (None, b"")]


def test_one_key_for_all() -> None:
    assert pairs(LineFormat(key=b"k"), b"a", b"b") == [(b"k", b"a"), (b"k", b"b")]


def test_the_first_separator_parts_key_and_value() -> None:
    assert pairs(LineFormat(key_separator=":"), b"k:a:b", b":x") == [(b"k", b"a:b"), (b"", b"x")]


def test_a_tab_can_be_named_in_any_shell() -> None:
    assert pairs(LineFormat(key_separator="\\t"), b"k\tv") == [(b"k", b"v")]


def test_a_line_without_separator_is_named_after_those_before_it_were_given_out() -> None:
    records = LineFormat(key_separator=":").parse([b"k:a", b"oops"])
    assert next(records).key == b"k"
    with pytest.raises(Failure, match="line 2 has no key"):
        next(records)


def test_the_null_marker_makes_a_tombstone_and_nothing_else_does() -> None:
    marked = LineFormat(key_separator=":", null_marker="NULL")
    assert pairs(marked, b"k:NULL", b"k:NULL ", b"k:") == [(b"k", None), (b"k", b"NULL "), (b"k", b"")]
    assert pairs(LineFormat(key_separator=":"), b"k:") == [(b"k", b"")]


def test_hexadecimal_digits() -> None:
    hexadecimal = LineFormat("hex", key_separator=":", null_marker="-")
    assert pairs(hexadecimal, b"00ff:c0 de", b":", b"01:-") == [
        (b"\0\xff", b"\xc0\xde"),
        (b"", b""),
        (b"\1", None),
    ]
    with pytest.raises(Failure, match="line 1 is not a sequence of hexadecimal digit pairs"):
        pairs(LineFormat("hex"), b"0g")


def test_what_all_records_have_in_common() -> None:
    shared = LineFormat(headers=[("a", "1")], partition=3, timestamp_ms=17)
    assert list(shared.parse([b"v"])) == [Outgoing(None, b"v", [("a", "1")], 3, 17)]


def test_an_object_with_all_its_parts() -> None:
    line = b'{"key":"k","value":{"n":1},"headers":[{"name":"h","value_base64":"/w=="}],"timestamp":5,"partition":2}'
    expected = Outgoing(b"k", b'{"n":1}', [("h", b"\xff")], -1, 5)
    assert list(LineFormat("json").parse([line])) == [expected]
    assert list(LineFormat("json", keep_partitions=True).parse([line])) == [expected._replace(partition=2)]
    assert list(LineFormat("json", timestamp_ms=9, key=b"other").parse([line])) == [
        expected._replace(timestamp_ms=9)
    ]


def test_an_object_may_leave_everything_out() -> None:
    assert list(LineFormat("json").parse([b"{}"])) == [Outgoing(None, None, [], -1, 0)]
    assert pairs(LineFormat("json", key=b"k"), b'{"value":""}') == [(b"k", b"")]


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b"[]",
        b'{"value_base64":"*"}',
        b'{"headers":["a"]}',
        b'{"timestamp":"now"}',
        b'{"timestamp":true}',
    ],
)
def test_what_is_no_record_names_its_line(line: bytes) -> None:
    with pytest.raises(Failure, match="line 1 "):
        list(LineFormat("json").parse([line]))


texts = st.none() | st.binary(max_size=20)


@given(
    key=texts,
    value=texts,
    headers=st.lists(st.tuples(st.text(max_size=5), texts), max_size=3),
    partition=st.integers(0, 100),
    timestamp_ms=st.integers(1, 2**41),
)
def test_what_consume_prints_as_json_produce_takes(
    key: bytes | None,
    value: bytes | None,
    headers: list[tuple[str, bytes | None]],
    partition: int,
    timestamp_ms: int,
) -> None:
    record = record_output.Record("t", partition, 7, timestamp_ms, "create_time", key, value, headers)
    [again] = LineFormat("json", keep_partitions=True).parse([record_output.as_json(record)])
    assert again == Outgoing(key, value, list(headers), partition, timestamp_ms)
