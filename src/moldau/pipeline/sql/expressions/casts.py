"""From one type to another: what CAST allows, and what is converted by itself."""

from collections.abc import Callable
from decimal import ROUND_DOWN, Decimal
from functools import cache
from typing import Any, Final

from moldau.pipeline.code.tree import Constant, Operation
from moldau.pipeline.sql.expressions import times
from moldau.pipeline.sql.expressions.numbers import EXACT, fitted, wrapped
from moldau.pipeline.sql.expressions.typed import Typed, applied, type_name
from moldau.pipeline.sql.syntax.errors import Position, SqlError
from moldau.pipeline.sql.types import (
    BIGINT,
    BIGINT_MAX,
    BIGINT_MIN,
    BOOLEAN,
    DATE,
    DECIMAL_PRECISION_MAX,
    DOUBLE,
    INTEGER,
    INTEGER_MAX,
    INTEGER_MIN,
    STRING,
    TIME,
    TIMESTAMP,
    Array,
    Map,
    SqlType,
    Struct,
    as_decimal,
    is_number,
)
from moldau.pipeline.sql.types import Decimal as DecimalType
from moldau.pipeline.sql.value_texts import date_text, decimal_text, double_text, time_text, timestamp_text

Convert = Callable[[Any], Any]


def cast(value: Typed, to: SqlType, at: Position) -> Typed:
    """CAST: everything that has a meaning; SqlError otherwise."""
    if value.type is None:
        return Typed(to, Constant(None))
    if value.type == to:
        return value
    convert = conversion(value.type, to)
    if convert is None:
        raise SqlError(f"a {value.type} cannot be cast to {to}", at)
    return applied(to, Operation(f"CAST AS {to}", function=convert, never_null=True), value)


def literal_like(value: Typed, kind: SqlType, at: Position) -> Typed:
    """A literal in a list whose first value has this type: beside numbers '1' is a number, beside texts 1 is a text."""
    if not isinstance(value.code, Constant) or value.type is None or value.code.value is None:
        return value
    if kind == STRING:
        return _converted(value, STRING, at) if conversion(value.type, STRING) else value
    if value.type != STRING:
        return value
    if kind in (TIMESTAMP, DATE, TIME):
        return _converted(value, kind, at)
    text = value.code.value
    if kind == BOOLEAN:
        found = boolean_of(text)
        return value if found is None else Typed(BOOLEAN, Constant(found))
    return _number_of(text) or value if is_number(kind) else value


def _number_of(text: str) -> Typed | None:
    """A number as a literal of the smallest type that holds it; None of other text."""
    try:
        exact = Decimal(text.strip())
    except ArithmeticError:
        return None
    if not exact.is_finite() or "e" in text.lower():
        return Typed(DOUBLE, Constant(float(exact)))
    if "." not in text:
        kind = INTEGER if INTEGER_MIN <= exact <= INTEGER_MAX else BIGINT
        return Typed(kind, Constant(int(exact)))
    scale = len(text.strip().rpartition(".")[2])
    return Typed(DecimalType(max(exact.adjusted() + 1, 1) + scale, scale), Constant(exact))


def coerced(value: Typed, to: SqlType, at: Position, what: str) -> Typed:
    """Without being asked: a smaller number to a larger one, text that is written in the statement to a time."""
    if value.type is None or value.type == to:
        return Typed(to, value.code)
    if widens(value.type, to) or (_is_text(value) and to in (TIMESTAMP, DATE, TIME)):
        return _constant_cast(cast(value, to, at), value, at)
    raise SqlError(
        f"{what} is {type_name(value.type)} and should be {to}",
        at,
        hint=f"CAST(... AS {to}) converts where that is meant.",
    )


def _is_text(value: Typed) -> bool:
    return value.type == STRING and isinstance(value.code, Constant)


def _constant_cast(converted: Typed, value: Typed, at: Position) -> Typed:
    """A constant is converted now: a wrong one is wrong in the statement, not in each record."""
    if not isinstance(value.code, Constant) or converted.type is None or value.type is None:
        return converted
    return _converted(value, converted.type, at)


def _converted(value: Typed, to: SqlType, at: Position) -> Typed:
    """Of a constant."""
    assert isinstance(value.code, Constant)
    assert value.type is not None
    convert = conversion(value.type, to)
    try:
        return Typed(to, Constant(convert(value.code.value) if convert else value.code.value))
    except ValueError as wrong:
        raise SqlError(str(wrong), at) from None


def widens(kind: SqlType, to: SqlType) -> bool:
    """Whether every value of one type is, as near as makes no difference, one of the other."""
    if kind == to:
        return True
    if not (is_number(kind) and is_number(to)):
        return _widens_inside(kind, to)
    if to == DOUBLE:
        return True
    wanted, given = as_decimal(to), as_decimal(kind)
    if wanted is None or given is None:
        return False
    if isinstance(kind, DecimalType) and not isinstance(to, DecimalType):
        return False
    return given.scale <= wanted.scale and given.precision - given.scale <= wanted.precision - wanted.scale


