"""Values as text, as Java writes them: what CAST, formats and functions make of a number or a time."""

import math
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Final

EPOCH: Final = date(1970, 1, 1)
MIDNIGHT: Final = datetime(1970, 1, 1, tzinfo=UTC)


def double_text(value: float) -> str:
    """As Java writes a double: 1.0, 1.0E10, NaN, Infinity."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        text = format(Decimal(repr(value)), "f")
        return text if "." in text else text + ".0"
    sign, digits, _ = Decimal(repr(value)).normalize().as_tuple()
    exponent = Decimal(repr(value)).adjusted()
    fraction = "".join(map(str, digits[1:])) or "0"
    return f"{'-' if sign else ''}{digits[0]}.{fraction}E{exponent}"


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
