"""Requests that are too large, broken, slow or never read: a clear error, and others are served."""

import contextlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import orjson
import pytest

from compat.server_process import wait_until
from e2e.process_facts import MB, forget_peak, peak_resident_bytes
from e2e.sql.http.conftest import PUSH_QUERIES_MAX, Transients
from e2e.sql.http.raw_http import RawConnection
from e2e.sql.server.sql_process import EARLIEST, Refused, SqlClient, SqlProcess

ROWS = 5_000
READERS = PUSH_QUERIES_MAX - 5
GROWTH_BYTES_MAX = 150 * MB


@pytest.fixture(autouse=True)
def others_are_served(client: SqlClient) -> Iterator[None]:
    yield
    assert client.ask("GET", "/info")


def refusal(client: SqlClient, body: object) -> Refused:
    with pytest.raises(Refused) as refused:
        client.ask("POST", "/ksql", body)
    assert refused.value.message
    return refused.value


def test_a_body_that_is_too_large(client: SqlClient) -> None:
    assert refusal(client, {"ksql": "x" * (3 << 20)}).code == 41300


def test_a_megabyte_of_sql_holds_up_nobody_else(client: SqlClient) -> None:
    columns = ", ".join(f"A{number} INT" for number in range(70_000))
    texts = [f"CREATE STREAM s ({columns}) WITH (KAFKA_TOPIC='nope');", "SELECT " + "x " * 500_000]
    with ThreadPoolExecutor() as threads:
        running = [threads.submit(refusal, client, {"ksql": text}) for text in texts]
        answered = 0
        while not all(one.done() for one in running):
            client.ask("GET", "/info")
            answered += not all(one.done() for one in running)
    assert answered > 0
    assert [one.result().code for one in running] == [40001, 40001]


@pytest.mark.parametrize(
    "text",
    [
        "CREATE STREAM s AS SELECT 'unterminated FROM t;",
        f"CREATE STREAM s AS SELECT {'(' * 10_000}1{')' * 10_000} FROM t;",
        "CREATE STREAM s (a NOSUCHTYPE) WITH (KAFKA_TOPIC='t');",
        "\x00\x01\x02;",
        "SHOW STREAMS" + ";" * 1_000 + "🦀;",
    ],
    ids=["quote", "parentheses", "type", "control characters", "emoji"],
)
def test_broken_sql(client: SqlClient, text: str) -> None:
    found = refusal(client, {"ksql": text})
    assert (found.status, found.code) == (400, 40001)
    assert found.body["entities"] == []


def test_a_head_that_is_too_large(client: SqlClient) -> None:
    with RawConnection(client.url) as connection:
        with contextlib.suppress(ConnectionError):
            connection.socket.sendall(b"GET /info HTTP/1.1\r\nX: " + b"y" * (1 << 20))
        assert connection.is_closed()


@pytest.mark.parametrize(
    "garbage", [b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", b"hello\r\n\r\n"]
)
def test_what_is_no_http(client: SqlClient, garbage: bytes) -> None:
    with RawConnection(client.url) as connection:
        connection.socket.sendall(garbage)
        assert connection.is_closed()


def test_bytes_that_are_no_text(client: SqlClient) -> None:
    with RawConnection(client.url) as connection:
        connection.post("/ksql", b'{"ksql": "\xff\xfe"}')
        assert b"Invalid JSON" in connection.receive_until(b"}")


def test_a_body_that_never_ends(client: SqlClient) -> None:
    connections = [RawConnection(client.url) for _ in range(100)]
    try:
        for connection in connections:
            connection.socket.sendall(b"POST /ksql HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n{")
        assert client.ksql("SHOW STREAMS;")
    finally:
        for connection in connections:
            connection.socket.close()


def test_readers_that_do_not_read(
    sql: SqlProcess, client: SqlClient, stream: str, transients: Transients
) -> None:
    """The rows wait at the query, not in memory for each reader."""
    before = transients()
    with RawConnection(client.url) as connection:
        rows = b"".join(b'{"ID":"%s","N":%d}\n' % (b"x" * 1_000, number) for number in range(ROWS))
        connection.post("/inserts-stream", b'{"target":"%s"}\n%s' % (stream.encode(), rows))
        connection.receive_until(b'"seq":%d' % (ROWS - 1))
    forget_peak(sql.pid)
    resident = peak_resident_bytes(sql.pid)
    connections = [RawConnection(client.url, receive_buffer=4096) for _ in range(READERS)]
    query = {"sql": f"SELECT * FROM {stream} EMIT CHANGES;", "properties": EARLIEST}
    try:
        for connection in connections:
            connection.post("/query-stream", query)
        wait_until(lambda: len(transients()) == len(before) + READERS, "all readers have their query")
        found = client.rows(f"SELECT N FROM {stream} EMIT CHANGES LIMIT {ROWS + 2};", **EARLIEST)
        assert len(found) == ROWS + 2
        assert peak_resident_bytes(sql.pid) - resident < GROWTH_BYTES_MAX
    finally:
        for connection in connections:
            connection.socket.close()
    wait_until(lambda: transients() == before, "all queries have ended")


def test_hundreds_of_idle_connections(client: SqlClient) -> None:
    connections = [RawConnection(client.url) for _ in range(500)]
    try:
        assert client.ksql("SHOW STREAMS;")
    finally:
        for connection in connections:
            connection.socket.close()


def test_statements_one_after_the_other_without_waiting(client: SqlClient) -> None:
    with RawConnection(client.url) as connection:
        for _ in range(50):
            connection.post("/ksql", orjson.dumps({"ksql": "SHOW TYPES;"}))
        found = b""
        while found.count(b"type_list") < 50:
            found += connection.receive_until(b"}")
