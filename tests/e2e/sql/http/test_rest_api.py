"""ksqlDB's REST API over HTTP/1.1, as its documents show it."""

import http.client
from typing import Any
from urllib.parse import urlsplit

import orjson
import pytest

from compat.server_process import wait_until
from e2e.sql.http.conftest import PUSH_QUERIES_MAX, Transients
from e2e.sql.http.raw_http import RawConnection
from e2e.sql.server.sql_process import EARLIEST, Refused, SqlClient

KSQL_JSON = "application/vnd.ksql.v1+json"
DELIMITED = "application/vnd.ksqlapi.delimited.v1"


class Answer:
    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.content_type = response.getheader("Content-Type")
        self.location = response.getheader("Location")
        self.text = response.read().decode()

    @property
    def json(self) -> Any:
        return orjson.loads(self.text)

    @property
    def lines(self) -> list[str]:
        """Without the empty ones, which a push query sends while there is nothing to tell."""
        return [line for line in self.text.splitlines() if line]


def ask(client: SqlClient, method: str, path: str, body: Any = None, **headers: str) -> Answer:
    parts = urlsplit(client.url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)
    content = body if body is None or isinstance(body, bytes) else orjson.dumps(body)
    try:
        named = {name.replace("_", "-"): text for name, text in headers.items()}
        connection.request(method, path, content, named)
        return Answer(connection.getresponse())
    finally:
        connection.close()


def test_the_root_points_to_the_info(client: SqlClient) -> None:
    answer = ask(client, "GET", "/")
    assert (answer.status, answer.location) == (307, "/info")
    info = client.ask("GET", "/info")["KsqlServerInfo"]
    assert info["ksqlServiceId"] == "http_"
    assert info["kafkaClusterId"]
    assert info["serverStatus"] == "RUNNING"


def test_what_the_server_says_about_itself(client: SqlClient) -> None:
    cluster = client.ask("GET", "/v1/metadata/id")["scope"]["clusters"]
    assert cluster["ksql-cluster"] == "http_"
    assert client.ask("GET", "/v1/metadata")["clusterId"]["scope"]["clusters"] == cluster
    health = client.ask("GET", "/healthcheck")
    assert health["isHealthy"]
    assert health["details"]["kafka"] == {"isHealthy": True}
    [host] = client.ask("GET", "/clusterStatus")["clusterStatus"].values()
    assert host["hostAlive"]
    assert client.ask("GET", "/chc/ready") == {}
    assert "moldau_sql_" in client.ask("GET", "/metrics")


def test_properties_that_sessions_may_set(client: SqlClient) -> None:
    assert client.ask("GET", "/is_valid_property/auto.offset.reset") is True
    with pytest.raises(Refused) as refused:
        client.ask("GET", "/is_valid_property/ksql.service.id")
    assert (refused.value.status, refused.value.code) == (400, 40000)


def test_the_state_of_commands(client: SqlClient, stream: str) -> None:
    command = f"stream/{stream}/create"
    assert client.ask("GET", f"/status/{command}")["status"] == "SUCCESS"
    assert client.ask("GET", "/status")["commandStatuses"][command] == "SUCCESS"
    with pytest.raises(Refused) as refused:
        client.ask("GET", "/status/stream/NONE/create")
    assert (refused.value.status, refused.value.code) == (404, 40400)


def test_a_statement_error_has_the_statement_and_what_was_done_before(client: SqlClient, stream: str) -> None:
    with pytest.raises(Refused) as refused:
        client.ksql(f"ASSERT TOPIC {stream}; ASSERT TOPIC no_such_topic TIMEOUT 10 MILLISECONDS;")
    assert refused.value.body["@type"] == "statement_error"
    assert refused.value.body["statementText"].startswith("ASSERT TOPIC no_such_topic")
    [done] = refused.value.body["entities"]
    assert (done["@type"], done["topicName"]) == ("assert_topic", stream)


