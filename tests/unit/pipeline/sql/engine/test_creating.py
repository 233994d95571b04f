import pytest

from moldau.pipeline.sql.engine import TopicFacts
from moldau.pipeline.sql.engine.answers import CurrentStatus, Warned
from moldau.pipeline.sql.types import BIGINT, INTEGER, STRING, Column, Struct
from sql_kit import StatementDesk

PAGEVIEWS = (
    "CREATE STREAM pageviews (user_id STRING KEY, page STRING, at BIGINT) "
    "WITH (KAFKA_TOPIC='views', VALUE_FORMAT='JSON', PARTITIONS=3);"
)


def test_create_over_a_topic() -> None:
    desk = StatementDesk(topics={"views": TopicFacts(4)})
    [decision] = desk.run(PAGEVIEWS.replace(", PARTITIONS=3", ""))
    assert decision.topics_to_create == ()
    assert decision.command is not None and decision.command.id == "stream/PAGEVIEWS/create"
    source = desk.catalog.sources["PAGEVIEWS"]
    assert source.topic == "views"
    assert source.schema.key == (Column("USER_ID", STRING),)
    assert source.schema.value == (Column("PAGE", STRING), Column("AT", BIGINT))
    assert (source.key_format.name, source.value_format.name) == ("KAFKA", "JSON")
    assert isinstance(decision.answer, CurrentStatus) and decision.answer.message == "Stream created"


def test_create_makes_the_topic_if_partitions_are_given() -> None:
    [decision] = StatementDesk().run(PAGEVIEWS)
    [topic] = decision.topics_to_create
    assert (topic.name, topic.partitions, topic.configs) == ("views", 3, {"cleanup.policy": "delete"})


@pytest.mark.parametrize(
    ("kind", "key", "more", "configs"),
    [
        ("TABLE", "PRIMARY KEY", "", {"cleanup.policy": "compact"}),
        ("STREAM", "KEY", ", RETENTION_MS=1000", {"cleanup.policy": "delete", "retention.ms": "1000"}),
        ("STREAM", "KEY", ", CLEANUP_POLICY='compact'", {"cleanup.policy": "compact"}),
        (
            "TABLE",
            "PRIMARY KEY",
            ", WINDOW_TYPE='SESSION', RETENTION_MS=5000",
            {"cleanup.policy": "compact,delete", "retention.ms": "5000"},
        ),
    ],
)
def test_a_new_topic_has_settings_of_its_kind(
    kind: str, key: str, more: str, configs: dict[str, str]
) -> None:
    [decision] = StatementDesk().run(
        f"CREATE {kind} t (k INT {key}, v INT) WITH (VALUE_FORMAT='JSON', PARTITIONS=1{more});"
    )
    assert decision.topics_to_create[0].configs == configs


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("CREATE STREAM s (v INT) WITH (VALUE_FORMAT='JSON');", "the topic S does not exist"),
        (
            "CREATE STREAM s (v INT) WITH (KAFKA_TOPIC='views', VALUE_FORMAT='JSON', PARTITIONS=2);",
            "exists with PARTITIONS=4",
        ),
        ("CREATE STREAM s (v INT) WITH (KAFKA_TOPIC='views');", "no VALUE_FORMAT"),
        ("CREATE STREAM s (v INT) WITH (KAFKA_TOPIC='views', VALUE_FORMAT='JASON');", "Did you mean JSON?"),
        ("CREATE STREAM s WITH (KAFKA_TOPIC='views', VALUE_FORMAT='JSON');", "S has no columns"),
        ("CREATE STREAM s WITH (KAFKA_TOPIC='views', VALUE_FORMAT='AVRO');", "no schema for views-value"),
        ("CREATE TABLE s (v INT) WITH (KAFKA_TOPIC='views', VALUE_FORMAT='JSON');", "no PRIMARY KEY"),
        ("CREATE STREAM s (v INT, v INT) WITH (KAFKA_TOPIC='views', VALUE_FORMAT='JSON');", "two columns"),
        ("CREATE STREAM s (v MONEY) WITH (KAFKA_TOPIC='views', VALUE_FORMAT='JSON');", "unknown type MONEY"),
        (
            "CREATE STREAM s (rowtime BIGINT) WITH (KAFKA_TOPIC='views', VALUE_FORMAT='JSON');",
            "ROWTIME is the name of a pseudo column",
        ),
        (
            "CREATE STREAM s (v INT, w INT) WITH (KAFKA_TOPIC='views', VALUE_FORMAT='KAFKA');",
            "format KAFKA holds a single column",
        ),
        (
            "CREATE STREAM s (v ARRAY<INT>) WITH (KAFKA_TOPIC='views', VALUE_FORMAT='DELIMITED');",
            "format DELIMITED does not support the type ARRAY<INTEGER>",
        ),
        (
            "CREATE STREAM s (k MAP<STRING, INT> KEY, v INT) WITH (KAFKA_TOPIC='views', FORMAT='JSON');",
            "a key cannot contain a MAP",
        ),
        (
            "CREATE TABLE s (k INT PRIMARY KEY, v INT) WITH (VALUE_FORMAT='JSON', PARTITIONS=1, RETENTION_MS=5);",
            "RETENTION_MS has no meaning",
        ),
        (
            "CREATE STREAM s (v INT) WITH (KAFKA_TOPIC='views', VALUE_FORMAT='JSON', TIMESTAMP='w');",
            "the TIMESTAMP column W is not in the value",
        ),
        (
            "CREATE STREAM s (v STRING) WITH (KAFKA_TOPIC='views', VALUE_FORMAT='JSON', TIMESTAMP='v');",
            "TIMESTAMP_FORMAT is needed",
        ),
        (
            "CREATE STREAM s (v INT) WITH (KAFKA_TOPIC='views', VALUE_FORMAT='JSON', WINDOW_TYPE='SESSION');",
            "has no key column",
        ),
        (
            "CREATE STREAM s (v INT) WITH (KAFKA_TOPIC='views', VALUE_FORMAT='JSON', VALUE_DELIMITER='|');",
            "VALUE_DELIMITER has no meaning for the format JSON",
        ),
        (
            "CREATE STREAM `my s` (v INT) WITH (VALUE_FORMAT='JSON', PARTITIONS=1);",
            "cannot be the name of a topic",
        ),
        (
            "CREATE STREAM s (v INT) WITH (KAFKA_TOPIC='views', VALUE_FORMAT='JSON', CLEANUP='x');",
            "unknown property CLEANUP",
        ),
    ],
)
def test_what_create_refuses(statement: str, said: str) -> None:
    assert said in StatementDesk(topics={"views": TopicFacts(4)}).refused(statement)


