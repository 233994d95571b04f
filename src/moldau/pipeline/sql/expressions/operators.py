"""What operators between values mean: arithmetic, comparison, text, access to parts of a value."""

from collections import Counter
from functools import cache
from typing import Any, Final

from moldau.pipeline.code.tree import Argument, Constant, Logic, Operation
from moldau.pipeline.sql.expressions import times
from moldau.pipeline.sql.expressions.casts import cast, coerced, common_type, conversion, literal_like
from moldau.pipeline.sql.expressions.like_patterns import like_matcher
from moldau.pipeline.sql.expressions.numbers import arithmetic, arithmetic_type
from moldau.pipeline.sql.expressions.typed import Typed, applied, type_name
from moldau.pipeline.sql.syntax.errors import Position, SqlError, did_you_mean
from moldau.pipeline.sql.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INTEGER,
    STRING,
    TIME,
    TIMESTAMP,
    Array,
    Map,
    SqlType,
    Struct,
    is_number,
)
from moldau.pipeline.sql.types import Decimal as DecimalType

NOT: Final = Operation("NOT", "not {0}", never_null=True)
IS_NULL: Final = Operation("IS NULL", "{0} is None", takes_null=True, never_null=True)
IS_NOT_NULL: Final = Operation("IS NOT NULL", "{0} is not None", takes_null=True, never_null=True)
_DISTINCT: Final = Operation("IS DISTINCT FROM", "{0} != {1}", takes_null=True, never_null=True)
_NOT_DISTINCT: Final = Operation("IS NOT DISTINCT FROM", "{0} == {1}", takes_null=True, never_null=True)
_IN: Final = Operation("IN", "{0} in {1}", never_null=True, on_null="False")
_CONCAT: Final = Operation("||", "{0} + {1}", never_null=True)
_TIMES: Final = (TIMESTAMP, DATE, TIME)


def compute(operator: str, left: Typed, right: Typed, at: Position) -> Typed:
    """`+ - * / %` and `||`."""
    if operator in ("+", "||") and STRING in (left.type, right.type) and not _are_numbers(left, right):
        return _joined(left, right, at, operator)
    if left.type is None or right.type is None:
        kind = left.type or right.type
        if kind is None:
            raise SqlError(
                f"{operator} between two NULLs has no type", at, hint="CAST(NULL AS INTEGER) has one."
            )
        return Typed(kind, Constant(None))
    if not _are_numbers(left, right):
        raise SqlError(f"{operator} needs two numbers, not {left.type} and {right.type}", at)
    result = arithmetic_type(operator, left.type, right.type)
    if result == DOUBLE:
        left, right = as_double(left), as_double(right)
    return applied(result, arithmetic(operator, result), left, right)


def _are_numbers(left: Typed, right: Typed) -> bool:
    return left.type is not None and right.type is not None and is_number(left.type) and is_number(right.type)


def _joined(left: Typed, right: Typed, at: Position, operator: str) -> Typed:
    for side in (left, right):
        if side.type not in (STRING, None):
            hint = f"CAST(... AS STRING) makes text of a {type_name(side.type)}."
            raise SqlError(f"{operator} joins texts, not a {type_name(side.type)}", at, hint=hint)
    return applied(STRING, _CONCAT, left, right)


def as_double(value: Typed) -> Typed:
    if value.type == DOUBLE:
        return value
    if isinstance(value.code, Constant) and value.code.value is not None:
        return Typed(DOUBLE, Constant(float(value.code.value)))
    return applied(DOUBLE, Operation("as a double", function=float, never_null=True), value)


def compare(operator: str, left: Typed, right: Typed, at: Position) -> Typed:
    """True or false: a comparison with null is false, as in ksqlDB, and so its NOT is true."""
    left, right = comparable(left, right, at, operator)
    match operator:
        case "IS DISTINCT FROM":
            return applied(BOOLEAN, _DISTINCT, left, right)
        case "IS NOT DISTINCT FROM":
            return applied(BOOLEAN, _NOT_DISTINCT, left, right)
    return applied(BOOLEAN, _comparison(operator), left, right)


@cache
def _comparison(operator: str) -> Operation:
    symbol = {"=": "=="}.get(operator, operator)
    return Operation(operator, f"{{0}} {symbol} {{1}}", never_null=True, on_null="False")


