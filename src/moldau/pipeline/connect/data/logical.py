"""Logical types: between what connectors see and the plain value underneath, a number or bytes."""

from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from typing import Any, Final

from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.schema import DATE, DECIMAL, SCALE, TIME, TIMESTAMP, Schema

EPOCH_DAY: Final = date(1970, 1, 1)
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
DAY_MS: Final = 86_400_000
_MS: Final = timedelta(milliseconds=1)
_EXACT: Final = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)
_PYTHON_TIMES: Final = "Python's dates reach from the year 1 to 9999"

Convert = Callable[[Any], Any]


def days_of(value: date) -> int:
    return (value - EPOCH_DAY).days


def date_of(days: int) -> date:
    try:
        return EPOCH_DAY + timedelta(days=days)
    except OverflowError:
        raise DataError(f"{days} days since 1970 cannot be a Date: {_PYTHON_TIMES}") from None


def ms_of_time(value: time) -> int:
    seconds = (value.hour * 60 + value.minute) * 60 + value.second
    return seconds * 1000 + value.microsecond // 1000


def time_of(ms: int) -> time:
    if not 0 <= ms < DAY_MS:
        raise DataError(f"{ms} cannot be a Time: it is no millisecond of a day, which are 0 to {DAY_MS - 1}")
    return (EPOCH + timedelta(milliseconds=ms)).time()


def ms_of(value: datetime) -> int:
    """A moment without a zone is one of UTC."""
    return ((value if value.tzinfo is not None else value.replace(tzinfo=UTC)) - EPOCH) // _MS


def moment_of(ms: int) -> datetime:
    try:
        return EPOCH + timedelta(milliseconds=ms)
    except OverflowError:
        raise DataError(f"{ms} milliseconds since 1970 cannot be a Timestamp: {_PYTHON_TIMES}") from None


def scale_of(schema: Schema) -> int:
    text = schema.parameters.get(SCALE)
    try:
        return int(text or "")
    except ValueError:
        raise DataError(
            f"the schema of a Decimal has the scale {text!r}, which is no whole number: "
            f"give it the parameter {SCALE}"
        ) from None


def unscaled_bytes(value: Decimal, scale: int) -> bytes:
    """As Java's BigInteger writes it. Fewer digits after the point than the schema's are filled up."""
    if not isinstance(value, Decimal) or not value.is_finite():
        raise DataError(f"{value!r} is no Decimal: make it a finite decimal.Decimal")
    scaled = _EXACT.scaleb(value, scale)
    whole = int(scaled)
    if scaled != whole:
        raise DataError(
            f"the decimal {value} has more than the {scale} digits after the point that its schema has: "
            "round it, or declare a larger scale"
        )
    size = (whole + (whole < 0)).bit_length() // 8 + 1
    return whole.to_bytes(size, "big", signed=True)


def decimal_of(unscaled: bytes, scale: int) -> Decimal:
    return _EXACT.scaleb(Decimal(int.from_bytes(unscaled, "big", signed=True)), -scale)


def to_plain(schema: Schema) -> Convert | None:
    """From the value of a logical type to the plain one; None where the schema is of no logical type."""
    match schema.name:
        case None:
            return None
        case name if name in _TYPES:
            kind, convert = _TYPES[name]
            return lambda value: convert(value) if type(value) is kind else _misplaced(value, str(name), kind)
        case name if name == DECIMAL:
            scale = scale_of(schema)
            return lambda value: unscaled_bytes(value, scale)
    return None


def from_plain(schema: Schema) -> Convert | None:
    match schema.name:
        case None:
            return None
        case name if name in _READERS:
            return _READERS[name]
        case name if name == DECIMAL:
            scale = scale_of(schema)
            return lambda data: decimal_of(data, scale)
    return None


def python_type(schema: Schema) -> type | None:
    """Of the values of a logical type."""
    return {DECIMAL: Decimal, **{name: kind for name, (kind, _) in _TYPES.items()}}.get(schema.name or "")


def _misplaced(value: Any, name: str, kind: type) -> Any:
    raise DataError(
        f"{value!r} is no {name.rpartition('.')[2]}: it takes a {kind.__module__}.{kind.__qualname__}"
    )


_TYPES: Final[dict[str, tuple[type, Convert]]] = {
    DATE: (date, days_of),
    TIME: (time, ms_of_time),
    TIMESTAMP: (datetime, ms_of),
}
_READERS: Final[dict[str, Convert]] = {DATE: date_of, TIME: time_of, TIMESTAMP: moment_of}
