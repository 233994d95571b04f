import pytest

from moldau.pipeline.sql.engine import Program, QueryState, TopicFacts, topology_from
from moldau.pipeline.sql.engine.program import program_of
from sql_kit import StatementDesk

VIEWS = (
    "CREATE STREAM views (user_id STRING KEY, page STRING, ms BIGINT) "
    "WITH (KAFKA_TOPIC='views', VALUE_FORMAT='JSON', PARTITIONS=3);"
)
USERS = (
    "CREATE TABLE users (id STRING PRIMARY KEY, region STRING) "
    "WITH (KAFKA_TOPIC='users', VALUE_FORMAT='JSON', PARTITIONS=3);"
)


def desk_with(*statements: str) -> StatementDesk:
    desk = StatementDesk()
    desk.run("".join(statements))
    return desk


def test_create_stream_as_select() -> None:
    desk = desk_with(VIEWS)
    [decision] = desk.run("CREATE STREAM slow AS SELECT user_id, page FROM views WHERE ms > 10;")
    [topic] = decision.topics_to_create
    assert (topic.name, topic.partitions, topic.configs) == ("SLOW", 3, {"cleanup.policy": "delete"})
    query = desk.catalog.queries["CSAS_SLOW_1"]
    assert (query.sources, query.sink, query.kind) == (("VIEWS",), "SLOW", "CREATE_AS")
    assert desk.applied[-1].query_id == "CSAS_SLOW_1"
    assert desk.applied[-1].message == "Created query with ID CSAS_SLOW_1"
    assert desk.catalog.sources["SLOW"].schema.names == ["USER_ID", "PAGE"]


def test_tables_are_compacted_and_windowed_ones_forget() -> None:
    desk = desk_with(VIEWS)
    [counts] = desk.run("CREATE TABLE counts AS SELECT user_id, COUNT(*) FROM views GROUP BY user_id;")
    [hours] = desk.run(
        "CREATE TABLE hours AS SELECT user_id, COUNT(*) FROM views "
        "WINDOW TUMBLING (SIZE 1 HOUR, RETENTION 7 DAYS, GRACE PERIOD 1 HOUR) GROUP BY user_id;"
    )
    assert counts.topics_to_create[0].configs == {"cleanup.policy": "compact"}
    assert hours.topics_to_create[0].configs == {
        "cleanup.policy": "compact,delete",
        # A day more than the windows, as the changelogs of Kafka Streams: a server that starts loads them from here.
        "retention.ms": str(8 * 86_400_000),
    }


def test_with_decides_over_the_topic_and_the_formats() -> None:
    desk = desk_with(VIEWS)
    [decision] = desk.run(
        "CREATE STREAM s WITH (KAFKA_TOPIC='other', PARTITIONS=7, REPLICAS=2, VALUE_FORMAT='DELIMITED', "
        "VALUE_DELIMITER='|') AS SELECT user_id, page FROM views;"
    )
    [topic] = decision.topics_to_create
    assert (topic.name, topic.partitions, topic.replicas) == ("other", 7, 2)
    form = desk.catalog.sources["S"].value_format
    assert (form.name, form.properties) == ("DELIMITED", (("DELIMITER", "|"),))
    desk.run("CREATE STREAM t AS SELECT * FROM s;")
    assert desk.catalog.sources["T"].value_format == form
    assert desk.replayed() == desk.catalog


def test_a_key_that_kafka_cannot_hold_is_written_as_json() -> None:
    desk = desk_with(VIEWS)
    [decision] = desk.run(
        "CREATE TABLE c AS SELECT page, user_id, COUNT(*) AS n FROM views GROUP BY page, user_id;"
    )
    assert desk.catalog.sources["C"].key_format.name == "JSON"
    assert "KEY_FORMAT='JSON'" in decision.warnings[0]
    assert "holds a single column" in desk.refused(
        "CREATE TABLE d WITH (KEY_FORMAT='KAFKA') AS SELECT page, user_id, COUNT(*) FROM views GROUP BY page, user_id;"
    )


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("CREATE TABLE t AS SELECT user_id, page FROM views;", "the query makes a STREAM, not a TABLE"),
        ("CREATE STREAM t AS SELECT user_id, pag FROM views;", "Did you mean PAGE?"),
        ("CREATE STREAM t AS SELECT * FROM view;", "Did you mean VIEWS?"),
        ("CREATE STREAM views AS SELECT * FROM views;", "VIEWS exists already"),
        ("CREATE STREAM t AS SELECT user_id, page FROM views LIMIT 5;", "has no LIMIT"),
        (
            "CREATE STREAM t WITH (KAFKA_TOPIC='views') AS SELECT * FROM views;",
            "would read what it writes",
        ),
        ("CREATE STREAM t WITH (VALUE_FORMAT='KAFKA') AS SELECT * FROM views;", "holds a single column"),
        (
            "CREATE STREAM t WITH (WINDOW_TYPE='SESSION') AS SELECT * FROM views;",
            "has no meaning in this statement",
        ),
        ("INSERT INTO users SELECT user_id, page FROM views;", "USERS is a table"),
        ("INSERT INTO views SELECT * FROM views;", "would read what it writes"),
        ("INSERT INTO nothing SELECT * FROM views;", "NOTHING does not exist"),
    ],
)
def test_what_queries_refuse(statement: str, said: str) -> None:
    assert said in desk_with(VIEWS, USERS).refused(statement)


