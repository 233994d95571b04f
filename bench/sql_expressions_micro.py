"""What one row costs: 30 expressions over 20 columns, compiled once, in SQL and as column expressions of Streams.

Run it as `python bench/sql_expressions_micro.py`. It prints microseconds per row, the best of several rounds.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from moldau.pipeline.plan.expressions import Expression, call, col, struct
from moldau.pipeline.sql.analysis.query import analyse
from moldau.pipeline.sql.definitions import Format, SourceInfo
from moldau.pipeline.sql.functions.library import builtin
from moldau.pipeline.sql.syntax.parser import parse
from moldau.pipeline.sql.syntax.tree.statements import Kind, QueryStatement
from moldau.pipeline.sql.translation.row import Row
from moldau.pipeline.sql.types import BIGINT, DOUBLE, INTEGER, STRING, Column, Schema

ROUNDS: Final = 7
ROWS: Final = 20_000
COLUMNS: Final = tuple(
    Column(f"{name}{number}", kind)
    for name, kind in (("I", INTEGER), ("G", BIGINT), ("D", DOUBLE), ("T", STRING))
    for number in range(1, 6)
)
EXPRESSIONS: Final = (
    *(f"i{n} + i{n % 5 + 1} * 2" for n in range(1, 6)),
    *(f"g{n} - i{n}" for n in range(1, 6)),
    *(f"d{n} * 1.5E0 + d{n % 5 + 1}" for n in range(1, 6)),
    *(f"t{n} || '-' || t{n % 5 + 1}" for n in range(1, 6)),
    *(f"i{n} > 2 AND d{n} < 100E0" for n in range(1, 6)),
    *(f"CASE WHEN i{n} % 2 = 0 THEN t{n} ELSE 'odd' END" for n in range(1, 6)),
)
ROW: Final = (1, 2, 3, 4, 5, 10**10, 7, 8, 9, 10, 0.5, 1.5, 2.5, 3.5, 4.5, "a", "bb", "ccc", "dd", "e")


def sql_row(expressions: Sequence[str]) -> Callable[[Any, Any, int], Any]:
    schema = Schema((Column("ID", INTEGER),), COLUMNS)
    source = SourceInfo("S", Kind.STREAM, schema, "s", Format("KAFKA"), Format("JSON"))
    text = ", ".join(f"{expression} AS c{number}" for number, expression in enumerate(expressions))
    statement = parse(f"SELECT id, {text} FROM s EMIT CHANGES;")[0].statement
    assert isinstance(statement, QueryStatement)
    plan = analyse(statement.query, {"S": source}, builtin(), is_persistent=True)
    codes = tuple(one.code for one in plan.value if one.code is not None)
    return Row(codes, tuple(one.column.name for one in plan.value)).evaluator()


def streams_row() -> Callable[[Any, Any, int], Any]:
    fields: dict[str, Expression] = {}
    for n in range(1, 6):
        after = n % 5 + 1
        fields[f"a{n}"] = col(f"I{n}") + col(f"I{after}") * 2
        fields[f"b{n}"] = col(f"G{n}") - col(f"I{n}")
        fields[f"c{n}"] = col(f"D{n}") * 1.5 + col(f"D{after}")
        fields[f"d{n}"] = call("concat", col(f"T{n}"), "-", col(f"T{after}"))
        fields[f"e{n}"] = (col(f"I{n}") > 2) & (col(f"D{n}") < 100.0)
        fields[f"f{n}"] = col(f"I{n}") % 2 == 0
    return struct(fields).evaluator()


def microseconds(evaluate: Callable[[Any, Any, int], Any], value: Any) -> float:
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(ROWS):
            evaluate((1,), value, 0)
        best = min(best, time.perf_counter() - start)
    return best / ROWS * 1e6


def main() -> None:
    fields = {column.name: value for column, value in zip(COLUMNS, ROW, strict=True)}
    print(
        f"SQL, 30 expressions over 20 columns:      {microseconds(sql_row(EXPRESSIONS), ROW):6.2f} µs a row"
    )
    print(
        f"SQL, 1 expression:                        {microseconds(sql_row(EXPRESSIONS[:1]), ROW):6.2f} µs a row"
    )
    print(f"Streams, struct of 30 column expressions: {microseconds(streams_row(), fields):6.2f} µs a row")


if __name__ == "__main__":
    main()