def _widens_inside(kind: SqlType, to: SqlType) -> bool:
    match kind, to:
        case Array(element=given), Array(element=wanted):
            return widens(given, wanted)
        case Map(key=given_key, value=given), Map(key=wanted_key, value=wanted):
            return widens(given_key, wanted_key) and widens(given, wanted)
        case Struct(fields=given_fields), Struct(fields=wanted_fields):
            same_names = [name for name, _ in given_fields] == [name for name, _ in wanted_fields]
            pairs = zip(given_fields, wanted_fields, strict=False)
            return same_names and all(widens(one[1], other[1]) for one, other in pairs)
    return False


def common_type(left: SqlType | None, right: SqlType | None) -> SqlType | None:
    """The type both can be brought to; None if there is none, or both are NULL."""
    if left is None or right is None:
        return right if left is None else left
    if widens(left, right):
        return right
    if widens(right, left):
        return left
    if is_number(left) and is_number(right):
        return _common_number(left, right)
    match left, right:
        case Array(element=one), Array(element=other):
            element = common_type(one, other)
            return element and Array(element)
        case Map(key=one_key, value=one), Map(key=other_key, value=other):
            key, value = common_type(one_key, other_key), common_type(one, other)
            return Map(key, value) if key and value else None
        case Struct(), Struct():
            return _common_struct(left, right)
    return None


def _common_number(left: SqlType, right: SqlType) -> SqlType:
    one, other = as_decimal(left), as_decimal(right)
    if one is None or other is None:
        return DOUBLE
    scale = max(one.scale, other.scale)
    whole = max(one.precision - one.scale, other.precision - other.scale)
    return DecimalType(min(DECIMAL_PRECISION_MAX, whole + scale), scale)


def _common_struct(left: Struct, right: Struct) -> Struct | None:
    """With the fields of both."""
    fields = dict(left.fields)
    for name, kind in right.fields:
        common = common_type(fields.get(name), kind)
        if common is None:
            return None
        fields[name] = common
    return Struct(list(fields.items()))


@cache
def conversion(of: SqlType, to: SqlType) -> Convert | None:
    """Of one value that is not null; raises ValueError on one that has no counterpart. None: there is no such cast."""
    if of == to:
        return lambda value: value
    simple = _SIMPLE.get((of.name, to.name))
    if simple is not None:
        return simple(of, to)
    match of, to:
        case Array(element=given), Array(element=wanted):
            return _of_array(conversion(given, wanted))
        case Map(key=given_key, value=given), Map(key=wanted_key, value=wanted):
            return _of_map(conversion(given_key, wanted_key), conversion(given, wanted))
        case Struct(), Struct():
            return _of_struct(of, to)
        case ((Array() | Map() | Struct()), SqlType(name="STRING")):
            return _text_of(of)
    return None


def _text_of(of: SqlType) -> Convert | None:
    """As Java prints collections: `[1, null]`, `{a=1}`, `Struct{A=1}`."""
    match of:
        case Array(element=element):
            inner = _text_or_null(element)
            return inner and _array_text(inner)
        case Map(value=value):
            inner = _text_or_null(value)
            return inner and (lambda entries: f"{{{', '.join(_pairs(entries, inner))}}}")
        case Struct(fields=fields):
            return _struct_text({name: _text_or_null(kind) for name, kind in fields})
    return conversion(of, STRING)


def _text_or_null(of: SqlType) -> Convert | None:
    convert = _text_of(of)
    return convert and (lambda value: "null" if value is None else convert(value))


def _array_text(convert: Convert) -> Convert:
    return lambda values: f"[{', '.join(map(convert, values))}]"


def _pairs(entries: dict[Any, Any], convert: Convert) -> list[str]:
    return [f"{name}={convert(value)}" for name, value in entries.items()]


def _struct_text(converts: dict[str, Convert | None]) -> Convert | None:
    """Without the fields that are null."""
    known = {name: convert for name, convert in converts.items() if convert is not None}
    if len(known) < len(converts):
        return None

    def text(fields: dict[str, Any]) -> str:
        given = [f"{name}={known[name](value)}" for name, value in fields.items() if value is not None]
        return f"Struct{{{','.join(given)}}}"

    return text


def _of_array(convert: Convert | None) -> Convert | None:
    if convert is None:
        return None
    return lambda values: [None if value is None else convert(value) for value in values]


def _of_map(convert_key: Convert | None, convert: Convert | None) -> Convert | None:
    if convert_key is None or convert is None:
        return None

    def of_map(entries: dict[Any, Any]) -> dict[Any, Any]:
        return {convert_key(key): None if value is None else convert(value) for key, value in entries.items()}

    return of_map