def test_select_belongs_to_another_path(client: SqlClient, stream: str) -> None:
    with pytest.raises(Refused) as refused:
        client.ksql(f"SELECT * FROM {stream};")
    assert (refused.value.status, refused.value.code) == (400, 40002)


def test_connect_is_not_configured(client: SqlClient) -> None:
    with pytest.raises(Refused) as refused:
        client.ksql("SHOW CONNECTORS;")
    assert refused.value.code == 40001
    assert "ksql.connect.url" in refused.value.message


def test_variables_and_the_number_of_a_command(client: SqlClient, stream: str) -> None:
    body = {"ksql": "DESCRIBE ${name};", "sessionVariables": {"name": stream}, "commandSequenceNumber": 0}
    [answer] = client.ask("POST", "/ksql", body)
    assert answer["sourceDescription"]["name"] == stream
    assert answer["sourceDescription"]["fields"][0] == {
        "name": "ID",
        "schema": {"type": "STRING", "fields": None, "memberSchema": None},
        "type": "KEY",
    }


def test_a_push_query_over_query(client: SqlClient, stream: str) -> None:
    body = {"ksql": f"SELECT * FROM {stream} EMIT CHANGES LIMIT 2;", "streamsProperties": EARLIEST}
    answer = ask(client, "POST", "/query", body, Accept=KSQL_JSON)
    assert answer.content_type == KSQL_JSON
    header, *rows, last = answer.json
    assert header["header"]["schema"] == "`ID` STRING, `N` INTEGER"
    assert rows == [{"row": {"columns": ["a", 1]}}, {"row": {"columns": ["b", 2]}}]
    assert last == {"finalMessage": "Limit Reached"}
    assert len(answer.lines) == 4


def test_the_answer_of_ksql_5(client: SqlClient, stream: str) -> None:
    properties = {"ksql.streams.auto.offset.reset": "earliest", "ksql.compatibility.version": "5.3"}
    body = {"ksql": f"SELECT ID, N FROM {stream} LIMIT 1;", "streamsProperties": properties}
    row, last = map(orjson.loads, ask(client, "POST", "/query", body).lines)
    assert row == {"row": {"columns": ["a", 1]}, "errorMessage": None, "finalMessage": None}
    assert last == {"row": None, "errorMessage": None, "finalMessage": "Limit Reached"}


def test_every_select_of_ksql_5_is_a_push_query(client: SqlClient, stream: str) -> None:
    properties = {**EARLIEST, "ksql.compatibility.version": "5.3"}
    body = {
        "ksql": f"SELECT ID, COUNT(*) FROM {stream} GROUP BY ID LIMIT 2;",
        "streamsProperties": properties,
    }
    *rows, last = map(orjson.loads, ask(client, "POST", "/query", body).lines)
    assert [row["row"]["columns"] for row in rows] == [["a", 1], ["b", 1]]
    assert last["finalMessage"] == "Limit Reached"
    today = {"ksql": body["ksql"], "streamsProperties": EARLIEST}
    assert "EMIT CHANGES" in ask(client, "POST", "/query", today).json["message"]


@pytest.mark.parametrize(
    ("accept", "content_type"), [("*/*", DELIMITED), (DELIMITED, DELIMITED), (KSQL_JSON, KSQL_JSON)]
)
def test_query_stream_answers_in_the_wanted_type(
    client: SqlClient, stream: str, accept: str, content_type: str
) -> None:
    body = {"sql": f"SELECT * FROM {stream} EMIT CHANGES LIMIT 2;", "properties": EARLIEST}
    assert ask(client, "POST", "/query-stream", body, Accept=accept).content_type == content_type


def test_query_stream_as_one_array(client: SqlClient, stream: str) -> None:
    body = {"sql": f"SELECT * FROM {stream} EMIT CHANGES LIMIT 2;", "properties": EARLIEST}
    header, *rows = ask(client, "POST", "/query-stream", body, Accept="application/json").json
    assert (header["columnNames"], header["columnTypes"]) == (["ID", "N"], ["STRING", "INTEGER"])
    assert rows == [["a", 1], ["b", 2]]