def test_insert_into() -> None:
    desk = desk_with(VIEWS)
    desk.run(
        "CREATE STREAM target (user_id STRING KEY, page STRING) WITH (VALUE_FORMAT='JSON', PARTITIONS=1);"
    )
    desk.run("INSERT INTO target SELECT user_id, page FROM views;")
    desk.run("INSERT INTO target WITH (QUERY_ID='mine') SELECT user_id, page FROM views WHERE ms > 1;")
    assert list(desk.catalog.queries) == ["INSERTQUERY_2", "MINE"]
    assert "a query MINE exists already" in desk.refused(
        "INSERT INTO target WITH (QUERY_ID='mine') SELECT user_id, page FROM views;"
    )
    assert "are not those of TARGET" in desk.refused("INSERT INTO target SELECT user_id, ms FROM views;")


def test_joins_need_the_same_number_of_partitions() -> None:
    desk = desk_with(VIEWS, USERS)
    joined = (
        "CREATE STREAM j AS SELECT v.user_id, page, region FROM views v JOIN users u ON v.user_id = u.id;"
    )
    desk.topics["users"] = TopicFacts(5)
    said = desk.refused(joined)
    assert "V has 3 partitions, U has 5 partitions" in said
    moved = "CREATE STREAM j AS SELECT v.page, region FROM views v JOIN users u ON v.page = u.id;"
    assert desk.decide(moved).command is not None
    desk.topics["users"] = TopicFacts(3)
    assert desk.decide(joined).command is not None
    del desk.topics["users"]
    assert "the topic users of USERS does not exist" in desk.refused(joined)


def test_pause_resume_and_terminate() -> None:
    desk = desk_with(VIEWS, "CREATE STREAM a AS SELECT * FROM views; CREATE STREAM b AS SELECT * FROM views;")
    desk.run("PAUSE csas_a_1;")
    states = {name: query.state for name, query in desk.catalog.queries.items()}
    assert states == {"CSAS_A_1": QueryState.PAUSED, "CSAS_B_2": QueryState.RUNNING}
    desk.run("PAUSE ALL; RESUME CSAS_B_2;")
    assert [query.state for query in desk.catalog.queries.values()] == [QueryState.PAUSED, QueryState.RUNNING]
    assert "there is no query CSAS_A_9" in desk.refused("TERMINATE CSAS_A_9;")
    desk.run("TERMINATE CSAS_A_1;")
    assert list(desk.catalog.queries) == ["CSAS_B_2"]
    desk.run("TERMINATE ALL;")
    assert desk.catalog.queries == {}
    assert desk.decide("TERMINATE ALL;").command is None
    assert set(desk.catalog.sources) == {"VIEWS", "A", "B"}


def test_drop_ends_the_own_query_and_refuses_what_is_used() -> None:
    desk = desk_with(VIEWS, "CREATE STREAM a AS SELECT * FROM views;")
    desk.run("CREATE STREAM b AS SELECT * FROM a; CREATE STREAM c AS SELECT * FROM views;")
    desk.run("INSERT INTO c SELECT * FROM b;")
    said = desk.refused("DROP STREAM b;")
    assert "it is read by INSERTQUERY_4" in said and "TERMINATE INSERTQUERY_4;" in said
    assert "it is written by INSERTQUERY_4" in desk.refused("DROP STREAM c;")
    desk.run("TERMINATE ALL;")
    assert "First: DROP STREAM B;" in desk.refused("DROP STREAM a;")
    desk.run("DROP STREAM b; DROP STREAM a; DROP STREAM c;")
    assert desk.catalog.queries == {} and set(desk.catalog.sources) == {"VIEWS"}
    assert "is a STREAM, not a TABLE" in desk.refused("DROP TABLE views;")
    assert desk.decide("DROP STREAM IF EXISTS a;").command is None
    assert "does not exist" in desk.refused("DROP STREAM a;")


