"""Values of SQL as Python objects, as a function of the user gets them, and back.

Only types that differ have a conversion: times, and structs that the user has as a class. What a function returns is
checked, since a wrong type would otherwise fail much later, where its value is written.
"""

import dataclasses
import typing
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Context
from decimal import Decimal as DecimalValue
from typing import Any, Final, get_args

from moldau.pipeline.sql.functions.declaration import Pattern
from moldau.pipeline.sql.functions.user.hints import struct_fields
from moldau.pipeline.sql.types import (
    BIGINT,
    BIGINT_MAX,
    BIGINT_MIN,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    INTEGER,
    INTEGER_MAX,
    INTEGER_MIN,
    STRING,
    TIME,
    TIMESTAMP,
    Array,
    Decimal,
    Map,
    SqlType,
    Struct,
)

Convert = Callable[[Any], Any]

_EPOCH: Final = date(1970, 1, 1)
_MIDNIGHT: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MS: Final = timedelta(milliseconds=1)
_EXACT: Final = Context(prec=78, rounding=ROUND_HALF_UP)
_RANGES: Final = {INTEGER: (INTEGER_MIN, INTEGER_MAX), BIGINT: (BIGINT_MIN, BIGINT_MAX)}


def reader(kind: SqlType | None, python: Any = None) -> Convert | None:
    """From a value of SQL to the user's; None where it is the same. Of values that are not null."""
    match kind:
        case SqlType(name="TIMESTAMP"):
            return to_datetime
        case SqlType(name="DATE"):
            return lambda days: _EPOCH + timedelta(days=days)
        case SqlType(name="TIME"):
            return lambda ms: (_MIDNIGHT + timedelta(milliseconds=ms)).time()
        case Array(element=element):
            return _each(reader(element, _inside(python, 0)))
        case Map(value=value):
            return _each_value(reader(value, _inside(python, 1)))
        case Struct():
            return _struct_reader(kind, python)
    return None


def to_datetime(ms: int) -> datetime:
    return _MIDNIGHT + timedelta(milliseconds=ms)


def writer(kind: Pattern) -> Convert:
    """From what the user's function returned to a value of SQL. ValueError for what is not of the type."""
    if not isinstance(kind, SqlType):
        return untyped
    if kind in _WRITERS:
        return _nullable(_WRITERS[kind], kind)
    match kind:
        case Decimal():
            return _nullable(_decimal_writer(kind), kind)
        case Array(element=element):
            inner = writer(element)
            return _nullable(lambda given: [inner(one) for one in _list(given)], kind)
        case Map(key=key, value=value):
            key_of, value_of = writer(key), writer(value)
            return _nullable(
                lambda given: {key_of(name): value_of(one) for name, one in _mapping(given).items()}, kind
            )
        case Struct():
            return _nullable(_struct_writer(kind), kind)
    raise TypeError(f"{kind} is no type of a value")


def untyped(given: Any) -> Any:
    """Of a function whose result may be of any type: only times and numpy's scalars are not SQL's values."""
    given = _plain(given)
    if isinstance(given, datetime):
        return _from_datetime(given)
    if isinstance(given, date):
        return _from_date(given)
    if isinstance(given, time):
        return _from_time(given)
    if isinstance(given, list | tuple):
        return [untyped(one) for one in given]
    if isinstance(given, dict):
        return {name: untyped(one) for name, one in given.items()}
    return given


_EXACT_TYPES: Final[Mapping[SqlType, type]] = {BOOLEAN: bool, DOUBLE: float, STRING: str, BYTES: bytes}
"""Values of these types need no look."""


class _Unfit(Exception):
    """The value is not of the type."""


def _nullable(convert: Convert, kind: SqlType) -> Convert:
    exact = _EXACT_TYPES.get(kind)

    def converted(given: Any) -> Any:
        if given is None or type(given) is exact:
            return given
        try:
            return convert(_plain(given))
        except _Unfit:
            raise ValueError(f"returned {given!r} ({type(given).__name__}), which is not {kind}") from None

    return converted


def _plain(given: Any) -> Any:
    """A scalar of numpy as Python's."""
    return given.item() if type(given).__module__ == "numpy" and hasattr(given, "item") else given


def _of(*types: type) -> Convert:
    def checked(given: Any) -> Any:
        if not isinstance(given, types) or (isinstance(given, bool) and bool not in types):
            raise _Unfit
        return given

    return checked