def test_rows_are_inserted_and_acknowledged(client: SqlClient, stream: str) -> None:
    lines = b'{"target":"%s"}\n{"ID":"c","N":3}\n{"id":"d","n":4}' % stream.lower().encode()
    answer = ask(client, "POST", "/inserts-stream", lines)
    assert [orjson.loads(line) for line in answer.text.splitlines()] == [
        {"status": "ok", "seq": 0},
        {"status": "ok", "seq": 1},
    ]
    rows = client.rows(f"SELECT * FROM {stream} EMIT CHANGES LIMIT 4;", **EARLIEST)
    assert rows[2:] == [["c", 3], ["d", 4]]


def test_every_type_goes_in_and_comes_out_as_the_same_json(client: SqlClient) -> None:
    client.ksql(
        "CREATE STREAM types (B BOOLEAN, I INT, L BIGINT, D DOUBLE, P DECIMAL(6, 2), S STRING, Y BYTES, A DATE, "
        "T TIME, M TIMESTAMP, R ARRAY<INT>, Q MAP<STRING, DOUBLE>, O STRUCT<X INT, Z STRING>) "
        "WITH (KAFKA_TOPIC='types', VALUE_FORMAT='JSON', PARTITIONS=1);"
    )
    row = {
        "B": True,
        "I": -1,
        "L": 2**62,
        "D": 0.5,
        "P": 12.5,
        "S": "ü",
        "Y": "AP8=",
        "A": "2024-02-29",
        "T": "10:15:30",
        "M": "2024-02-29T10:15:30.123",
        "R": [1, None],
        "Q": {"k": 1.5},
        "O": {"X": 1, "Z": None},
    }
    ask(client, "POST", "/inserts-stream", b'{"target":"types"}\n' + orjson.dumps(row))
    assert client.rows("SELECT * FROM types EMIT CHANGES LIMIT 1;", **EARLIEST) == [list(row.values())]


def test_a_pull_query_asks_a_table_by_its_key(client: SqlClient, stream: str) -> None:
    client.ksql(
        f"CREATE SOURCE TABLE {stream}_TABLE (ID STRING PRIMARY KEY, N INT) "
        f"WITH (KAFKA_TOPIC='{stream}', VALUE_FORMAT='JSON');"
    )
    body = {"ksql": f"SELECT * FROM {stream}_TABLE WHERE ID = 'b';"}
    header, row = ask(client, "POST", "/query", body).json
    assert header["header"]["schema"] == "`ID` STRING KEY, `N` INTEGER"
    assert row == {"row": {"columns": ["b", 2]}}


def test_the_first_row_that_fails_is_the_last(client: SqlClient, stream: str) -> None:
    lines = b'{"target":"%s"}\n{"ID":"c","N":3}\n{"ID":"d","N":"x"}\n{"ID":"e","N":5}\n' % stream.encode()
    acks = ask(client, "POST", "/inserts-stream", lines, Accept="application/json").json
    assert [ack["status"] for ack in acks] == ["ok", "error"]
    assert acks[1]["seq"] == 1
    assert acks[1]["error_code"] == 40001


def test_inserts_into_nothing_are_refused_before_the_answer_begins(client: SqlClient) -> None:
    answer = ask(client, "POST", "/inserts-stream", b'{"target":"nothing"}\n{"A":1}')
    assert (answer.status, answer.json["error_code"]) == (400, 40001)


def test_close_query_ends_the_answer(client: SqlClient, stream: str, transients: Transients) -> None:
    with client.query(f"SELECT * FROM {stream} EMIT CHANGES;", **EARLIEST) as lines:
        query_id = next(lines)["queryId"]
        assert [next(lines), next(lines)] == [["a", 1], ["b", 2]]
        assert query_id in transients()
        client.ask("POST", "/close-query", {"queryId": query_id})
        assert list(lines) == []
    with pytest.raises(Refused) as refused:
        client.ask("POST", "/close-query", {"queryId": query_id})
    assert refused.value.code == 40000


