"""Statements that need no Spark: what they define, create and leave behind, on one server and on two."""

import threading
from pathlib import Path

import pytest

from compat.server_process import wait_until
from e2e.sql.server.conftest import LocalServer
from e2e.sql.server.sql_process import EARLIEST, Refused, SqlClient
from moldau.pipeline.sql.server.server import SqlServer
from moldau.pipeline.sql.server.settings import read_configuration
from moldau.testing import LocalCluster


def create(name: str, topic: str, *, more: str = "") -> str:
    return (
        f"CREATE STREAM {name} (ID STRING KEY, V INT) "
        f"WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='JSON', PARTITIONS=2{more});"
    )


def topics(client: SqlClient) -> set[str]:
    (answer,) = client.ksql("SHOW TOPICS;")
    return {one["name"] for one in answer["topics"]}


def streams(client: SqlClient) -> set[str]:
    (answer,) = client.ksql("SHOW STREAMS;")
    return {one["name"] for one in answer["streams"]}


def test_a_stream_is_created_with_its_topic_filled_and_read(client: SqlClient, name: str) -> None:
    status = client.status(create(name, f"topic-{name}"))
    assert status == {"status": "SUCCESS", "message": "Stream created", "queryId": None}
    assert (
        client.ksql(f"INSERT INTO {name} (ID, V) VALUES ('a', 1); INSERT INTO {name} VALUES ('b', 2);") == []
    )
    found = client.rows(f"SELECT ID, V FROM {name} EMIT CHANGES LIMIT 2;", **EARLIEST)
    assert sorted(found) == [["a", 1], ["b", 2]]


def test_what_became_of_a_command_can_be_asked(client: SqlClient, name: str) -> None:
    client.status(create(name, f"topic-{name}"))
    assert client.ask("GET", f"/status/stream/{name}/create")["status"] == "SUCCESS"


def test_a_request_with_an_error_changes_nothing(client: SqlClient, name: str) -> None:
    before = topics(client)
    with pytest.raises(Refused) as refused:
        client.ksql(create(name, f"topic-{name}") + f"CREATE STREAM {name}_2 AS SELECT * FROM {name}_NONE;")
    assert refused.value.code == 40001
    assert f"{name}_NONE does not exist" in refused.value.message
    assert name not in streams(client)
    assert topics(client) == before


def test_an_error_shows_the_place(client: SqlClient, name: str) -> None:
    wrong = f"CREATE STREAM {name} AS\n SELECT NN FROM NONE;"
    for text in (wrong, f"SHOW STREAMS; {wrong}"):
        with pytest.raises(Refused) as refused:
            client.ksql(text)
        assert refused.value.message.splitlines()[:3] == [
            "line 2:17: NONE does not exist",
            "   SELECT NN FROM NONE;",
            "                  ^",
        ]


def test_a_property_with_a_wrong_value_is_refused(client: SqlClient, name: str) -> None:
    client.ksql(create(name, f"topic-{name}"))
    wrong = {"ksql.streams.auto.offset.reset": "erliest"}
    with pytest.raises(Refused, match="erliest"):
        client.ksql(f"CREATE STREAM {name}_2 AS SELECT * FROM {name};", **wrong)
    with pytest.raises(Refused, match="erliest"):
        client.rows(f"SELECT * FROM {name};", **wrong)


def test_later_statements_of_a_request_see_the_earlier_ones(client: SqlClient, name: str) -> None:
    answers = client.ksql(
        f"DEFINE n = '{name}'; {create('${n}', f'topic-{name}')} INSERT INTO ${{n}} VALUES ('a', 1);"
        f"CREATE TYPE {name}_T AS STRUCT<A INT>; DROP TYPE {name}_T; DROP STREAM {name} DELETE TOPIC;"
    )
    assert [answer["@type"] for answer in answers] == ["currentStatus"] * 4
    assert f"topic-{name}" not in topics(client)


def test_schemas_are_registered_and_go_with_their_topic(
    client: SqlClient, cluster: LocalCluster, name: str
) -> None:
    client.ksql(
        f"CREATE STREAM {name} (ID STRING KEY, V INT) "
        f"WITH (KAFKA_TOPIC='topic-{name}', VALUE_FORMAT='AVRO', PARTITIONS=1);"
    )
    registry = SqlClient(cluster.registry_url)
    assert f"topic-{name}-value" in registry.ask("GET", "/subjects")
    client.ksql(f"DROP STREAM {name} DELETE TOPIC;")
    assert f"topic-{name}-value" not in registry.ask("GET", "/subjects")


def test_select_belongs_to_another_route(client: SqlClient) -> None:
    with pytest.raises(Refused) as refused:
        client.ksql("SELECT * FROM NOBODY EMIT CHANGES;")
    assert refused.value.code == 40002


def test_statements_wait_for_the_command_they_name(client: SqlClient, name: str) -> None:
    (answer,) = client.ksql(create(name, f"topic-{name}"))
    said = {"ksql": "SHOW STREAMS;", "commandSequenceNumber": answer["commandSequenceNumber"]}
    assert client.ask("POST", "/ksql", said)
    with pytest.raises(Refused) as refused:
        client.ask("POST", "/ksql", {**said, "commandSequenceNumber": 1_000_000})
    assert refused.value.status == 503


