"""Dates and times as text, letter by letter."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.pipeline.sql.functions.scalar.date_writing import format_date, format_time, format_timestamp

MOMENT = 1_704_067_505_678
"""2024-01-01T00:05:05.678, a Monday."""
EVENING = MOMENT + 20 * 3_600_000


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("y yy yyyy yyyyy", "2024 24 2024 02024"),
        ("u uu uuuu", "2024 24 2024"),
        ("M MM MMM MMMM MMMMM", "1 01 Jan January J"),
        ("L LL LLL LLLL", "1 01 Jan January"),
        ("d dd D DD DDD", "1 01 1 01 001"),
        ("E EE EEE EEEE EEEEE", "Mon Mon Mon Monday M"),
        ("e ee eee", "1 01 Mon"),
        ("Q QQ QQQ QQQQ", "1 01 Q1 1st quarter"),
        ("Y w ww", "2024 1 01"),
        ("G GGGG", "AD Anno Domini"),
        ("F W", "1 1"),
        ("H HH k kk", "20 20 20 20"),
        ("h hh K KK a", "8 08 8 08 PM"),
        ("m mm s ss", "5 05 5 05"),
        ("S SS SSS SSSSSS SSSSSSSSS", "6 67 678 678000 678000000"),
        ("A n N", "72305678 678000000 72305678000000"),
        ("VV z X XX XXX x xx xxx Z ZZZZ ZZZZZ O", "UTC UTC Z Z Z +00 +0000 +00:00 +0000 GMT Z GMT"),
        ("yyyy-MM-dd'T'HH:mm:ss'Z'", "2024-01-01T20:05:05Z"),
        ("'{0}' {{".replace("{{", "''"), "{0} '"),
        ("H[:mm[:ss]]", "20:05:05"),
        ("", ""),
    ],
)
def test_letters(pattern: str, text: str) -> None:
    assert format_timestamp(EVENING, pattern) == text


@pytest.mark.parametrize(
    ("pattern", "zone", "text"),
    [
        ("VV z XXX", "Europe/Prague", "Europe/Prague CET +01:00"),
        ("VV X XX XXX XXXXX", "+05:30", "+05:30 +0530 +0530 +05:30 +05:30"),
        ("X x", "-03:00", "-03 -03"),
        ("O OOOO", "UTC-8", "GMT-8 GMT-08:00"),
        ("O ZZZZ", "+05:45", "GMT+5:45 GMT+05:45"),
        ("XXXX XXXXX", "+01:02:03", "+010203 +01:02:03"),
        ("HH:mm", "America/Los_Angeles", "16:05"),
    ],
)
def test_zones(pattern: str, zone: str, text: str) -> None:
    assert format_timestamp(MOMENT, pattern, zone) == text


def test_midnight_and_noon() -> None:
    assert format_time(0, "h K k H a") == "12 0 24 0 AM"
    assert format_time(12 * 3_600_000, "h K k H a") == "12 0 12 12 PM"


def test_before_1970() -> None:
    assert format_timestamp(-1, "yyyy-MM-dd HH:mm:ss.SSS") == "1969-12-31 23:59:59.999"
    assert format_date(-1, "dd/MM/yy") == "31/12/69"


def test_a_date_has_no_time_and_a_time_no_date() -> None:
    with pytest.raises(ValueError, match="asks for HH, which the value does not have"):
        format_date(0, "yyyy HH")
    with pytest.raises(ValueError, match="asks for yyyy"):
        format_time(0, "yyyy")
    with pytest.raises(ValueError, match="asks for X"):
        format_time(0, "HH X")
    assert format_date(0, "yyyy-MM-dd[ HH:mm]") == "1970-01-01"


def test_an_unknown_zone() -> None:
    with pytest.raises(ValueError, match="'Mars/Base' is no time zone"):
        format_timestamp(0, "yyyy", "Mars/Base")


def test_a_time_out_of_all_years() -> None:
    with pytest.raises(ValueError, match=r"9223372036854775807 milliseconds since 1970 are no time"):
        format_timestamp(2**63 - 1, "yyyy")


def test_times_of_one_second_differ_only_where_the_pattern_looks_closer() -> None:
    for ms in (1_577_836_800_001, 1_577_836_800_999, 1_577_836_801_000, -1):
        second = format_timestamp(ms, "HH:mm:ss")
        assert format_timestamp(ms, "HH:mm:ss.SSS") == f"{second}.{ms % 1000:03}"
    assert format_timestamp(-1, "yyyy-MM-dd HH:mm:ss 'UTC'", "Europe/Prague") == "1970-01-01 00:59:59 UTC"


@given(st.integers(-62_135_500_000_000, 253_402_200_000_000), st.sampled_from(["UTC", "Asia/Kolkata"]))
def test_any_moment_is_written_as_python_writes_it(ms: int, zone: str) -> None:
    moment = (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=ms)).astimezone(ZoneInfo(zone))
    expected = f"{moment.year:04}-{moment.month:02}-{moment.day:02} {moment.hour:02}:{moment.minute:02}%{moment.second}"
    assert format_timestamp(ms, "yyyy-MM-dd HH:mm'%'s", zone) == expected
