"""Text as dates and times, and back again."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.pipeline.sql.functions.scalar.date_reading import parse_date, parse_time, parse_timestamp
from moldau.pipeline.sql.functions.scalar.date_writing import format_date, format_time, format_timestamp

DAY_MS = 86_400_000


def ms(*parts: int) -> int:
    return int(datetime(*parts, tzinfo=UTC).timestamp() * 1000)  # type: ignore[misc,arg-type]


@pytest.mark.parametrize(
    ("text", "pattern", "wanted"),
    [
        ("2021-06-30", "yyyy-MM-dd", ms(2021, 6, 30)),
        ("2021-06-31", "yyyy-MM-dd", ms(2021, 6, 30)),
        ("20210630101530", "yyyyMMddHHmmss", ms(2021, 6, 30, 10, 15, 30)),
        ("30/6/21", "d/M/yy", ms(2021, 6, 30)),
        ("JUN 3, 2021", "MMM d, yyyy", ms(2021, 6, 3)),
        ("3 June 2021", "d MMMM yyyy", ms(2021, 6, 3)),
        ("Thu, 03 Jun 2021", "EEE, dd MMM yyyy", ms(2021, 6, 3)),
        ("2021", "yyyy", ms(2021, 1, 1)),
        ("2021-366", "yyyy-DDD", None),
        ("2020-366", "yyyy-DDD", ms(2020, 12, 31)),
        ("10:15", "HH:mm", 36_900_000),
        ("02-29", "MM-dd", ms(1970, 2, 28)),
        ("12:00 am", "hh:mm a", 0),
        ("12:00 PM", "hh:mm a", 43_200_000),
        ("24:30", "kk:mm", 1_800_000),
        ("1970-01-01 1.5", "yyyy-MM-dd s.S", 1_500),
        ("00.123456789", "ss.SSSSSSSSS", 123),
        ("2021-06-30T10:15:30Z", "yyyy-MM-dd'T'HH:mm:ssX", ms(2021, 6, 30, 10, 15, 30)),
        ("2021-06-30T10:15+02", "yyyy-MM-dd'T'HH:mmX", ms(2021, 6, 30, 8, 15)),
        ("2021-06-30T10:15+02:30", "yyyy-MM-dd'T'HH:mmXXX", ms(2021, 6, 30, 7, 45)),
        ("2021-06-30 10:15 +0200", "yyyy-MM-dd HH:mm Z", ms(2021, 6, 30, 8, 15)),
        ("2021-06-30 10:15 GMT+2", "yyyy-MM-dd HH:mm O", ms(2021, 6, 30, 8, 15)),
        ("2021-06-30 10:15 Europe/Prague", "yyyy-MM-dd HH:mm VV", ms(2021, 6, 30, 8, 15)),
        ("2021-06-30 10:15 PST", "yyyy-MM-dd HH:mm z", ms(2021, 6, 30, 17, 15)),
        ("10", "HH[:mm[:ss]]", 36_000_000),
        ("10:15:30", "HH[:mm[:ss]]", 36_930_000),
        ("it's 10", "'it''s' HH", 36_000_000),
        ("+12021", "yyyy", None),
        ("12021", "yyyy", None),
        ("-0001", "yyyy", None),
        ("21-13-01", "yy-MM-dd", None),
        ("21-1-1", "yy-MM-dd", None),
        ("2021-00-01", "yyyy-MM-dd", None),
        ("2021-01-32", "yyyy-MM-dd", None),
        ("25:00", "HH:mm", None),
        ("0:30 AM", "h:mm a", None),
        ("10:60", "HH:mm", None),
        ("Fri, 03 Jun 2021", "EEE, dd MMM yyyy", None),
        ("10 11", "HH HH", None),
        ("2021-06-30 ", "yyyy-MM-dd", None),
        ("٢٠٢١", "yyyy", None),
        ("2021-W01", "YYYY-'W'ww", None),
        ("J", "MMMMM", None),
        ("10:15 +99:00", "HH:mm XXX", None),
    ],
)
def test_timestamps(text: str, pattern: str, wanted: int | None) -> None:
    if wanted is None:
        with pytest.raises(ValueError, match=r"\w"):
            parse_timestamp(text, pattern)
    else:
        assert parse_timestamp(text, pattern) == wanted


def test_a_zone_in_the_text_decides_over_the_given_one() -> None:
    assert parse_timestamp("10:00", "HH:mm", "+02:00") == 8 * 3_600_000
    assert parse_timestamp("10:00Z", "HH:mmX", "+02:00") == 10 * 3_600_000


def test_where_the_clock_is_changed() -> None:
    summer = "yyyy-MM-dd HH:mm"
    assert parse_timestamp("2021-03-28 02:30", summer, "Europe/Prague") == ms(2021, 3, 28, 1, 30)
    assert parse_timestamp("2021-10-31 02:30", summer, "Europe/Prague") == ms(2021, 10, 31, 0, 30)


def test_dates() -> None:
    assert parse_date("1970-01-02", "yyyy-MM-dd") == 1
    assert parse_date("1970/032", "yyyy/DDD") == 31
    with pytest.raises(ValueError, match="has H, which a DATE does not have"):
        parse_date("1970-01-02 10", "yyyy-MM-dd HH")
    with pytest.raises(ValueError, match="needs year, month and day"):
        parse_date("1970-01", "yyyy-MM")


def test_times() -> None:
    assert parse_time("10:15:30.5", "HH:mm:ss.S") == 36_930_500
    assert parse_time("1 pm", "h a") == 13 * 3_600_000
    assert parse_time("61000", "A") == 61_000
    with pytest.raises(ValueError, match="has y, which a TIME does not have"):
        parse_time("2021 10", "yyyy HH")
    for text, pattern in (("15:30", "mm:ss"), ("1:30", "h:mm")):
        with pytest.raises(ValueError, match="does not say which hour it is"):
            parse_time(text, pattern)


def test_messages_name_the_text_and_the_pattern() -> None:
    with pytest.raises(ValueError, match="'x' does not match the pattern 'yyyy'"):
        parse_timestamp("x", "yyyy")
    with pytest.raises(ValueError, match="'13': 13 is no month; it lies between 1 and 12"):
        parse_timestamp("13", "MM")
    with pytest.raises(ValueError, match="2021-06-03 is a Thursday"):
        parse_timestamp("Fri 2021-06-03", "EEE yyyy-MM-dd")


DATES = [
    "yyyy-MM-dd",
    "d.M.yyyy",
    "yyyyMMdd",
    "EEEE, d MMMM yyyy",
    "MMM dd yyyy",
    "uuuu/DDD",
    "'on 'dd-MM-uuuu",
]
TIMES = [
    "HH:mm:ss.SSS",
    "H:m:s.SSS",
    "HHmmssSSS",
    "hh:mm:ss.SSS a",
    "K:mm:ss,SSS a",
    "kk'h'mm:ss.SSS",
    "A",
    "HH:mm:ss[.SSS]",
]
ZONES = ["", " XXX", " xx", " VV", "[ XXXXX]", " Z", " OOOO", " ZZZZZ"]
NAMES = ["UTC", "+05:30", "-11:00", "Asia/Tokyo", "Asia/Kathmandu"]
"""Zones without changes of the clock, which say some times twice."""

moments = st.integers(ms(1000, 1, 2), ms(9999, 12, 30))


@given(
    moments,
    st.sampled_from(DATES),
    st.sampled_from(TIMES),
    st.sampled_from(ZONES),
    st.sampled_from(NAMES),
    st.booleans(),
)
def test_what_is_written_is_read_again(
    moment: int, day: str, time: str, zone: str, name: str, date_first: bool
) -> None:
    moment = max(moment, ms(1990, 1, 1)) if "/" in name else moment
    pattern = f"{day} {time}{zone}" if date_first else f"{time} {day}{zone}"
    assert parse_timestamp(format_timestamp(moment, pattern, name), pattern, name) == moment


@given(st.integers(ms(1000, 1, 1) // DAY_MS, ms(9999, 12, 31) // DAY_MS), st.sampled_from(DATES))
def test_dates_are_read_again(days: int, pattern: str) -> None:
    assert parse_date(format_date(days, pattern), pattern) == days


@given(st.integers(0, DAY_MS - 1), st.sampled_from(TIMES))
def test_times_are_read_again(time: int, pattern: str) -> None:
    assert parse_time(format_time(time, pattern), pattern) == time


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("[y]" * 40, "1" * 60 + "x"),
        ("[d][M]" * 30, "1" * 2_000 + "x"),
        ("['a']" * 40, "a" * 60),
        ("[y" * 13 + "]" * 13, "1" * 60 + "x"),
        ("dMHmsnNA", "1" * 300 + "x"),
    ],
)
def test_no_pattern_takes_for_ever(pattern: str, text: str) -> None:
    """With backtracking each of these would outlast the machine."""
    with pytest.raises(ValueError, match="does not match the pattern"):
        parse_date(text, pattern)


@pytest.mark.parametrize("pattern", ["[y]" * 5_000, "[" * 3_000 + "y" + "]" * 3_000])
def test_a_pattern_that_is_too_long(pattern: str) -> None:
    with pytest.raises(ValueError, match="characters; the limit is 200: leave fields"):
        parse_date("1x", pattern)


def test_a_pattern_with_many_optional_sections_reads_as_any_other() -> None:
    pattern = "yyyy[-M][-d]['T'][H][:m][:s][.SSS]['a']['b']['c']['d']['e']['f']"
    assert parse_timestamp("2021-6-30T10:15:30.500cf", pattern) == ms(2021, 6, 30, 10, 15, 30) + 500
    assert parse_timestamp("2021-6", pattern) == ms(2021, 6, 1)