def test_assert_waits_until_the_topic_is_there(client: SqlClient, name: str) -> None:
    with pytest.raises(Refused, match="topic"):
        client.ksql(f"ASSERT TOPIC 'topic-{name}' TIMEOUT 0 SECONDS;")
    waiting = threading.Thread(target=client.ksql, args=(f"ASSERT TOPIC 'topic-{name}' TIMEOUT 60 SECONDS;",))
    waiting.start()
    client.ksql(create(name, f"topic-{name}"))
    waiting.join(60)
    assert not waiting.is_alive()


def test_a_push_query_is_listed_and_closed(client: SqlClient, name: str) -> None:
    client.ksql(create(name, f"topic-{name}"))
    with client.query(f"SELECT * FROM {name} EMIT CHANGES;") as lines:
        query_id = next(lines)["queryId"]
        assert query_id in client.query_states()
        client.ask("POST", "/close-query", {"queryId": query_id})
        list(lines)
    assert query_id not in client.query_states()


def test_a_second_server_defines_the_same_and_neither_overrules_the_other(
    cluster: LocalCluster, tmp_path: Path, name: str
) -> None:
    settings = {"ksql_service_id": f"{name}_".lower()}
    with (
        LocalServer(cluster, tmp_path, **settings) as one,
        LocalServer(cluster, tmp_path, **settings) as two,
    ):
        one.client.ksql(create(name, f"topic-{name}"))
        wait_until(lambda: name in streams(two.client), "the second server has read the command")
        outcomes: list[str] = []

        def define(client: SqlClient, topic: str) -> None:
            try:
                outcomes.append(client.status(create(f"{name}_X", topic))["status"])
            except Refused as refused:
                outcomes.append(refused.message)

        threads = [
            threading.Thread(target=define, args=(server.client, f"{topic}-{name}"))
            for server, topic in ((one, "left"), (two, "right"))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert sorted(outcomes, key=lambda said: said != "SUCCESS")[0] == "SUCCESS"
        assert sum(said == "SUCCESS" for said in outcomes) == 1
        assert any("already" in said for said in outcomes)
        created = {f"left-{name}", f"right-{name}"} & topics(one.client)
        assert len(created) == 1
        wait_until(lambda: f"{name}_X" in streams(one.client) & streams(two.client), "both know it")
        hosts = one.client.ask("GET", "/clusterStatus")["clusterStatus"]
        assert f"127.0.0.1:{one.server.port}" in str(hosts)


def test_a_restarted_server_knows_everything(cluster: LocalCluster, tmp_path: Path, name: str) -> None:
    settings = {"ksql_service_id": f"{name}_".lower()}
    with LocalServer(cluster, tmp_path, **settings) as first:
        first.client.ksql(create(name, f"topic-{name}") + f"CREATE TYPE {name}_T AS STRUCT<A INT>;")
    with LocalServer(cluster, tmp_path, **settings) as again:
        assert streams(again.client) == {name}
        (types,) = again.client.ksql("SHOW TYPES;")
        assert f"{name}_T" in types["types"]


def test_headless(cluster: LocalCluster, tmp_path: Path, name: str) -> None:
    file = tmp_path / "queries.sql"
    file.write_text(f"DEFINE n = '{name}'; {create('${n}', f'topic-{name}')}")
    settings = {"ksql_service_id": f"{name}_".lower(), "ksql_queries_file": str(file)}
    with LocalServer(cluster, tmp_path / "state", **settings) as server:
        assert server.client.ask("GET", "/healthcheck")["isHealthy"]
        with pytest.raises(Refused, match=r"ksql\.queries\.file"):
            server.client.ksql("SHOW STREAMS;")


def test_a_wrong_file_of_queries_is_named(cluster: LocalCluster, tmp_path: Path) -> None:
    from moldau.core.errors import ConfigError

    file = tmp_path / "queries.sql"
    file.write_text("CREATE STREAM S AS SELECT * FROM NOBODY;")
    overrides = [
        f"bootstrap.servers={cluster.bootstrap_servers}",
        "listeners=http://127.0.0.1:0",
        f"ksql.queries.file={file}",
        f"ksql.streams.state.dir={tmp_path}",
        "ksql.service.id=wrong_",
    ]
    server = SqlServer(read_configuration(overrides=overrides))
    with pytest.raises(ConfigError, match=r"(?s)queries\.sql.*NOBODY does not exist"):
        server.load()


def test_failed_expressions_are_in_the_processing_log(
    cluster: LocalCluster, tmp_path: Path, name: str
) -> None:
    settings = {
        "ksql_service_id": f"{name}_".lower(),
        "ksql_logging_processing_topic_auto_create": "true",
        "ksql_logging_processing_stream_auto_create": "true",
    }
    with LocalServer(cluster, tmp_path, **settings) as server:
        server.client.ksql(create(name, f"topic-{name}") + f"INSERT INTO {name} VALUES ('word', 1);")
        found = server.client.rows(f"SELECT CAST(ID AS INT), V FROM {name} EMIT CHANGES LIMIT 1;", **EARLIEST)
        assert found == [[None, 1]]
        logged = server.client.rows(
            "SELECT LOGGER, LEVEL, MESSAGE->RECORDPROCESSINGERROR->ERRORMESSAGE "
            "FROM KSQL_PROCESSING_LOG EMIT CHANGES LIMIT 1;",
            **EARLIEST,
        )
        assert logged[0][:2] == ["processing.transient", "ERROR"]
        assert "'word' is no INTEGER" in logged[0][2]
