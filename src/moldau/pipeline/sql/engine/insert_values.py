"""INSERT INTO ... VALUES: expressions without columns as a record of a stream or table."""

import base64
import binascii
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from moldau.pipeline.code.source import FAILURES, compile_value
from moldau.pipeline.code.tree import Constant
from moldau.pipeline.sql.analysis.scope import (
    PSEUDO_COLUMNS,
    ROWTIME,
    SYSTEM_COLUMNS,
    FunctionLibrary,
    QueryScope,
)
from moldau.pipeline.sql.definitions import SourceInfo
from moldau.pipeline.sql.engine.answers import CurrentStatus
from moldau.pipeline.sql.engine.catalog import Catalog
from moldau.pipeline.sql.engine.decision import Decision, InsertRow
from moldau.pipeline.sql.engine.facts import Facts
from moldau.pipeline.sql.engine.protected_topics import check_writable
from moldau.pipeline.sql.engine.rules.logged import existing
from moldau.pipeline.sql.engine.session import Session
from moldau.pipeline.sql.expressions.casts import conversion, widens
from moldau.pipeline.sql.expressions.typed import Typed
from moldau.pipeline.sql.expressions.typing import typed
from moldau.pipeline.sql.syntax.errors import Position, SqlError, did_you_mean
from moldau.pipeline.sql.syntax.tree.expressions import ColumnName, Expression
from moldau.pipeline.sql.syntax.tree.statements import InsertValues
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

ENABLED: Final = "ksql.insert.into.values.enabled"
_ROWTIME_ONLY: Final = {ROWTIME: PSEUDO_COLUMNS[ROWTIME]}
_FROM_TEXT: Final = (TIMESTAMP, DATE, TIME, BYTES)
_RANKS: Final = (INTEGER, BIGINT, DecimalType, DOUBLE)


def decide_insert_values(
    statement: InsertValues, catalog: Catalog, session: Session, facts: Facts, library: FunctionLibrary
) -> Decision:
    source = existing(statement.target, statement.at, catalog.definitions)
    if facts.settings.get(ENABLED, "true").lower() == "false":
        raise SqlError(
            "this server accepts no INSERT ... VALUES", statement.at, hint=f"Its setting {ENABLED} is false."
        )
    check_target(source, statement.columns, facts.settings, statement.at)
    row = row_of(
        source, statement.columns, statement.values, _ROWTIME_ONLY, library, catalog.types, statement.at
    )
    insert = insert_row(source, row, facts.now_ms, statement.at)
    return Decision(CurrentStatus(f"Inserted a row into {source.name}."), insert=insert)


def check_target(
    source: SourceInfo, columns: Sequence[str], settings: Mapping[str, str], at: Position
) -> None:
    """SqlError where nothing can be inserted into the source, or not into one of the columns. `settings` are the
    server's."""
    kind = source.kind.value.lower()
    if source.is_read_only:
        raise SqlError(
            f"the {kind} {source.name} is read-only: it was created with CREATE SOURCE {source.kind}",
            at,
            hint=f"Create another {kind} over topic {source.topic} without SOURCE, and insert into that.",
        )
    if source.window is not None:
        raise SqlError(
            f"the {kind} {source.name} is windowed; rows of windows come from queries only",
            at,
            hint="Insert into what the query reads.",
        )
    check_writable(source.topic, settings, at)
    from_headers = {one.column for one in source.headers}
    for name in columns:
        if name in from_headers:
            raise SqlError(f"column {name} is filled from headers and cannot be inserted", at)
        if name in SYSTEM_COLUMNS and name != ROWTIME:
            raise SqlError(f"the pseudo column {name} cannot be inserted; only {ROWTIME} can", at)


def insert_row(source: SourceInfo, row: Mapping[str, Any], now_ms: int, at: Position) -> InsertRow:
    """The record of a row by column. SqlError for a table's row without its key."""
    key = tuple(row.get(column.name) for column in source.schema.key)
    missing = [column.name for column in source.schema.key if row.get(column.name) is None]
    if source.is_table and missing:
        raise SqlError(
            f"a row of the table {source.name} needs its key: no value for {', '.join(missing)}",
            at,
            hint=f"Name the key's column and give it a value: ({', '.join(source.schema.names)}).",
        )
    timestamp_ms = row.get(ROWTIME)
    if timestamp_ms is not None and timestamp_ms < 0:
        raise SqlError(f"{ROWTIME} is {timestamp_ms}; a record's time must not be negative", at)
    return InsertRow(
        source,
        key if len(missing) < len(key) else None,
        tuple(row.get(column.name) for column in source.stored_columns),
        now_ms if timestamp_ms is None else timestamp_ms,
    )


