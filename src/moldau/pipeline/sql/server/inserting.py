"""Rows in JSON, as /inserts-stream takes them, as records of a stream or table. Pure."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from moldau.pipeline.sql.definitions import SourceInfo
from moldau.pipeline.sql.engine import Catalog, InsertRow
from moldau.pipeline.sql.engine.insert_values import check_target, insert_row
from moldau.pipeline.sql.expressions.times import parse_date, parse_time, parse_timestamp
from moldau.pipeline.sql.formats.json_values import converter
from moldau.pipeline.sql.syntax.errors import NOWHERE, SqlError, did_you_mean
from moldau.pipeline.sql.types import BIGINT, DATE, TIME, TIMESTAMP, SqlType

ROWTIME: Final = "ROWTIME"
TIME_TEXTS: Final[Mapping[SqlType, Callable[[str], int]]] = {
    DATE: parse_date,
    TIME: parse_time,
    TIMESTAMP: parse_timestamp,
}
"""Queries answer times as text, so a row may hold them as text."""


def target_of(catalog: Catalog, name: str) -> SourceInfo:
    """A name in back-quotes is taken as it is written, another one in upper case. SqlError where there is none."""
    is_quoted = len(name) > 1 and name[0] == name[-1] == "`"
    wanted = name[1:-1] if is_quoted else name.upper()
    found = catalog.sources.get(wanted)
    if found is None:
        raise SqlError(f"there is no stream or table {wanted}", hint=did_you_mean(wanted, catalog.sources))
    return found


def record_of(
    source: SourceInfo, row: Mapping[str, object], now_ms: int, settings: Mapping[str, str]
) -> InsertRow:
    """Columns by name, in any case. `settings` are the server's. SqlError where the row does not fit the columns."""
    kinds: dict[str, SqlType] = {column.name: column.type for column in source.schema}
    kinds[ROWTIME] = BIGINT
    values: dict[str, Any] = {}
    for written, value in row.items():
        name = _column(written, kinds)
        if name is None:
            hint = did_you_mean(written, kinds) or f"Its columns are {', '.join(source.schema.names)}."
            raise SqlError(f"{source.name} has no column {written}", hint=hint)
        values[name] = None if value is None else _converted(name, value, kinds[name])
    check_target(source, tuple(values), settings, NOWHERE)
    return insert_row(source, values, now_ms, NOWHERE)


def _column(written: str, kinds: Mapping[str, SqlType]) -> str | None:
    if len(written) > 1 and written[0] == written[-1] == "`":
        written = written[1:-1]
        return written if written in kinds else None
    if written in kinds:
        return written
    return written.upper() if written.upper() in kinds else None


def _converted(name: str, value: object, kind: SqlType) -> Any:
    read_text = TIME_TEXTS.get(kind)
    try:
        return read_text(value) if read_text and isinstance(value, str) else converter(kind)(value)
    except (ValueError, TypeError, ArithmeticError) as wrong:
        raise SqlError(f"column {name}: {wrong}") from None
