import json
from typing import Any

import pytest

from moldau.pipeline.sql.definitions import Format
from moldau.pipeline.sql.formats.infer import SubjectSchema, generated_schema, inferred_columns
from moldau.pipeline.sql.syntax.errors import SqlError
from moldau.pipeline.sql.types import BIGINT, INTEGER, STRING, Array, Column, Map, Struct
from moldau.pipeline.sql.types import Decimal as DecimalType

COLUMNS = (
    Column("ID", BIGINT),
    Column("PRICE", DecimalType(10, 2)),
    Column("TAGS", Map(STRING, INTEGER)),
    Column("MAKER", Struct([("CITY", STRING)])),
)


def avro(*fields: dict[str, Any]) -> SubjectSchema:
    return SubjectSchema(
        json.dumps({"type": "record", "name": "Item", "fields": fields}), "AVRO", subject="t-value"
    )


def inferred(name: str, schema: SubjectSchema, *, is_key: bool = False, **said: str) -> str:
    found = inferred_columns(Format(name, tuple(said.items())), schema, is_key=is_key)
    return ", ".join(map(str, found))


def test_the_avro_schema_of_columns() -> None:
    schema = generated_schema(Format("AVRO"), COLUMNS, is_key=False)
    assert schema is not None and schema.type == "AVRO"
    made = json.loads(schema.text)
    assert (made["namespace"], made["name"]) == ("io.confluent.ksql.avro_schemas", "KsqlDataSourceSchema")
    assert made["fields"][0] == {"name": "ID", "type": ["null", "long"], "default": None}
    price = made["fields"][1]["type"][1]
    assert (price["logicalType"], price["precision"], price["scale"]) == ("decimal", 10, 2)
    tags = made["fields"][2]["type"][1]
    assert tags["connect.internal.type"] == "MapEntry"
    assert tags["items"]["name"] == "KsqlDataSourceSchema_TAGS"
    assert made["fields"][3]["type"][1]["name"] == "KsqlDataSourceSchema_MAKER"


def test_the_full_name_of_a_schema() -> None:
    form = Format("AVRO", (("SCHEMA_FULL_NAME", "shop.Item"),))
    schema = generated_schema(form, COLUMNS, is_key=False)
    assert schema is not None
    assert json.loads(schema.text)["fields"][3]["type"][1]["connect.name"] == "shop.Item_MAKER"
    with pytest.raises(SqlError, match="cannot be the full name"):
        generated_schema(Format("AVRO", (("SCHEMA_FULL_NAME", "shop.1"),)), COLUMNS, is_key=False)


def test_a_key_by_itself_is_no_record() -> None:
    column = (Column("ID", BIGINT),)
    for name, text in (("AVRO", '"long"'), ("JSON_SR", '{"type":"integer","connect.type":"int64"}')):
        schema = generated_schema(Format(name, is_wrapped=False), column, is_key=True)
        assert schema is not None and schema.text == text
        assert inferred(name, schema, is_key=True) == "ROWKEY BIGINT"
    assert generated_schema(Format("AVRO"), (), is_key=True) is None


@pytest.mark.parametrize("name", ["JSON", "KAFKA", "DELIMITED", "NONE", "PROTOBUF_NOSR"])
def test_formats_without_schemas(name: str) -> None:
    assert generated_schema(Format(name), COLUMNS, is_key=False) is None
    with pytest.raises(SqlError, match=f"cannot be inferred in the format {name}"):
        inferred_columns(Format(name), avro(), is_key=False)


def test_names_of_avro_become_upper_case_unless_the_schema_is_named() -> None:
    schema = avro(
        {"name": "id", "type": "long"}, {"name": "tags", "type": {"type": "array", "items": "string"}}
    )
    assert inferred("AVRO", schema) == "ID BIGINT, TAGS ARRAY<STRING>"
    assert inferred("AVRO", schema, SCHEMA_ID="1") == "`id` BIGINT, `tags` ARRAY<STRING>"
    assert inferred("AVRO", schema, is_key=True) == "ROWKEY STRUCT<ID BIGINT, TAGS ARRAY<STRING>>"


def test_fields_without_a_type_in_sql_are_left_out() -> None:
    tree = {"type": "record", "name": "Tree", "fields": [{"name": "next", "type": ["null", "Tree"]}]}
    schema = avro(
        {"name": "id", "type": "int"}, {"name": "odd", "type": ["int", "string"]}, {"name": "t", "type": tree}
    )
    assert inferred("AVRO", schema) == "ID INTEGER"
    with pytest.raises(SqlError, match="t-value has no columns of types that SQL has"):
        inferred("AVRO", avro({"name": "t", "type": tree}))


def test_json_schema() -> None:
    place = {"type": "object", "properties": {"city": {"type": "string"}}}
    properties = {
        "b": {"type": "integer", "connect.type": "int32", "connect.index": 1},
        "a": {"type": ["null", "number"], "connect.index": 0},
        "place": {"$ref": "#/definitions/place", "connect.index": 2},
        "kind": {"enum": ["X", "Y"], "connect.index": 3},
        "stock": {"type": "object", "additionalProperties": {"type": "integer"}, "connect.index": 4},
        "self": {"type": "array", "items": {"$ref": "#"}, "connect.index": 5},
        "odd": {"oneOf": [{"type": "string"}, {"type": "integer"}], "connect.index": 6},
    }
    text = json.dumps({"type": "object", "properties": properties, "definitions": {"place": place}})
    expected = "A DOUBLE, B INTEGER, PLACE STRUCT<CITY STRING>, KIND STRING, STOCK MAP<STRING, BIGINT>"
    assert inferred("JSON_SR", SubjectSchema(text, "JSON")) == expected


def test_what_is_no_schema_of_the_format() -> None:
    with pytest.raises(SqlError, match="of the type AVRO, and the format is PROTOBUF"):
        inferred("PROTOBUF", avro())
    for name, kind in (("AVRO", "AVRO"), ("JSON_SR", "JSON"), ("PROTOBUF", "PROTOBUF")):
        with pytest.raises(SqlError, match="cannot be read"):
            inferred(name, SubjectSchema("{", kind))


@pytest.mark.parametrize("name", ["AVRO", "PROTOBUF"])
def test_names_that_a_format_does_not_have(name: str) -> None:
    with pytest.raises(SqlError, match="'a b' cannot be"):
        generated_schema(Format(name), (Column("a b", STRING),), is_key=False)


def test_what_protobuf_cannot_hold() -> None:
    with pytest.raises(SqlError, match="does not hold the ARRAY<ARRAY<STRING>> of A"):
        generated_schema(Format("PROTOBUF"), (Column("A", Array(Array(STRING))),), is_key=False)
