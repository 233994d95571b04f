"""The query for the rows that are new since a position, in each mode. Pure."""

# ruff: noqa: S608 statements consist of quoted names; values are parameters

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from moldau.pipeline.connect.connectors.jdbc.dialects.dialect import PARAMETER, Dialect, Sql
from moldau.pipeline.connect.connectors.jdbc.table_names import TableName


@dataclass(frozen=True)
class RowSource:
    """A table, or the query that stands for one."""

    table: TableName | None
    query: str = ""

    def __str__(self) -> str:
        return f"table {self.table}" if self.table is not None else "the query"


@dataclass(frozen=True)
class Watched:
    """The columns that tell what is new. None of them: every query reads all rows (bulk)."""

    moments: Sequence[str] = ()
    number: str | None = None

    @property
    def is_bulk(self) -> bool:
        return not self.moments and self.number is None


@dataclass(frozen=True)
class Bounds:
    """As parameters of the database. `moment_end` is exclusive: rows with it may still be being written."""

    moment: Any = None
    moment_end: Any = None
    number: int | None = None


def rows_query(dialect: Dialect, source: RowSource, watched: Watched, bounds: Bounds, suffix: str) -> Sql:
    if source.table is not None:
        text = f"SELECT * FROM {dialect.table(source.table)}"
    elif watched.is_bulk:
        text = source.query
    else:
        text = f"SELECT * FROM ({source.query}) AS moldau_rows"
    parameters: list[Any] = []
    conditions, order = [], []
    number = dialect.quoted(watched.number) if watched.number is not None else ""
    if watched.moments:
        moment, mark = dialect.moment(watched.moments), dialect.moment_parameter()
        conditions.append(f"{moment} < {mark}")
        parameters.append(bounds.moment_end)
        order.append(moment)
        if bounds.moment is not None and number and bounds.number is not None:
            conditions.append(f"({moment} > {mark} OR ({moment} = {mark} AND {number} > {PARAMETER}))")
            parameters += [bounds.moment, bounds.moment, bounds.number]
        elif bounds.moment is not None:
            # Nothing is known of the rows with the same timestamp as long as no number has been read.
            conditions.append(f"{moment} {'>=' if number else '>'} {mark}")
            parameters.append(bounds.moment)
    elif number and bounds.number is not None:
        conditions.append(f"{number} > {PARAMETER}")
        parameters.append(bounds.number)
    if number:
        order.append(number)
    if conditions:
        text += f" WHERE {' AND '.join(conditions)}"
    if order:
        text += f" ORDER BY {', '.join(order)}"
    return Sql(f"{text} {suffix}" if suffix else text, parameters)