def test_if_not_exists() -> None:
    desk = StatementDesk()
    desk.run(PAGEVIEWS)
    decision = desk.decide(PAGEVIEWS.replace("STREAM", "STREAM IF NOT EXISTS"))
    assert decision.command is None
    assert isinstance(decision.answer, Warned)
    assert "PAGEVIEWS exists already" in desk.refused(PAGEVIEWS)


def test_what_the_settings_say_is_written_into_the_command() -> None:
    desk = StatementDesk(
        settings={
            "ksql.persistence.default.format.key": "JSON",
            "ksql.persistence.default.format.value": "DELIMITED",
            "ksql.persistence.wrap.single.values": "false",
        }
    )
    desk.run("CREATE STREAM s (k INT KEY, v INT) WITH (PARTITIONS=1);")
    desk.run("CREATE STREAM j WITH (VALUE_FORMAT='JSON') AS SELECT * FROM s;")
    formats = [desk.catalog.sources["S"].value_format.name, desk.catalog.sources["S"].key_format.name]
    assert formats == ["DELIMITED", "JSON"]
    assert not desk.catalog.sources["J"].value_format.is_wrapped
    assert desk.replayed() == desk.catalog


def test_types_of_the_user() -> None:
    desk = StatementDesk()
    desk.run("CREATE TYPE address AS STRUCT<street STRING, number INT>;")
    desk.run("CREATE TYPE addresses AS ARRAY<address>;")
    desk.run("CREATE STREAM s (v address, w ADDRESSES) WITH (VALUE_FORMAT='JSON', PARTITIONS=1);")
    address = Struct([("STREET", STRING), ("NUMBER", INTEGER)])
    assert desk.catalog.sources["S"].schema.value[0].type == address
    desk.run("DROP TYPE address;")
    assert "ADDRESS" not in desk.catalog.types
    assert desk.catalog.sources["S"].schema.value[0].type == address
    assert "does not exist" in desk.refused("DROP TYPE address;")
    assert desk.decide("DROP TYPE IF EXISTS address;").command is None
    assert "exists already" in desk.refused("CREATE TYPE addresses AS INT;")
    assert desk.decide("CREATE TYPE IF NOT EXISTS addresses AS INT;").command is None
    assert "is a type of SQL" in desk.refused("CREATE TYPE varchar AS INT;")