def test_a_topic_is_deleted_only_if_nothing_else_is_over_it() -> None:
    desk = desk_with(VIEWS, VIEWS.replace("STREAM views", "STREAM more"))
    said = desk.refused("DROP STREAM views DELETE TOPIC;")
    assert "the topic views cannot be deleted: MORE is over it too" in said
    desk.run("DROP STREAM more;")
    [decision] = desk.run("DROP STREAM views DELETE TOPIC;")
    assert decision.topics_to_delete == ("views",)


def test_a_query_is_replaced_in_place() -> None:
    desk = desk_with(VIEWS, "CREATE STREAM a AS SELECT user_id, page FROM views WHERE ms > 1;")
    desk.run("CREATE OR REPLACE STREAM a AS SELECT user_id, page, ms FROM views WHERE ms > 2;")
    [query] = desk.catalog.queries.values()
    assert (query.id, query.version) == ("CSAS_A_1", 2)
    assert desk.catalog.sources["A"].schema.names == ["USER_ID", "PAGE", "MS"]
    assert desk.replayed() == desk.catalog


@pytest.mark.parametrize(
    ("new", "said"),
    [
        ("SELECT user_id, SUM(ms) AS n FROM views GROUP BY user_id", "its aggregates"),
        ("SELECT page, COUNT(*) AS n FROM views GROUP BY page", "its key would change"),
        ("SELECT user_id, COUNT(*) AS m FROM views GROUP BY user_id", "columns can only be added"),
        ("SELECT user_id, COUNT(*) AS n FROM other GROUP BY user_id", "what it reads (FROM)"),
        (
            "SELECT user_id, COUNT(*) AS n FROM views WINDOW TUMBLING (SIZE 1 HOUR) GROUP BY user_id",
            "the window of its key",
        ),
    ],
)
def test_what_replacing_a_table_refuses(new: str, said: str) -> None:
    desk = desk_with(
        VIEWS,
        VIEWS.replace("STREAM views", "STREAM other"),
        "CREATE TABLE t AS SELECT user_id, COUNT(*) AS n FROM views GROUP BY user_id;",
    )
    refusal = desk.refused(f"CREATE OR REPLACE TABLE t AS {new};")
    assert said in refusal
    assert "TERMINATE CTAS_T_2; DROP TABLE T;" in refusal


def test_a_condition_after_the_grouping_may_change() -> None:
    desk = desk_with(VIEWS, "CREATE TABLE t AS SELECT user_id, COUNT(*) AS n FROM views GROUP BY user_id;")
    desk.run(
        "CREATE OR REPLACE TABLE t AS SELECT user_id, COUNT(*) AS n, COUNT(*) + 1 AS more FROM views "
        "GROUP BY user_id HAVING COUNT(*) > 2;"
    )
    assert desk.catalog.sources["T"].schema.names == ["USER_ID", "N", "MORE"]


@pytest.mark.parametrize(
    ("window", "tail"),
    [
        ("", ""),
        ("WINDOW TUMBLING (SIZE 1 HOUR)", ""),
        ("WINDOW SESSION (1 HOUR)", ""),
        ("WINDOW TUMBLING (SIZE 1 HOUR, GRACE PERIOD 1 MINUTE)", "EMIT FINAL"),
    ],
)
def test_a_condition_before_the_grouping_may_come_and_change(window: str, tail: str) -> None:
    desk = desk_with(VIEWS)
    for condition in ("", "WHERE ms > 1", "WHERE ms > 2", ""):
        desk.run(
            f"CREATE OR REPLACE TABLE t AS SELECT page, COUNT(*) AS n FROM views {window} {condition} "
            f"GROUP BY page {tail};"
        )
    assert list(desk.catalog.queries) == ["CTAS_T_1"]