def _whole(kind: SqlType) -> Convert:
    low, high = _RANGES[kind]
    number = _of(int)

    def whole(given: Any) -> int:
        if not low <= (value := number(given)) <= high:
            raise _Unfit
        return value if type(value) is int else int(value)

    return whole


def _double(given: Any) -> float:
    return float(_of(int, float, DecimalValue)(given))


def _bytes(given: Any) -> bytes:
    return bytes(_of(bytes, bytearray, memoryview)(given))


def _from_datetime(given: datetime) -> int:
    """One without a zone is UTC."""
    return ((given if given.tzinfo else given.replace(tzinfo=UTC)) - _MIDNIGHT) // _MS


def _from_date(given: date) -> int:
    return (given - _EPOCH).days


def _from_time(given: time) -> int:
    return ((given.hour * 60 + given.minute) * 60 + given.second) * 1000 + given.microsecond // 1000


def _date(given: Any) -> int:
    if isinstance(given, datetime):
        raise _Unfit
    return _from_date(_of(date)(given))


_WRITERS: Final[Mapping[SqlType, Convert]] = {
    BOOLEAN: _of(bool),
    INTEGER: _whole(INTEGER),
    BIGINT: _whole(BIGINT),
    DOUBLE: _double,
    STRING: _of(str),
    BYTES: _bytes,
    DATE: _date,
    TIME: lambda given: _from_time(_of(time)(given)),
    TIMESTAMP: lambda given: _from_datetime(_of(datetime)(given)),
}


def _decimal_writer(kind: Decimal) -> Convert:
    unit = DecimalValue(1).scaleb(-kind.scale)
    limit = DecimalValue(1).scaleb(kind.precision - kind.scale)
    number = _of(int, DecimalValue)

    def fitted(given: Any) -> DecimalValue:
        value = DecimalValue(number(given))
        if not value.is_finite() or abs(rounded := value.quantize(unit, context=_EXACT)) >= limit:
            raise _Unfit
        return rounded

    return fitted


def _list(given: Any) -> Any:
    if isinstance(given, str | bytes | Mapping) or not hasattr(given, "__iter__"):
        raise _Unfit
    return given


def _mapping(given: Any) -> Mapping[Any, Any]:
    if not isinstance(given, Mapping):
        raise _Unfit
    return given


def _struct_writer(kind: Struct) -> Convert:
    """The names of fields are the same in any case."""
    writers = {name: writer(of) for name, of in kind.fields}
    known = {name.upper(): name for name in writers}

    def struct(given: Any) -> dict[str, Any]:
        if dataclasses.is_dataclass(given) and not isinstance(given, type):
            given = {one.name: getattr(given, one.name) for one in dataclasses.fields(given)}
        found = {name: None for name in writers}
        for name, value in _mapping(given).items():
            field = name if name in writers else known.get(str(name).upper())
            if field is None:
                raise ValueError(f"returned a field {name}, which {kind} does not have")
            found[field] = writers[field](value)
        return found

    return struct


def _struct_reader(kind: Struct, python: Any) -> Convert | None:
    own = struct_fields(python)
    names = {name.upper(): name for name in own or {}}
    fields = [
        (name, names.get(name.upper(), name), reader(of, (own or {}).get(names.get(name.upper(), ""))))
        for name, of in kind.fields
    ]
    if own is None and all(convert is None for _, _, convert in fields):
        return None
    make = dict if own is None or typing.is_typeddict(python) else python

    def struct(given: dict[str, Any]) -> Any:
        return make(
            **{
                theirs: value if convert is None or value is None else convert(value)
                for name, theirs, convert in fields
                for value in (given.get(name),)
            }
        )

    return struct


def _each(convert: Convert | None) -> Convert | None:
    if convert is None:
        return None
    return lambda values: [None if value is None else convert(value) for value in values]


def _each_value(convert: Convert | None) -> Convert | None:
    if convert is None:
        return None
    return lambda values: {name: None if value is None else convert(value) for name, value in values.items()}


def _inside(python: Any, index: int) -> Any:
    """The annotation of what a list or dict holds, without `| None`."""
    inside = get_args(python)
    if len(inside) <= index:
        return None
    others = [one for one in get_args(inside[index]) if one is not type(None)]
    is_optional = len(others) < len(get_args(inside[index]))
    return others[0] if is_optional else inside[index]