def test_a_query_ends_when_its_client_leaves(client: SqlClient, stream: str, transients: Transients) -> None:
    before = transients()
    with RawConnection(client.url) as connection:
        connection.post("/query-stream", {"sql": f"SELECT * FROM {stream} EMIT CHANGES;"})
        connection.receive_until(b"columnTypes")
        wait_until(lambda: len(transients()) == len(before) + 1, "the query runs")
    wait_until(lambda: transients() == before, "the query has ended")


def test_a_query_ends_when_its_client_sends_no_more(
    client: SqlClient, stream: str, transients: Transients
) -> None:
    before = transients()
    with RawConnection(client.url) as connection:
        connection.post("/query-stream", {"sql": f"SELECT * FROM {stream} EMIT CHANGES;"})
        connection.receive_until(b"columnTypes")
        connection.socket.shutdown(1)
        assert connection.is_closed()
    wait_until(lambda: transients() == before, "the query has ended")


def test_there_may_be_so_many_push_queries(client: SqlClient, stream: str, transients: Transients) -> None:
    before = transients()
    query = {"sql": f"SELECT * FROM {stream} EMIT CHANGES;"}
    connections = [RawConnection(client.url) for _ in range(PUSH_QUERIES_MAX)]
    try:
        for connection in connections:
            connection.post("/query-stream", query)
            connection.receive_until(b"columnTypes")
        answer = ask(client, "POST", "/query-stream", query)
        assert (answer.status, answer.json["error_code"]) == (400, 40003)
    finally:
        for connection in connections:
            connection.socket.close()
    wait_until(lambda: transients() == before, "all queries have ended")


@pytest.mark.parametrize(
    ("method", "path", "headers", "status", "code"),
    [
        ("GET", "/ksql", {}, 405, 40500),
        ("GET", "/nothing", {}, 404, 40400),
        ("POST", "/ksql", {"Accept": "text/html"}, 406, 40600),
        ("POST", "/query-stream", {"Accept": "application/vnd.ksql.v1+protobuf"}, 406, 40600),
        ("POST", "/ksql", {"Content-Type": "text/xml"}, 415, 41500),
        ("POST", "/query-stream", {}, 400, 40000),
        ("POST", "/close-query", {}, 400, 40000),
        ("POST", "/inserts-stream", {}, 400, 40000),
    ],
)
def test_refusals(
    client: SqlClient, method: str, path: str, headers: dict[str, str], status: int, code: int
) -> None:
    answer = ask(client, method, path, b"{}" if method == "POST" else None, **headers)
    assert (answer.status, answer.json["error_code"]) == (status, code)
    assert answer.json["message"]


def test_a_limit_counts_the_rows_that_are_shown(client: SqlClient) -> None:
    client.ksql(
        "CREATE STREAM limited_in (ID STRING KEY, N INT) "
        "WITH (KAFKA_TOPIC='limited', VALUE_FORMAT='KAFKA', PARTITIONS=1);"
        "CREATE TABLE limited (ID STRING PRIMARY KEY, N INT) WITH (KAFKA_TOPIC='limited', VALUE_FORMAT='KAFKA');"
        "INSERT INTO limited_in VALUES ('a', 1); INSERT INTO limited_in (ID) VALUES ('a');"
        "INSERT INTO limited_in VALUES ('b', 2);"
    )
    assert client.rows("SELECT ID, N FROM limited EMIT CHANGES LIMIT 2;") == [["a", 1], ["b", 2]]
    shown = client.ask(
        "POST",
        "/query",
        {"ksql": "SELECT ID, N FROM limited EMIT CHANGES LIMIT 2;", "streamsProperties": EARLIEST},
    )
    assert [each["row"] for each in shown if "row" in each] == [
        {"columns": ["a", 1]},
        {"columns": ["a", None], "tombstone": True},
    ]