def _of_struct(of: Struct, to: Struct) -> Convert | None:
    """Field by field; one that is not there is null."""
    converts: list[tuple[str, Convert]] = []
    for name, wanted in to.fields:
        given = of.field(name)
        if given is None:
            converts.append((name, lambda value: None))
            continue
        convert = conversion(given, wanted)
        if convert is None:
            return None
        converts.append((name, convert))

    def of_struct(fields: dict[str, Any]) -> dict[str, Any]:
        return {
            name: None if fields.get(name) is None else convert(fields[name]) for name, convert in converts
        }

    return of_struct


def boolean_of(text: str) -> bool | None:
    """Any beginning of true or yes, false or no, in any case; None of other text."""
    low = text.lower()
    if not low:
        return None
    if "true".startswith(low) or "yes".startswith(low):
        return True
    return False if "false".startswith(low) or "no".startswith(low) else None


def _whole_of(text: str, low: int, high: int, name: str) -> int:
    try:
        # Python's digits may have underscores between them.
        found = int(text if text.isdecimal() else text.strip().replace("_", "?"))
    except ValueError:
        raise ValueError(f"{text!r} is no {name}") from None
    if not low <= found <= high:
        raise ValueError(f"{text} is too large for {name}")
    return found


def _double_of(text: str) -> float:
    try:
        return float(text.strip().replace("_", "?"))
    except ValueError:
        raise ValueError(f"{text!r} is no DOUBLE") from None


def _decimal_of(value: Any, to: DecimalType) -> Decimal:
    try:
        exact = Decimal(repr(value)) if isinstance(value, float) else EXACT.create_decimal(value)
    except ArithmeticError:
        raise ValueError(f"{value!r} is no {to}") from None
    return fitted(exact, to.precision, to.scale)


def _whole_part(value: Any, bits: int) -> int:
    if isinstance(value, Decimal):
        return wrapped(int(value.to_integral_value(ROUND_DOWN)), bits)
    limit = 1 << (bits - 1)
    if value != value:
        return 0
    return int(max(-limit, min(limit - 1, value)))


def _same(function: Convert) -> Callable[[SqlType, SqlType], Convert]:
    return lambda of, to: function


def _to_decimal(of: SqlType, to: SqlType) -> Convert:
    assert isinstance(to, DecimalType)
    return lambda value: _decimal_of(value, to)


_SIMPLE: Final[dict[tuple[str, str], Callable[[SqlType, SqlType], Convert]]] = {
    (BOOLEAN.name, STRING.name): _same(lambda value: "true" if value else "false"),
    (INTEGER.name, BIGINT.name): _same(lambda value: value),
    (INTEGER.name, DOUBLE.name): _same(float),
    (INTEGER.name, "DECIMAL"): _to_decimal,
    (INTEGER.name, STRING.name): _same(str),
    (BIGINT.name, INTEGER.name): _same(lambda value: wrapped(value, 32)),
    (BIGINT.name, DOUBLE.name): _same(float),
    (BIGINT.name, "DECIMAL"): _to_decimal,
    (BIGINT.name, STRING.name): _same(str),
    (DOUBLE.name, INTEGER.name): _same(lambda value: _whole_part(value, 32)),
    (DOUBLE.name, BIGINT.name): _same(lambda value: _whole_part(value, 64)),
    (DOUBLE.name, "DECIMAL"): _to_decimal,
    (DOUBLE.name, STRING.name): _same(double_text),
    ("DECIMAL", INTEGER.name): _same(lambda value: _whole_part(value, 32)),
    ("DECIMAL", BIGINT.name): _same(lambda value: _whole_part(value, 64)),
    ("DECIMAL", DOUBLE.name): _same(float),
    ("DECIMAL", "DECIMAL"): _to_decimal,
    ("DECIMAL", STRING.name): _same(decimal_text),
    (STRING.name, BOOLEAN.name): _same(lambda text: boolean_of(text) is True),
    (STRING.name, INTEGER.name): _same(lambda text: _whole_of(text, INTEGER_MIN, INTEGER_MAX, "INTEGER")),
    (STRING.name, BIGINT.name): _same(lambda text: _whole_of(text, BIGINT_MIN, BIGINT_MAX, "BIGINT")),
    (STRING.name, DOUBLE.name): _same(_double_of),
    (STRING.name, "DECIMAL"): _to_decimal,
    (STRING.name, DATE.name): _same(times.parse_date),
    (STRING.name, TIME.name): _same(times.parse_time),
    (STRING.name, TIMESTAMP.name): _same(times.parse_timestamp),
    (DATE.name, STRING.name): _same(date_text),
    (TIME.name, STRING.name): _same(time_text),
    (TIMESTAMP.name, STRING.name): _same(timestamp_text),
    (DATE.name, TIMESTAMP.name): _same(lambda days: days * times.DAY_MS),
    (TIMESTAMP.name, DATE.name): _same(lambda ms: ms // times.DAY_MS),
    (TIMESTAMP.name, TIME.name): _same(lambda ms: ms % times.DAY_MS),
}
"""Between types without types inside, by their names."""
