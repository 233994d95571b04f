"""Types of expressions, and the literals that follow their neighbours."""

import pytest

from moldau.pipeline.sql.analysis.scope import Binding, QueryScope, read
from moldau.pipeline.sql.expressions.casts import common_type, conversion
from moldau.pipeline.sql.expressions.typing import typed
from moldau.pipeline.sql.functions.library import builtin
from moldau.pipeline.sql.syntax.errors import SqlError
from moldau.pipeline.sql.syntax.parser import parse_expression, parse_type
from moldau.pipeline.sql.types import SqlType

COLUMNS = {
    "I": "INT",
    "G": "BIGINT",
    "D": "DOUBLE",
    "M": "DECIMAL(6, 2)",
    "T": "STRING",
    "B": "BOOLEAN",
    "TS": "TIMESTAMP",
    "A": "ARRAY<INT>",
    "P": "MAP<STRING, DOUBLE>",
    "Q": "STRUCT<X INT, Y ARRAY<STRING>>",
}
SCOPE = QueryScope(
    [
        Binding("S", name, parse_type(kind), read("value", n))
        for n, (name, kind) in enumerate(COLUMNS.items())
    ],
    builtin(),
)


def type_of(text: str) -> SqlType | None:
    return typed(parse_expression(text), SCOPE).type


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("I + I", "INTEGER"),
        ("I + G", "BIGINT"),
        ("I * D", "DOUBLE"),
        ("M + I", "DECIMAL(13, 2)"),
        ("M * 1.5", "DECIMAL(9, 3)"),
        ("I / 2", "INTEGER"),
        ("T || 'x'", "STRING"),
        ("I = G", "BOOLEAN"),
        ("B AND I IS NULL", "BOOLEAN"),
        ("A[1]", "INTEGER"),
        ("P['k']", "DOUBLE"),
        ("Q->Y", "ARRAY<STRING>"),
        ("Q->Y[1]", "STRING"),
        ("CASE WHEN B THEN I ELSE M END", "DECIMAL(12, 2)"),
        ("ARRAY[I, D]", "ARRAY<DOUBLE>"),
        ("ARRAY['a', 1]", "ARRAY<STRING>"),
        ("ARRAY[1, '2']", "ARRAY<INTEGER>"),
        ("STRUCT(a := I, b := T)", "STRUCT<A INTEGER, B STRING>"),
        ("TRANSFORM(A, x => x + 0.5E0)", "ARRAY<DOUBLE>"),
        ("TS AT TIME ZONE 'Europe/Prague'", "TIMESTAMP"),
        ("CAST(T AS ARRAY<MAP<STRING, INT>>)", None),
    ],
)
def test_types(text: str, kind: str | None) -> None:
    if kind is None:
        with pytest.raises(SqlError):
            type_of(text)
    else:
        assert str(type_of(text)) == kind


@pytest.mark.parametrize(
    ("left", "right", "common"),
    [
        ("INT", "BIGINT", "BIGINT"),
        ("DECIMAL(4, 2)", "DECIMAL(5, 1)", "DECIMAL(6, 2)"),
        ("DECIMAL(4, 2)", "DOUBLE", "DOUBLE"),
        ("ARRAY<INT>", "ARRAY<DOUBLE>", "ARRAY<DOUBLE>"),
        ("STRUCT<A INT>", "STRUCT<B STRING, A BIGINT>", "STRUCT<A BIGINT, B STRING>"),
        ("INT", "STRING", None),
        ("STRUCT<A INT>", "STRUCT<A STRING>", None),
    ],
)
def test_common_types(left: str, right: str, common: str | None) -> None:
    found = common_type(parse_type(left), parse_type(right))
    assert found == (None if common is None else parse_type(common))


def test_containers_as_text() -> None:
    kind = parse_type("STRUCT<A ARRAY<INT>, B MAP<STRING, BOOLEAN>, C STRING>")
    as_text = conversion(kind, parse_type("STRING"))
    assert as_text is not None
    assert as_text({"A": [1, None], "B": {"k": True}, "C": None}) == "Struct{A=[1, null],B={k=true}}"
    assert conversion(parse_type("ARRAY<BYTES>"), parse_type("STRING")) is None
