"""Arithmetic with dates and times, and the types of its functions."""

import pytest
from scalar_examples import evaluated, value_of

from moldau.pipeline.sql.syntax.errors import SqlError


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("DATEADD(HOURS, -1, FROM_DAYS(0))", "DATE", 0),
        ("DATEADD(HOURS, -25, FROM_DAYS(0))", "DATE", -1),
        ("DATEADD(DAY, 1, FROM_DAYS(0))", "DATE", 1),
        ("DATESUB(DAYS, 1, CAST(NULL AS DATE))", "DATE", None),
        ("TIMEADD(DAYS, 3, CAST('10:00' AS TIME))", "TIME", 36_000_000),
        ("TIMESUB(MILLISECONDS, 1, CAST('00:00' AS TIME))", "TIME", 86_399_999),
        ("TIMESTAMPADD(MINUTES, -2, FROM_UNIXTIME(0))", "TIMESTAMP", -120_000),
        ("TIMESTAMPSUB(HOURS, NULL, FROM_UNIXTIME(0))", "TIMESTAMP", None),
        ("CONVERT_TZ(FROM_UNIXTIME(0), 'America/Los_Angeles', '+01:00')", "TIMESTAMP", 9 * 3_600_000),
        (
            "CONVERT_TZ(FROM_UNIXTIME(1625140800000), 'PDT', 'UTC')",
            "TIMESTAMP",
            1625140800000 + 7 * 3_600_000,
        ),
        ("FROM_UNIXTIME(5)", "TIMESTAMP", 5),
        ("UNIX_TIMESTAMP(FROM_UNIXTIME(5))", "BIGINT", 5),
        ("UNIX_DATE(FROM_DAYS(5))", "INTEGER", 5),
        ("PARSE_TIME('10:15', 'HH:mm')", "TIME", 36_900_000),
        ("STRINGTODATE('1970-01-03', 'yyyy-MM-dd')", "INTEGER", 2),
        ("STRINGTOTIMESTAMP('1970-01-01 01:00', 'yyyy-MM-dd HH:mm', 'Europe/Prague')", "BIGINT", 0),
        ("TIMESTAMPTOSTRING(0, 'HH:mm', '+05:30')", "STRING", "05:30"),
        ("FORMAT_TIMESTAMP(CAST(NULL AS TIMESTAMP), 'yyyy')", "STRING", None),
        ("FORMAT_TIMESTAMP(FROM_UNIXTIME(0), NULL)", "STRING", None),
    ],
)
def test_the_type_and_value(text: str, kind: str, value: object) -> None:
    found_kind, found = evaluated(text)
    assert (str(found_kind), found) == (kind, value)


@pytest.mark.parametrize(
    "text",
    [
        "DATEADD(DAYS, 1, FROM_UNIXTIME(0))",
        "FORMAT_DATE(0, 'yyyy')",
        "TIMEADD('HOURS', 1, CAST('10:00' AS TIME))",
    ],
)
def test_other_types_are_refused(text: str) -> None:
    with pytest.raises(SqlError, match="does not take"):
        value_of(text)


def test_an_unknown_zone_is_named() -> None:
    with pytest.raises(ValueError, match="'Mars' is no time zone"):
        value_of("CONVERT_TZ(FROM_UNIXTIME(0), 'UTC', 'Mars')")