def test_a_join_with_a_condition_more_keeps_its_state() -> None:
    joined = "SELECT v.user_id, page, region FROM views v JOIN users u ON v.user_id = u.id"
    desk = desk_with(VIEWS, USERS, f"CREATE STREAM j AS {joined};")
    desk.run(f"CREATE OR REPLACE STREAM j AS {joined} WHERE region = 'EU';")
    desk.run("ALTER TABLE users ADD COLUMN name STRING;")
    said = desk.refused(f"CREATE OR REPLACE STREAM j AS {joined} WHERE region = 'US';")
    assert "the columns of what it joins" in said


def test_a_stream_that_a_query_fills_is_not_replaced_by_one_over_a_topic() -> None:
    desk = desk_with(VIEWS, "CREATE STREAM a AS SELECT * FROM views;")
    assert "it is filled by the query CSAS_A_1" in desk.refused(
        "CREATE OR REPLACE STREAM a (user_id STRING KEY, page STRING, ms BIGINT) WITH (KAFKA_TOPIC='A', "
        "VALUE_FORMAT='JSON');"
    )


def test_programs_run_without_a_catalog() -> None:
    desk = desk_with(
        VIEWS,
        USERS,
        "CREATE TYPE pair AS STRUCT<a STRING, b BIGINT>;",
        "CREATE STREAM j AS SELECT v.user_id, CAST(STRUCT(a := page, b := ms) AS pair) AS p, region "
        "FROM views v JOIN users u ON v.user_id = u.id;",
        "DROP TYPE pair;",
    )
    program = program_of("CSAS_J_3", desk.catalog, application_id="shop-CSAS_J_3")
    again = Program.from_json(program.to_json())
    assert again == program
    topology = topology_from(program.to_json())
    assert topology.describe() == again.topology(desk.catalog.library).describe()
    assert set(topology.source_topics) >= {"views", "users"}


def test_properties_say_where_a_query_begins_and_how_it_writes() -> None:
    desk = desk_with(VIEWS, USERS)
    desk.settings = {"ksql.streams.auto.offset.reset": "earliest", "ksql.streams.num.stream.threads": "4"}
    joined = "AS SELECT v.user_id, page, region FROM views v JOIN users u ON v.user_id = u.id;"
    desk.run(f"CREATE STREAM a {joined}")
    desk.session = desk.session.with_property("processing.guarantee", "at_least_once")
    desk.session = desk.session.with_property("auto.offset.reset", "latest")
    desk.run(f"CREATE STREAM b {joined}")
    found = {}
    for query_id in desk.catalog.queries:
        topology = topology_from(program_of(query_id, desk.catalog).to_json())
        sources = [source for part in topology.sub_topologies for source in part.sources()]
        resets = {source.topics[0]: str(source.offset_reset) for source in sources}
        found[query_id] = (str(topology.guarantee), resets["views"], resets["users"])
    assert found == {
        "CSAS_A_2": ("exactly_once", "earliest", "earliest"),
        "CSAS_B_3": ("at_least_once", "latest", "earliest"),
    }
    assert desk.catalog.queries["CSAS_A_2"].properties == {"auto.offset.reset": "earliest"}
    assert desk.replayed() == desk.catalog


def test_a_query_reads_what_comes_from_now_on() -> None:
    desk = desk_with(VIEWS, "CREATE STREAM a AS SELECT * FROM views;")
    topology = topology_from(program_of("CSAS_A_1", desk.catalog).to_json())
    assert [str(one.offset_reset) for one in topology.sub_topologies[0].sources()] == ["latest"]


def test_a_query_begins_where_its_topics_ended_when_it_was_given() -> None:
    desk = desk_with(VIEWS, USERS)
    desk.ends = {"views": (5, 0, 7), "users": (1, 1, 1)}
    desk.run(
        "CREATE STREAM a AS SELECT v.user_id, page, region FROM views v JOIN users u ON v.user_id = u.id;"
        "CREATE STREAM b (user_id STRING KEY, page STRING, ms BIGINT) WITH (VALUE_FORMAT='JSON', PARTITIONS=3);"
        "INSERT INTO b SELECT * FROM views;"
    )
    desk.ends = {"views": (9, 9, 9)}
    desk.run(
        "CREATE OR REPLACE STREAM a AS SELECT v.user_id, page, region FROM views v "
        "JOIN users u ON v.user_id = u.id WHERE page = 'home';"
    )
    desk.session = desk.session.with_property("auto.offset.reset", "earliest")
    desk.run("CREATE STREAM c AS SELECT * FROM views;")
    begins = {
        query_id: topology_from(program_of(query_id, desk.catalog).to_json()).latest_from
        for query_id in desk.catalog.queries
    }
    assert begins == {
        "CSAS_A_2": {"views": (5, 0, 7)},
        "INSERTQUERY_4": {"views": (5, 0, 7)},
        "CSAS_C_6": {},
    }
    assert desk.replayed() == desk.catalog