def comparable(left: Typed, right: Typed, at: Position, operator: str) -> tuple[Typed, Typed]:
    """Both as values that Python compares as SQL does."""
    is_ordering = operator in ("<", "<=", ">", ">=")
    if left.type is None or right.type is None or left.type == right.type:
        _check_order(left.type or right.type, is_ordering, operator, at)
        return left, right
    if _are_numbers(left, right):
        is_mixed = DOUBLE in (left.type, right.type) and any(
            isinstance(side.type, DecimalType) for side in (left, right)
        )
        return (as_double(left), as_double(right)) if is_mixed else (left, right)
    for one, other in ((left, right), (right, left)):
        if one.type in _TIMES and other.type == STRING:
            read = (
                coerced(other, one.type, at, "the text")
                if isinstance(other.code, Constant)
                else cast(other, one.type, at)
            )
            return (left, read) if other is right else (read, right)
    if {left.type, right.type} == {DATE, TIMESTAMP}:
        return cast(left, TIMESTAMP, at), cast(right, TIMESTAMP, at)
    common = common_type(left.type, right.type)
    if common is None:
        raise SqlError(f"{left.type} and {right.type} cannot be compared", at, hint="CAST one of them.")
    _check_order(common, is_ordering, operator, at)
    return cast(left, common, at), cast(right, common, at)


def _check_order(kind: SqlType | None, is_ordering: bool, operator: str, at: Position) -> None:
    if is_ordering and (kind == BOOLEAN or isinstance(kind, Array | Map | Struct)):
        raise SqlError(f"values of {kind} have no order, so {operator} has no meaning for them", at)


def negative(value: Typed, at: Position) -> Typed:
    if value.type is None or not is_number(value.type):
        raise SqlError(f"- needs a number, not {type_name(value.type)}", at)
    if value.type in (INTEGER, BIGINT):
        return compute("-", Typed(value.type, Constant(0)), value, at)
    return applied(value.type, Operation("-", "-{0}", never_null=True), value)


def like(value: Typed, pattern: Typed, escape: str | None, at: Position) -> Typed:
    for side in (value, pattern):
        if side.type not in (STRING, None):
            raise SqlError(f"LIKE compares texts, not {type_name(side.type)}", at)
    if isinstance(pattern.code, Constant) and isinstance(pattern.code.value, str):
        matches = like_matcher(pattern.code.value, escape)
        return applied(BOOLEAN, Operation("LIKE", function=matches, never_null=True), value)
    operation = Operation(
        "LIKE", function=lambda text, wanted: like_matcher(wanted, escape)(text), never_null=True
    )
    return applied(BOOLEAN, operation, value, pattern)


def field_of(value: Typed, name: str, at: Position) -> Typed:
    if not isinstance(value.type, Struct):
        raise SqlError(f"-> reads a field of a STRUCT, not of {type_name(value.type)}", at)
    kind = value.type.field(name)
    if kind is None:
        names = [known for known, _ in value.type.fields]
        hint = did_you_mean(name, names) or f"Its fields are {', '.join(names)}."
        raise SqlError(f"the STRUCT has no field {name}", at, hint=hint)
    return applied(kind, Operation(f"->{name}", function=lambda fields: fields.get(name)), value)


def element_of(value: Typed, index: Typed, at: Position) -> Typed:
    match value.type:
        case Array(element=element):
            if index.type not in (INTEGER, BIGINT):
                raise SqlError(f"the index of an ARRAY is an INTEGER, not {type_name(index.type)}", at)
            return applied(element, Operation("[]", function=_element), value, index)
        case Map(key=key, value=of):
            return applied(of, Operation("[]", function=dict.get), value, coerced(index, key, at, "the key"))
    raise SqlError(f"[ ] reads from an ARRAY or a MAP, not from {type_name(value.type)}", at)


def _element(values: list[Any], index: int) -> Any:
    """Counts from 1, and from the end with negative numbers; beyond either end is null."""
    place = index - 1 if index > 0 else len(values) + index
    return values[place] if index and 0 <= place < len(values) else None


def at_time_zone(value: Typed, zone: Typed, at: Position) -> Typed:
    if value.type != TIMESTAMP or zone.type != STRING:
        given = f"{type_name(value.type)} and {type_name(zone.type)}"
        raise SqlError(f"AT TIME ZONE needs a TIMESTAMP and the name of a zone, not {given}", at)
    return applied(TIMESTAMP, Operation("AT TIME ZONE", function=times.at_zone, never_null=True), value, zone)


