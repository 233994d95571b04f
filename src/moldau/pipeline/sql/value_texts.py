"""Values as text, as Java writes them: what CAST, formats and functions make of a number or a time."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Final

from moldau.pipeline.java_texts.numbers import double_text as double_text

EPOCH: Final = date(1970, 1, 1)
MIDNIGHT: Final = datetime(1970, 1, 1, tzinfo=UTC)


def decimal_text(value: Decimal) -> str:
    return format(value, "f")


def date_text(days: int) -> str:
    return (EPOCH + timedelta(days=days)).isoformat()


def time_text(ms: int) -> str:
    """Seconds and milliseconds only where there are any, as Java writes a LocalTime."""
    seconds, rest = divmod(ms, 1000)
    text = f"{seconds // 3600:02}:{seconds // 60 % 60:02}"
    if seconds % 60 or rest:
        text += f":{seconds % 60:02}"
    return text + (f".{rest:03}" if rest else "")


def timestamp_text(ms: int) -> str:
    """`2020-01-31T10:15:30.123`, always with milliseconds."""
    return moment_of(ms).isoformat(timespec="milliseconds")[:23]


def moment_of(ms: int) -> datetime:
    try:
        return MIDNIGHT + timedelta(milliseconds=ms)
    except OverflowError:
        raise ValueError(f"{ms} milliseconds since 1970 are no time between the years 1 and 9999") from None