def test_a_server_may_have_a_limit_of_queries() -> None:
    desk = desk_with(VIEWS, "CREATE STREAM a AS SELECT * FROM views;")
    desk.settings = {"ksql.query.persistent.active.limit": "1"}
    assert "no more are allowed" in desk.refused("CREATE STREAM b AS SELECT * FROM views;")
    desk.run("CREATE OR REPLACE STREAM a AS SELECT * FROM views WHERE ms > 1;")


INTERNAL = (
    *("_moldau_roles", "_moldau_audit", "_moldau_api_keys", "__consumer_offsets", "__transaction_state"),
    *("_schemas", "connect-configs", "connect-offsets", "connect-status", "group1-connect-configs"),
    *("_mqtt-moldau", "_mqtt_retained", "_confluent-ksql-default__command_topic", "mm2-offsets.internal"),
)


@pytest.mark.parametrize("topic", INTERNAL)
def test_internal_topics_are_not_used(topic: str) -> None:
    desk = desk_with(VIEWS)
    desk.topics[topic] = TopicFacts(1)
    columns = f"(k STRING KEY, v STRING) WITH (FORMAT='KAFKA', KAFKA_TOPIC='{topic}')"
    for text in (
        f"CREATE STREAM o {columns};",
        f"CREATE OR REPLACE SOURCE TABLE o {columns.replace('KEY', 'PRIMARY KEY', 1)};",
        f"CREATE STREAM p WITH (KAFKA_TOPIC='{topic}') AS SELECT * FROM views;",
    ):
        refused = desk.refused(text)
        assert f"{topic} is internal" in refused and "ksql.hidden.topics" in refused
    del desk.topics[topic]
    new = f"CREATE STREAM o (v STRING) WITH (FORMAT='JSON', KAFKA_TOPIC='{topic}', PARTITIONS=1);"
    assert "ksql.hidden.topics" in desk.refused(new)


def test_topics_that_are_not_hidden_can_be_read_only() -> None:
    desk = desk_with(VIEWS)
    desk.settings = {"ksql.hidden.topics": "", "ksql.readonly.topics": "_.*, kept"}
    for topic, why in (("__consumer_offsets", "is internal"), ("kept", "ksql.readonly.topics")):
        desk.topics[topic] = TopicFacts(1)
        desk.run(f"CREATE STREAM o (k STRING KEY, v STRING) WITH (FORMAT='KAFKA', KAFKA_TOPIC='{topic}');")
        desk.run("CREATE STREAM r AS SELECT * FROM o;")
        for text in (
            "INSERT INTO o (k, v) VALUES ('a', 'b');",
            "INSERT INTO o SELECT user_id AS k, page AS v FROM views;",
            f"CREATE STREAM p WITH (KAFKA_TOPIC='{topic}') AS SELECT * FROM views;",
        ):
            assert why in desk.refused(text)
        desk.run("TERMINATE ALL; DROP STREAM r DELETE TOPIC;")
        assert why in desk.refused("DROP STREAM o DELETE TOPIC;")
        desk.run("DROP STREAM o;")
    del desk.topics["kept"]
    new = "CREATE STREAM o (v STRING) WITH (FORMAT='JSON', KAFKA_TOPIC='kept', PARTITIONS=1);"
    assert "ksql.readonly.topics" in desk.refused(new)


def test_what_was_defined_over_an_internal_topic_is_neither_read_nor_written() -> None:
    desk = desk_with(VIEWS)
    desk.settings = {"ksql.hidden.topics": ""}
    desk.topics["_moldau_audit"] = TopicFacts(3)
    columns = "(k STRING KEY, page STRING, ms BIGINT)"
    desk.run(f"CREATE STREAM o {columns} WITH (VALUE_FORMAT='JSON', KAFKA_TOPIC='_moldau_audit');")
    desk.settings = {}
    for text in (
        "CREATE STREAM p AS SELECT * FROM o;",
        "INSERT INTO views SELECT * FROM o;",
        "INSERT INTO o SELECT * FROM views;",
        "INSERT INTO o (k) VALUES ('a');",
        "DROP STREAM o DELETE TOPIC;",
    ):
        assert "ksql.hidden.topics" in desk.refused(text)
    desk.run("DROP STREAM o;")