def test_the_key_property_of_ksql_5_comes_with_todays_form() -> None:
    desk = StatementDesk()
    [decision] = desk.run(
        "CREATE TABLE users (usertimestamp BIGINT, user_id VARCHAR) "
        "WITH (VALUE_FORMAT='JSON', KAFKA_TOPIC='users', KEY='user_id', PARTITIONS=1);"
    )
    assert desk.catalog.sources["USERS"].schema.key == (Column("USER_ID", STRING),)
    [warning] = decision.warnings
    assert "USER_ID STRING PRIMARY KEY" in warning
    assert desk.replayed() == desk.catalog


def test_header_columns_are_of_streams() -> None:
    desk = StatementDesk()
    desk.run(
        "CREATE STREAM s (v INT, h ARRAY<STRUCT<key STRING, value BYTES>> HEADERS) "
        "WITH (VALUE_FORMAT='JSON', PARTITIONS=1);"
        "CREATE STREAM t (v INT, h BYTES HEADER('trace ''id''')) WITH (VALUE_FORMAT='JSON', PARTITIONS=1);"
    )
    assert [one.header for one in desk.catalog.sources["S"].headers] == [None]
    assert [one.header for one in desk.catalog.sources["T"].headers] == ["trace 'id'"]
    assert [column.name for column in desk.catalog.sources["T"].stored_columns] == ["V"]
    assert "a table has no header columns" in desk.refused(
        "CREATE TABLE u (k INT PRIMARY KEY, h BYTES HEADER('a')) WITH (VALUE_FORMAT='JSON', PARTITIONS=1);"
    )


def test_source_tables_are_read_only() -> None:
    desk = StatementDesk()
    desk.run("CREATE SOURCE TABLE t (k INT PRIMARY KEY, v INT) WITH (VALUE_FORMAT='JSON', PARTITIONS=1);")
    assert desk.catalog.sources["T"].is_read_only
    assert "its topic cannot be deleted" in desk.refused("DROP TABLE t DELETE TOPIC;")
    desk.run("DROP TABLE t;")


def test_alter_adds_columns() -> None:
    desk = StatementDesk()
    desk.run(PAGEVIEWS)
    desk.run("ALTER STREAM pageviews ADD COLUMN region STRING, ADD COLUMN score INT;")
    assert desk.catalog.sources["PAGEVIEWS"].schema.names == ["USER_ID", "PAGE", "AT", "REGION", "SCORE"]
    assert "has a column REGION already" in desk.refused("ALTER STREAM pageviews ADD COLUMN region STRING;")
    assert "is a STREAM, not a TABLE" in desk.refused("ALTER TABLE pageviews ADD COLUMN x STRING;")
    assert "key column" in desk.refused("ALTER STREAM pageviews ADD COLUMN x STRING KEY;")
    assert desk.replayed() == desk.catalog


def test_a_query_goes_on_with_the_columns_it_knows() -> None:
    desk = StatementDesk()
    desk.run(PAGEVIEWS + "CREATE STREAM copy AS SELECT * FROM pageviews;")
    desk.run("ALTER STREAM pageviews ADD COLUMN region STRING;")
    [query] = desk.catalog.queries.values()
    assert query.inputs[0].schema.names == ["USER_ID", "PAGE", "AT"]
    assert "created by AS SELECT" in desk.refused("ALTER STREAM copy ADD COLUMN x INT;")


def test_replacing_a_stream_over_a_topic() -> None:
    desk = StatementDesk()
    desk.run(PAGEVIEWS)
    new = PAGEVIEWS.replace("CREATE", "CREATE OR REPLACE")
    desk.run(new.replace("at BIGINT", "at BIGINT, more INT"))
    assert desk.catalog.sources["PAGEVIEWS"].schema.names[-1] == "MORE"
    assert "columns can only be added" in desk.refused(new)
    assert "its key would change" in desk.refused(new.replace("user_id STRING", "user_id INT"))
    assert "its topic would change" in desk.refused(new.replace("'views'", "'other'"))
    said = desk.refused(new.replace("'JSON'", "'DELIMITED'"))
    assert "its value format would change" in said
    assert "DROP STREAM PAGEVIEWS" in said


def test_alter_system_is_for_queries_to_come() -> None:
    desk = StatementDesk()
    desk.run(PAGEVIEWS + "CREATE STREAM a AS SELECT * FROM pageviews;")
    desk.run("ALTER SYSTEM 'auto.offset.reset'='earliest';")
    desk.run("CREATE STREAM b AS SELECT * FROM pageviews;")
    properties = [dict(query.properties) for query in desk.catalog.queries.values()]
    assert properties == [{}, {"auto.offset.reset": "earliest"}]
