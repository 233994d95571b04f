"""The values of INSERT and ASSERT: expressions without columns, converted to the types of the columns."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from moldau.pipeline.code.source import compile_value
from moldau.pipeline.code.tree import Constant
from moldau.pipeline.sql.analysis.scope import FunctionLibrary, QueryScope
from moldau.pipeline.sql.definitions import SourceInfo
from moldau.pipeline.sql.expressions.casts import conversion, widens
from moldau.pipeline.sql.expressions.typed import Typed
from moldau.pipeline.sql.expressions.typing import typed
from moldau.pipeline.sql.syntax.errors import Position, SqlError, did_you_mean
from moldau.pipeline.sql.syntax.tree.expressions import Expression
from moldau.pipeline.sql.types import (
    BIGINT,
    BYTES,
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
)
from moldau.pipeline.sql.types import Decimal as DecimalType

_FROM_TEXT: Final = (TIMESTAMP, DATE, TIME, BYTES)
_NUMBERS: Final = (INTEGER, BIGINT, DecimalType, DOUBLE)


def row_of(
    source: SourceInfo,
    columns: Sequence[str],
    values: Sequence[Expression],
    pseudo: Mapping[str, SqlType],
    functions: FunctionLibrary,
    types: Mapping[str, SqlType],
    at: Position,
) -> dict[str, Any]:
    """The values by column, those of pseudo columns among them. Without names the values are those of all columns in
    their order."""
    kinds = {column.name: column.type for column in source.schema} | dict(pseudo)
    names = list(columns) or [column.name for column in (*source.schema.key, *source.stored_columns)]
    if len(names) != len(values):
        raise SqlError(f"{source.name} has {len(names)} columns and {len(values)} values are given", at)
    scope = QueryScope((), functions, types, unknown=_no_columns)
    found: dict[str, Any] = {}
    for name, expression in zip(names, values, strict=True):
        kind = kinds.get(name)
        if kind is None:
            hint = did_you_mean(name, kinds) or f"Its columns are {', '.join(source.schema.names)}."
            raise SqlError(f"{source.name} has no column {name}", at, hint=hint)
        if name in found:
            raise SqlError(f"column {name} is given twice", at)
        found[name] = _value(typed(expression, scope), kind, name, expression.at)
    return found


def _no_columns(name: Any) -> SqlError:
    return SqlError(f"{name.name} is a name where a value should stand", name.at, hint="Text is 'quoted'.")


def _value(given: Typed, kind: SqlType, name: str, at: Position) -> Any:
    value = given.code.value if isinstance(given.code, Constant) else compile_value(given.code, ())()
    if given.type is None or value is None:
        return None
    if not _fits(given.type, kind):
        raise SqlError(f"column {name} is {kind} and cannot take a {given.type}", at)
    convert = conversion(given.type, kind)
    try:
        if kind == BYTES and given.type == STRING:
            return _base64(value)
        converted = value if convert is None else convert(value)
    except ValueError as wrong:
        raise SqlError(f"column {name}: {wrong}", at) from None
    if isinstance(converted, Decimal) and isinstance(value, Decimal | int) and converted != value:
        raise SqlError(f"column {name}: {value} does not fit {kind}", at)
    return converted


def _base64(text: str) -> bytes:
    import base64

    return base64.b64decode(text, validate=True)


def _fits(given: SqlType, kind: SqlType) -> bool:
    """INSERT takes any value of a smaller kind of number, and text for times."""
    if given == kind or widens(given, kind) or (given == STRING and kind in _FROM_TEXT):
        return True
    match given, kind:
        case Array(element=one), Array(element=other):
            return _fits(one, other)
        case Map(key=key, value=one), Map(key=other_key, value=other):
            return _fits(key, other_key) and _fits(one, other)
        case Struct(fields=fields), Struct():
            return all((of := kind.field(name)) is not None and _fits(one, of) for name, one in fields)
    ranks = [_rank(given), _rank(kind)]
    return None not in ranks and ranks[0] <= ranks[1]  # type: ignore[operator]


def _rank(kind: SqlType) -> int | None:
    if isinstance(kind, DecimalType):
        return 2
    return _NUMBERS.index(kind) if kind in _NUMBERS else None
