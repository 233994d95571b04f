"""Types and columns as ksqlDB's schema objects."""

import pytest

from moldau.pipeline.sql.definitions import Format, HeaderColumn, SourceInfo
from moldau.pipeline.sql.server.http.entities.schemas import schema_object, source_fields, type_text
from moldau.pipeline.sql.syntax.tree.statements import Kind
from moldau.pipeline.sql.types import (
    BIGINT,
    BYTES,
    INTEGER,
    STRING,
    Array,
    Column,
    Decimal,
    Map,
    Schema,
    Struct,
)

PLAIN_STRING = {"type": "STRING", "fields": None, "memberSchema": None}


def test_a_simple_type() -> None:
    assert schema_object(BIGINT) == {"type": "BIGINT", "fields": None, "memberSchema": None}


def test_a_decimal_has_parameters() -> None:
    assert schema_object(Decimal(4, 2))["parameters"] == {"precision": 4, "scale": 2}


@pytest.mark.parametrize("kind", [Array(STRING), Map(STRING, STRING)])
def test_collections_have_a_member_schema(kind: Array | Map) -> None:
    assert schema_object(kind) == {"type": kind.name, "fields": None, "memberSchema": PLAIN_STRING}


def test_a_struct_has_fields() -> None:
    found = schema_object(Struct([("CITY", STRING)]))
    assert found == {
        "type": "STRUCT",
        "fields": [{"name": "CITY", "schema": PLAIN_STRING}],
        "memberSchema": None,
    }


def test_columns_say_whether_they_are_of_the_key_or_a_header() -> None:
    columns = (Column("NAME", STRING), Column("TRACE", BYTES), Column("ALL_HEADERS", Array(BYTES)))
    source = SourceInfo(
        "S",
        Kind.STREAM,
        Schema((Column("ID", INTEGER),), columns),
        "s",
        Format("KAFKA"),
        Format("JSON"),
        headers=(HeaderColumn("TRACE", "trace-id"), HeaderColumn("ALL_HEADERS")),
    )
    roles = [(field["name"], field.get("type"), field.get("headerKey")) for field in source_fields(source)]
    assert roles == [
        ("ID", "KEY", None),
        ("NAME", None, None),
        ("TRACE", "HEADER", "trace-id"),
        ("ALL_HEADERS", "HEADER", None),
    ]


def test_every_name_in_a_type_is_quoted() -> None:
    kind = Map(STRING, Array(Struct([("A", INTEGER), ("b`c", Decimal(3, 1))])))
    assert type_text(kind) == "MAP<STRING, ARRAY<STRUCT<`A` INTEGER, `b``c` DECIMAL(3, 1)>>>"