def array_of(elements: list[Typed], at: Position) -> Typed:
    if not elements:
        raise SqlError(
            "an ARRAY without elements has no type", at, hint="CAST(NULL AS ARRAY<STRING>) has one."
        )
    kind, elements = unified(elements, at, "the elements of the ARRAY")
    return applied(Array(kind), _of_list(), *elements)


@cache
def _of_list() -> Operation:
    return Operation("ARRAY", function=lambda *values: list(values), takes_null=True, never_null=True)


def map_of(entries: list[tuple[Typed, Typed]], at: Position) -> Typed:
    if not entries:
        raise SqlError(
            "a MAP without entries has no type", at, hint="CAST(NULL AS MAP<STRING, STRING>) has one."
        )
    key_type, keys = unified([key for key, _ in entries], at, "the keys of the MAP")
    kind, values = unified([value for _, value in entries], at, "the values of the MAP")

    def made(*given: Any) -> dict[Any, Any]:
        return dict(zip(given[::2], given[1::2], strict=True))

    flat = [one for pair in zip(keys, values, strict=True) for one in pair]
    return applied(
        Map(key_type, kind), Operation("MAP", function=made, takes_null=True, never_null=True), *flat
    )


def struct_of(fields: list[tuple[str, Typed]], at: Position) -> Typed:
    names = [name for name, _ in fields]
    if not fields:
        raise SqlError("a STRUCT needs a field", at)
    counts = Counter(names)
    twice = next((name for name in names if counts[name] > 1), None)
    if twice:
        raise SqlError(f"the STRUCT has two fields {twice}", at)
    types = []
    for name, value in fields:
        if value.type is None:
            raise SqlError(
                f"field {name} is NULL and so has no type", at, hint="CAST(NULL AS STRING) has one."
            )
        types.append((name, value.type))

    def made(*values: Any) -> dict[str, Any]:
        return dict(zip(names, values, strict=True))

    operation = Operation("STRUCT", function=made, takes_null=True, never_null=True)
    return applied(Struct(types), operation, *[value for _, value in fields])


def unified(values: list[Typed], at: Position, what: str) -> tuple[SqlType, list[Typed]]:
    """All brought to the one type that fits them; literals follow the first value that is not NULL."""
    first = next((value.type for value in values if value.type is not None), None)
    if first is None:
        raise SqlError(f"{what} are all NULL and so have no type", at, hint="CAST(NULL AS STRING) has one.")
    values = [literal_like(value, first, at) for value in values]
    kind = first
    for value in values:
        common = common_type(kind, value.type)
        if common is None:
            message = f"{what} have different types: {kind} and {type_name(value.type)}"
            raise SqlError(message, at, hint="CAST one of them.")
        kind = common
    return kind, [to_type(value, kind) for value in values]


def in_list(value: Typed, choices: list[Typed], at: Position) -> Typed:
    """False of a null, and nulls among the choices are never found. Constants are looked up in a set."""
    choices = [one for one in choices if one.type is not None]
    if not choices:
        return Typed(BOOLEAN, Constant(False))
    kind, (value, *choices) = unified([value, *choices], at, "the value and the choices of IN")
    if isinstance(kind, Array | Map | Struct) or not all(isinstance(one.code, Constant) for one in choices):
        tests = tuple(compare("=", value, one, at).code for one in choices)
        return Typed(BOOLEAN, tests[0] if len(tests) == 1 else Logic(True, tests))
    known = frozenset(one.code.value for one in choices if isinstance(one.code, Constant))
    return applied(BOOLEAN, _IN, value, Typed(kind, Constant(known)))


def to_type(value: Typed, kind: SqlType) -> Typed:
    """A value of a type that `widens` to this one, converted."""
    if value.type is None or value.type == kind:
        return Typed(kind, value.code)
    convert = conversion(value.type, kind)
    if convert is None:
        raise TypeError(f"{value.type} does not become {kind}")
    if isinstance(value.code, Constant) and value.code.value is not None:
        return Typed(kind, Constant(convert(value.code.value)))
    return applied(kind, Operation(f"as {kind}", function=convert, never_null=True), value)


def parameter(kind: SqlType, name: str) -> Typed:
    return Typed(kind, Argument(name))