def row_of(
    source: SourceInfo,
    columns: Sequence[str],
    values: Sequence[Expression],
    pseudo: Mapping[str, SqlType],
    functions: FunctionLibrary,
    types: Mapping[str, SqlType],
    at: Position,
) -> dict[str, Any]:
    """The values by column, those of pseudo columns among them. Without names the values are those of all stored
    columns in their order, the key first."""
    kinds = {column.name: column.type for column in source.schema} | dict(pseudo)
    own = [column.name for column in (*source.schema.key, *source.stored_columns)]
    names = list(columns) or own
    if len(names) != len(values):
        raise SqlError(
            f"{source.name} has {len(names)} columns and {len(values)} values are given",
            at,
            hint=f"The columns are {', '.join(names)}. Name those that you give: INSERT INTO {source.name} (...)",
        )
    scope = QueryScope((), functions, types, unknown=_no_columns)
    found: dict[str, Any] = {}
    for name, expression in zip(names, values, strict=True):
        kind = kinds.get(name)
        if kind is None:
            hint = did_you_mean(name, kinds) or f"Its columns are {', '.join(own)}."
            raise SqlError(f"{source.name} has no column {name}", at, hint=hint)
        if name in found:
            raise SqlError(f"column {name} is given twice", at)
        found[name] = _value(typed(expression, scope), kind, name, expression.at)
    return found


def _no_columns(name: ColumnName) -> SqlError:
    return SqlError(
        f"{name.name} is a name where a value should stand", name.at, hint="Text stands in single quotes."
    )


def _value(given: Typed, kind: SqlType, name: str, at: Position) -> Any:
    try:
        value = given.code.value if isinstance(given.code, Constant) else compile_value(given.code, ())()
    except FAILURES as wrong:
        raise SqlError(f"column {name}: the value cannot be computed: {wrong}", at) from None
    if given.type is None or value is None:
        return None
    if not _fits(given.type, kind):
        raise SqlError(
            f"column {name} is {kind} and cannot take a {given.type}", at, hint=f"CAST(... AS {kind})"
        )
    try:
        converted = _converted(value, given.type, kind)
    except ValueError as wrong:
        raise SqlError(f"column {name}: {wrong}", at) from None
    if isinstance(converted, Decimal) and isinstance(value, Decimal | int) and converted != value:
        raise SqlError(f"column {name}: {value} does not fit {kind}", at)
    return converted


def _converted(value: Any, given: SqlType, kind: SqlType) -> Any:
    """Text as BYTES is base64, inside of collections too."""
    match given, kind:
        case _ if value is None:
            return None
        case _ if given == STRING and kind == BYTES:
            return _from_base64(value)
        case Array(element=one), Array(element=other):
            return [_converted(item, one, other) for item in value]
        case Map(key=key, value=one), Map(key=other_key, value=other):
            return {
                _converted(name, key, other_key): _converted(item, one, other) for name, item in value.items()
            }
        case Struct(fields=fields), Struct():
            known = dict(fields)
            return {
                name: _converted(value[name], known[name], of) if name in known else None
                for name, of in kind.fields
            }
    convert = conversion(given, kind)
    return value if convert is None else convert(value)


def _from_base64(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        raise ValueError(f"{text!r} is not base64, as which BYTES are written") from None


def _fits(given: SqlType, kind: SqlType) -> bool:
    """INSERT takes any value of a smaller kind of number, and text for times and bytes."""
    if given == kind or widens(given, kind) or (given == STRING and kind in _FROM_TEXT):
        return True
    match given, kind:
        case Array(element=one), Array(element=other):
            return _fits(one, other)
        case Map(key=key, value=one), Map(key=other_key, value=other):
            return _fits(key, other_key) and _fits(one, other)
        case Struct(fields=fields), Struct():
            return all((of := kind.field(name)) is not None and _fits(one, of) for name, one in fields)
    ranks = (_rank(given), _rank(kind))
    return ranks[0] is not None and ranks[1] is not None and ranks[0] <= ranks[1]


def _rank(kind: SqlType) -> int | None:
    if isinstance(kind, DecimalType):
        return _RANKS.index(DecimalType)
    return _RANKS.index(kind) if kind in _RANKS else None
