"""Functions of the user that block harm only the queries that call them."""

import contextlib
from pathlib import Path

import pytest

from compat.server_process import wait_until
from e2e.sql.http.raw_http import RawConnection
from e2e.sql.server.sql_process import Refused, SqlProcess
from moldau.testing import LocalCluster

NAPS = """
import time

from moldau.pipeline.sql.functions.user import udf


@udf
def nap(text: str) -> str:
    time.sleep(100_000)
    return text


@udf
def shout(text: str) -> str:
    return text.upper()
"""
QUERIES_MAX = 8
THREADS_MAX = 40
"""More than asyncio has for calls that block."""


def test_blocked_queries_harm_no_others(cluster: LocalCluster, tmp_path: Path) -> None:
    (tmp_path / "ext").mkdir()
    (tmp_path / "ext" / "naps.py").write_text(NAPS)
    settings = {
        "ksql.spark.lazy": "true",
        "ksql.service.id": "naps_",
        "ksql.extension.dir": str(tmp_path / "ext"),
        "ksql.max.push.queries": str(QUERIES_MAX),
    }
    server = SqlProcess(tmp_path / "server", cluster.bootstrap_servers, tmp_path / "state", settings).start()
    client = server.client
    try:
        client.ksql(
            "CREATE STREAM naps (ID STRING KEY, T STRING) WITH (KAFKA_TOPIC='naps', VALUE_FORMAT='JSON', PARTITIONS=1);"
            "CREATE SOURCE TABLE beds (ID STRING PRIMARY KEY, T STRING) WITH (KAFKA_TOPIC='naps', VALUE_FORMAT='JSON');"
            "INSERT INTO naps VALUES ('a', 'x'); INSERT INTO naps VALUES ('b', 'y');"
        )
        with contextlib.ExitStack() as blocked:
            for query in (
                *["SELECT NAP(T) FROM naps EMIT CHANGES;"] * 5,
                "SELECT COUNT(*) FROM naps WHERE NAP(T) = 'x' GROUP BY ID EMIT CHANGES;",
            ):
                blocked.enter_context(client.query(query))
            blocked.enter_context(client.query("SELECT NAP(T) FROM beds WHERE ID = 'a';"))
            assert client.rows("SELECT T FROM naps EMIT CHANGES LIMIT 2;") == [["x"], ["y"]]
            assert client.rows("SELECT SHOUT(T) FROM naps EMIT CHANGES LIMIT 2;") == [["X"], ["Y"]]
            assert client.rows("SELECT T FROM naps;") == [["x"], ["y"]]
            assert client.rows("SELECT T FROM beds WHERE ID = 'a';") == [["x"]]
        # The clients are gone, and so are their queries; the functions hold their threads, and no more than these.
        wait_until(lambda: not client.ksql("SHOW QUERIES;")[0]["queries"], "the queries have ended")
        with client.query("SELECT NAP(T) FROM naps EMIT CHANGES;"):
            with pytest.raises(Refused, match="8 queries call functions of the user"):
                client.rows("SELECT SHOUT(T) FROM naps;")
            assert client.rows("SELECT T FROM naps;") == [["x"], ["y"]]
        assert server.stop() == 0
    finally:
        server.kill9()
    assert "Traceback" not in server.log_text()


def test_blocked_inserts_harm_no_others(cluster: LocalCluster, tmp_path: Path) -> None:
    (tmp_path / "ext").mkdir()
    (tmp_path / "ext" / "naps.py").write_text(NAPS)
    settings = {
        "ksql.spark.lazy": "true",
        "ksql.service.id": "nap_inserts_",
        "ksql.extension.dir": str(tmp_path / "ext"),
    }
    server = SqlProcess(tmp_path / "server", cluster.bootstrap_servers, tmp_path / "state", settings).start()
    client = server.client
    # With several statements they are tried first.
    statement = {"ksql": "SET 'auto.offset.reset'='earliest'; INSERT INTO dreams VALUES (NAP('x'));"}
    try:
        client.ksql(
            "CREATE STREAM dreams (T STRING) WITH (KAFKA_TOPIC='dreams', FORMAT='JSON', PARTITIONS=1);"
        )
        with contextlib.ExitStack() as blocked:
            for _ in range(THREADS_MAX):
                connection = blocked.enter_context(RawConnection(client.url))
                connection.post("/ksql", statement)
            client.ksql("INSERT INTO dreams VALUES (SHOUT('y'));")
            assert client.rows("SELECT T FROM dreams;") == [["Y"]]
        assert server.stop() == 0
    finally:
        server.kill9()


def test_a_query_with_its_own_thread_goes_on(cluster: LocalCluster, tmp_path: Path) -> None:
    """It is given what is written later, and paused while its client has no room."""
    (tmp_path / "ext").mkdir()
    (tmp_path / "ext" / "naps.py").write_text(NAPS)
    settings = {
        "ksql.spark.lazy": "true",
        "ksql.service.id": "shouts_",
        "ksql.extension.dir": str(tmp_path / "ext"),
    }
    with SqlProcess(tmp_path / "server", cluster.bootstrap_servers, tmp_path / "state", settings) as server:
        client = server.client
        client.ksql(
            "CREATE STREAM shouts (T STRING) WITH (KAFKA_TOPIC='shouts', VALUE_FORMAT='JSON', PARTITIONS=2);"
            "INSERT INTO shouts VALUES ('x');"
        )
        with client.query("SELECT SHOUT(T) FROM shouts EMIT CHANGES;") as lines:
            next(lines)
            assert next(lines) == ["X"]
            client.ksql("INSERT INTO shouts VALUES ('y');")
            assert next(lines) == ["Y"]
        assert client.rows(
            "SELECT SHOUT(T), COUNT(*) FROM shouts GROUP BY SHOUT(T) EMIT CHANGES LIMIT 2;"
        ) in (
            [["X", 1], ["Y", 1]],
            [["Y", 1], ["X", 1]],
        )
