import json

import pytest

from moldau.pipeline.sql.engine import Catalog, SubjectNeed, TopicFacts
from moldau.pipeline.sql.engine.program import program_of
from moldau.pipeline.sql.formats.infer import SubjectSchema
from moldau.pipeline.sql.functions.library import builtin
from moldau.pipeline.sql.types import BIGINT, INTEGER, STRING, Column
from sql_kit import StatementDesk

ORDER = json.dumps(
    {
        "type": "record",
        "name": "Order",
        "fields": [{"name": "id", "type": "long"}, {"name": "item", "type": ["null", "string"]}],
    }
)
REGISTRY = {"SCHEMA_REGISTRY_URL": "http://registry:8081"}


@pytest.fixture
def desk() -> StatementDesk:
    return StatementDesk(
        topics={"orders": TopicFacts(2)},
        schemas={
            SubjectNeed("orders-value"): SubjectSchema(ORDER, "AVRO", id=7, subject="orders-value"),
            SubjectNeed("orders-value", 3): SubjectSchema(ORDER, "AVRO", id=3),
            SubjectNeed("orders-key"): SubjectSchema('"int"', "AVRO", id=8, subject="orders-key"),
        },
        catalog=Catalog(builtin(), REGISTRY),
    )


def test_columns_come_from_the_schema(desk: StatementDesk) -> None:
    [decision] = desk.run("CREATE STREAM orders WITH (KAFKA_TOPIC='orders', FORMAT='AVRO');")
    source = desk.catalog.sources["ORDERS"]
    assert source.schema.key == (Column("ROWKEY", INTEGER),)
    assert source.schema.value == (Column("ID", BIGINT), Column("ITEM", STRING))
    assert not source.key_format.is_wrapped
    assert decision.schemas_to_register == ()
    assert decision.command is not None and "ID BIGINT, ITEM STRING" in decision.command.statement
    assert desk.replayed() == desk.catalog


def test_a_part_of_the_columns_may_be_declared(desk: StatementDesk) -> None:
    desk.run("CREATE TABLE orders (k STRING PRIMARY KEY) WITH (KAFKA_TOPIC='orders', VALUE_FORMAT='AVRO');")
    assert desk.catalog.sources["ORDERS"].schema.names == ["K", "ID", "ITEM"]
    said = desk.refused("CREATE STREAM other WITH (KAFKA_TOPIC='other', PARTITIONS=1, VALUE_FORMAT='AVRO');")
    assert "no schema for other-value" in said


def test_a_schema_by_its_id(desk: StatementDesk) -> None:
    desk.run(
        "CREATE STREAM orders (k INT KEY) WITH (KAFKA_TOPIC='orders', VALUE_FORMAT='AVRO', VALUE_SCHEMA_ID=3);"
    )
    source = desk.catalog.sources["ORDERS"]
    assert ("SCHEMA_ID", "3") in source.value_format.properties
    assert source.schema.names == ["K", "id", "item"]
    assert desk.replayed() == desk.catalog
    assert "those of a schema by its id" in desk.refused("ALTER STREAM orders ADD COLUMN x INT;")
    both = "CREATE STREAM o (id BIGINT) WITH (KAFKA_TOPIC='orders', VALUE_FORMAT='AVRO', VALUE_SCHEMA_ID=3);"
    assert "the statement declares some" in desk.refused(both)


def test_a_query_that_writes_with_a_schema_by_its_id(desk: StatementDesk) -> None:
    desk.run("CREATE STREAM orders (k INT KEY) WITH (KAFKA_TOPIC='orders', VALUE_FORMAT='AVRO');")
    schema = desk.schemas[SubjectNeed("orders-value", 3)]
    desk.schemas[SubjectNeed("BIG-value", 3)] = schema
    query = "CREATE STREAM big WITH (VALUE_SCHEMA_ID={}) AS SELECT k, id AS `id`, {} AS `item` FROM orders;"
    assert "lacks columns of the query, or has others: `item` BIGINT" in desk.refused(query.format(3, "id"))
    assert "no schema with the id 4" in desk.refused(query.format(4, "item"))
    [decision] = desk.run(query.format(3, "item"))
    assert [(new.subject, new.schema) for new in decision.schemas_to_register] == [("BIG-value", schema)]


def test_schemas_of_new_topics_are_registered(desk: StatementDesk) -> None:
    [decision] = desk.run("CREATE STREAM s (k INT KEY, v STRING) WITH (PARTITIONS=1, VALUE_FORMAT='AVRO');")
    [new] = decision.schemas_to_register
    assert (new.subject, new.schema.type) == ("S-value", "AVRO")
    desk.run("CREATE STREAM orders WITH (KAFKA_TOPIC='orders', FORMAT='AVRO');")
    [decision] = desk.run("CREATE STREAM big AS SELECT rowkey, id FROM orders WHERE id > 5;")
    assert [one.subject for one in decision.schemas_to_register] == ["BIG-key", "BIG-value"]
    [decision] = desk.run("ALTER STREAM s ADD COLUMN w INT;")
    assert [one.subject for one in decision.schemas_to_register] == ["S-value"]


def test_where_the_registry_is_does_not_get_into_the_log(desk: StatementDesk) -> None:
    desk.run(
        "CREATE STREAM orders WITH (KAFKA_TOPIC='orders', FORMAT='AVRO');"
        "CREATE STREAM big AS SELECT rowkey, id FROM orders WHERE id > 5;"
    )
    assert ("SCHEMA_REGISTRY_URL", REGISTRY["SCHEMA_REGISTRY_URL"]) in desk.catalog.sources[
        "BIG"
    ].value_format.properties
    assert b"registry:8081" not in b"".join(value for _, value in desk.log)
    text = program_of("CSAS_BIG_1", desk.catalog).to_json()
    assert text.count("registry:8081") == 1


def test_wrapping_of_single_columns(desk: StatementDesk) -> None:
    desk.run(
        "CREATE STREAM a (v INT) WITH (PARTITIONS=1, VALUE_FORMAT='JSON', WRAP_SINGLE_VALUE=false);"
        "CREATE STREAM b (v INT) WITH (PARTITIONS=1, VALUE_FORMAT='JSON');"
    )
    wrapped = [desk.catalog.sources[name].value_format.is_wrapped for name in "AB"]
    assert wrapped == [False, True]
    single = "CREATE STREAM c (v INT) WITH (PARTITIONS=1, VALUE_FORMAT='{}', WRAP_SINGLE_VALUE={});"
    assert "does not support WRAP_SINGLE_VALUE=false" in desk.refused(single.format("PROTOBUF", "false"))
    assert "does not support WRAP_SINGLE_VALUE=true" in desk.refused(single.format("KAFKA", "true"))
    assert "no column can be added" in desk.refused("ALTER STREAM a ADD COLUMN w INT;")
    assert "is for keys only" in desk.refused(single.replace(", WRAP_SINGLE_VALUE={}", "").format("NONE"))
