"""Time zones by their names in Java."""

from datetime import UTC, datetime, timedelta

import pytest

from moldau.pipeline.sql.time_zones import zone


@pytest.mark.parametrize(
    ("name", "hours"),
    [
        ("UTC", 0),
        ("Z", 0),
        ("GMT", 0),
        ("+02:00", 2),
        ("-0330", -3.5),
        ("+5", 5),
        ("UTC+1", 1),
        ("GMT-08:00", -8),
        ("+18:00", 18),
        ("Europe/Prague", 1),
        ("PST", -8),
        ("PDT", -8),
        ("EST", -5),
        ("CET", 1),
    ],
)
def test_the_offset_in_winter(name: str, hours: float) -> None:
    assert zone(name).utcoffset(datetime(2024, 1, 1)) == timedelta(hours=hours)


def test_utc_is_one_zone() -> None:
    assert zone("UTC") is UTC


@pytest.mark.parametrize(
    "name",
    ["", "Mars", "+19:00", "+1:60", "Europe", "../etc/passwd", "/etc/localtime", "+", "a\0b", "europe/prag"],
)
def test_what_is_no_zone(name: str) -> None:
    with pytest.raises(ValueError, match="is no time zone"):
        zone(name)
