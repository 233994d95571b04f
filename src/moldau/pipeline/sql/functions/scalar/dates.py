"""Dates, times and timestamps: arithmetic, and text by a pattern. Where no zone is given it is UTC."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final

from moldau.pipeline.sql.functions.declaration import Category, Form, Parameter, Scalar, TimeUnit
from moldau.pipeline.sql.functions.scalar.date_reading import parse_date, parse_time, parse_timestamp
from moldau.pipeline.sql.functions.scalar.date_writing import format_date, format_time, format_timestamp
from moldau.pipeline.sql.time_zones import zone
from moldau.pipeline.sql.types import BIGINT, DATE, INTEGER, STRING, TIME, TIMESTAMP, SqlType
from moldau.pipeline.sql.value_texts import moment_of

DAY_MS: Final = 86_400_000


def convert_tz(ms: int, from_zone: str, to_zone: str) -> int:
    return ms + _offset_ms(ms, to_zone) - _offset_ms(ms, from_zone)


def _offset_ms(ms: int, name: str) -> int:
    offset = moment_of(ms).astimezone(zone(name)).utcoffset() or timedelta()
    return offset // timedelta(milliseconds=1)


def dateadd(unit_ms: int, interval: int, days: int) -> int:
    """Part of a day is cut off."""
    total = days * DAY_MS + interval * unit_ms
    return total // DAY_MS if total >= 0 else -(-total // DAY_MS)


def datesub(unit_ms: int, interval: int, days: int) -> int:
    return dateadd(unit_ms, -interval, days)


def timeadd(unit_ms: int, interval: int, ms: int) -> int:
    """Goes around midnight."""
    return (ms + interval * unit_ms) % DAY_MS


def timesub(unit_ms: int, interval: int, ms: int) -> int:
    return timeadd(unit_ms, -interval, ms)


def timestampadd(unit_ms: int, interval: int, ms: int) -> int:
    return ms + interval * unit_ms


def timestampsub(unit_ms: int, interval: int, ms: int) -> int:
    return ms - interval * unit_ms


def same(value: Any) -> Any:
    return value


_PATTERN: Final = Parameter(
    "pattern", STRING, "as Java's DateTimeFormatter reads it, such as 'yyyy-MM-dd HH:mm:ss.SSS'"
)
_ZONE: Final = Parameter("zone", STRING, "such as 'Europe/Prague', 'UTC' or '+02:00'")


def _of_interval(name: str, doc: str, kind: SqlType, meaning: Callable[..., Any], *examples: str) -> Scalar:
    parameters = (
        Parameter("unit", TimeUnit(), "such as DAYS or SECONDS"),
        Parameter("interval", INTEGER, "how many units"),
        Parameter("value", kind),
    )
    return Scalar(name, Category.DATE_TIME, doc, (Form(parameters, kind),), meaning, examples=examples)


def _by_pattern(
    name: str,
    doc: str,
    given: SqlType,
    result: SqlType,
    meaning: Callable[..., Any],
    *examples: str,
    has_zone: bool = False,
) -> Scalar:
    parameters = (Parameter("text" if given == STRING else "value", given), _PATTERN)
    forms = (Form(parameters, result), *([Form((*parameters, _ZONE), result)] if has_zone else []))
    return Scalar(name, Category.DATE_TIME, doc, forms, meaning, examples=examples)


FUNCTIONS: Final[tuple[Scalar, ...]] = (
    Scalar(
        "CONVERT_TZ",
        Category.DATE_TIME,
        "A TIMESTAMP that is the time of one zone, as the time of another zone.",
        (
            Form(
                (
                    Parameter("value", TIMESTAMP),
                    Parameter("from_zone", STRING, "such as 'UTC'"),
                    Parameter("to_zone", STRING, "such as 'Europe/Prague'"),
                ),
                TIMESTAMP,
            ),
        ),
        convert_tz,
        examples=("CONVERT_TZ(FROM_UNIXTIME(0), 'UTC', 'Asia/Tokyo') => '1970-01-01T09:00:00.000'",),
    ),
    _of_interval(
        "DATEADD",
        "A later DATE. Part of a day is cut off.",
        DATE,
        dateadd,
        "DATEADD(DAYS, 2, FROM_DAYS(18627)) => '2021-01-02'",
        "DATEADD(HOURS, 36, FROM_DAYS(18627)) => '2021-01-01'",
    ),
    _of_interval(
        "DATESUB",
        "An earlier DATE. Part of a day is cut off.",
        DATE,
        datesub,
        "DATESUB(DAYS, 1, FROM_DAYS(18628)) => '2020-12-31'",
    ),
    _by_pattern(
        "FORMAT_DATE",
        "A DATE as text.",
        DATE,
        STRING,
        format_date,
        "FORMAT_DATE(FROM_DAYS(18628), 'EEE, dd MMM yyyy') => 'Fri, 01 Jan 2021'",
    ),
    _by_pattern(
        "FORMAT_TIME",
        "A TIME as text.",
        TIME,
        STRING,
        format_time,
        "FORMAT_TIME(CAST('14:05:09' AS TIME), 'hh:mm a') => '02:05 PM'",
    ),
    _by_pattern(
        "FORMAT_TIMESTAMP",
        "A TIMESTAMP as text, in UTC or another zone.",
        TIMESTAMP,
        STRING,
        format_timestamp,
        "FORMAT_TIMESTAMP(FROM_UNIXTIME(1609459200123), 'yyyy-MM-dd HH:mm:ss.SSS') => '2021-01-01 00:00:00.123'",
        "FORMAT_TIMESTAMP(FROM_UNIXTIME(0), 'yyyy-MM-dd''T''HH:mmXXX', 'Asia/Tokyo') => '1970-01-01T09:00+09:00'",
        has_zone=True,
    ),
    Scalar(
        "FROM_DAYS",
        Category.DATE_TIME,
        "The DATE that many days after 1970-01-01.",
        (Form((Parameter("days", INTEGER),), DATE),),
        same,
        examples=("FROM_DAYS(18628) => '2021-01-01'",),
    ),
    Scalar(
        "FROM_UNIXTIME",
        Category.DATE_TIME,
        "The TIMESTAMP that many milliseconds after the beginning of 1970 in UTC.",
        (Form((Parameter("milliseconds", BIGINT),), TIMESTAMP),),
        same,
        examples=("FROM_UNIXTIME(1609459200123) => '2021-01-01T00:00:00.123'",),
    ),
    _by_pattern(
        "PARSE_DATE",
        "The DATE that a text says.",
        STRING,
        DATE,
        parse_date,
        "PARSE_DATE('31.01.2021', 'dd.MM.yyyy') => '2021-01-31'",
    ),
    _by_pattern(
        "PARSE_TIME",
        "The TIME that a text says.",
        STRING,
        TIME,
        parse_time,
        "PARSE_TIME('02:05 PM', 'hh:mm a') => '14:05'",
    ),
    _by_pattern(
        "PARSE_TIMESTAMP",
        "The TIMESTAMP that a text says, in UTC or another zone where it names none.",
        STRING,
        TIMESTAMP,
        parse_timestamp,
        "PARSE_TIMESTAMP('2021-01-01 00:00:00.123', 'yyyy-MM-dd HH:mm:ss.SSS') => '2021-01-01T00:00:00.123'",
        "PARSE_TIMESTAMP('2021-07-01 12:00', 'yyyy-MM-dd HH:mm', 'Europe/Prague') => '2021-07-01T10:00:00.000'",
        has_zone=True,
    ),
    _of_interval(
        "TIMEADD",
        "A later TIME, around midnight where need be.",
        TIME,
        timeadd,
        "TIMEADD(HOURS, 3, CAST('22:30' AS TIME)) => '01:30'",
    ),
    _of_interval(
        "TIMESUB",
        "An earlier TIME, around midnight where need be.",
        TIME,
        timesub,
        "TIMESUB(MINUTES, 45, CAST('00:30' AS TIME)) => '23:45'",
    ),
    _of_interval(
        "TIMESTAMPADD",
        "A later TIMESTAMP.",
        TIMESTAMP,
        timestampadd,
        "TIMESTAMPADD(SECONDS, 90, FROM_UNIXTIME(0)) => '1970-01-01T00:01:30.000'",
    ),
    _of_interval(
        "TIMESTAMPSUB",
        "An earlier TIMESTAMP.",
        TIMESTAMP,
        timestampsub,
        "TIMESTAMPSUB(DAYS, 1, FROM_UNIXTIME(0)) => '1969-12-31T00:00:00.000'",
    ),
    _by_pattern(
        "DATETOSTRING",
        "Days since 1970 as text. Deprecated: use FORMAT_DATE.",
        INTEGER,
        STRING,
        format_date,
        "DATETOSTRING(18628, 'yyyy/MM/dd') => '2021/01/01'",
    ),
    _by_pattern(
        "STRINGTODATE",
        "The days since 1970 of a date in a text. Deprecated: use PARSE_DATE.",
        STRING,
        INTEGER,
        parse_date,
        "STRINGTODATE('2021-01-01', 'yyyy-MM-dd') => 18628",
    ),
    _by_pattern(
        "STRINGTOTIMESTAMP",
        "The milliseconds since 1970 of a time in a text. Deprecated: use PARSE_TIMESTAMP.",
        STRING,
        BIGINT,
        parse_timestamp,
        "STRINGTOTIMESTAMP('2021-01-01', 'yyyy-MM-dd') => 1609459200000",
        has_zone=True,
    ),
    _by_pattern(
        "TIMESTAMPTOSTRING",
        "Milliseconds since 1970 as text. Deprecated: use FORMAT_TIMESTAMP.",
        BIGINT,
        STRING,
        format_timestamp,
        "TIMESTAMPTOSTRING(1609459200000, 'HH:mm z', 'UTC') => '00:00 UTC'",
        has_zone=True,
    ),
)
