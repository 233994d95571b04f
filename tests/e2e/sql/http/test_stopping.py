"""A server that stops: running queries get a complete answer, and nobody waits for them."""

import time
from pathlib import Path

import orjson

from e2e.sql.http.http2_client import Http2Client
from e2e.sql.http.raw_http import RawConnection
from e2e.sql.server.sql_process import EARLIEST, SqlProcess
from moldau.testing import LocalCluster

STOP_S_MAX = 20


def test_running_queries_end_with_a_complete_answer(cluster: LocalCluster, tmp_path: Path) -> None:
    settings = {"ksql.spark.lazy": "true", "ksql.service.id": "stopping_"}
    query = "SELECT * FROM visits EMIT CHANGES;"
    server = SqlProcess(tmp_path / "server", cluster.bootstrap_servers, tmp_path / "state", settings).start()
    try:
        server.client.ksql(
            "CREATE STREAM visits (N INT) WITH (KAFKA_TOPIC='stopping', VALUE_FORMAT='JSON', PARTITIONS=1);"
            "INSERT INTO visits VALUES (1);"
        )
        with RawConnection(server.client.url) as http1, Http2Client(server.client.url) as http2:
            http1.post("/query", {"ksql": query, "streamsProperties": EARLIEST})
            begun = http1.receive_until(b'{"row":')
            stream_id = http2.post("/query-stream", {"sql": query, "properties": EARLIEST})
            http2.frames(stream_id, 2)
            began = time.monotonic()
            assert server.stop() == 0, "its own stop has not run to its end"
            assert time.monotonic() - began < STOP_S_MAX
            assert b'{"finalMessage":"Query Completed"}]' in begun + http1.receive_until(b"0\r\n\r\n")
            assert orjson.loads(http2.finish(stream_id).splitlines()[1]) == [1]
    finally:
        server.kill9()
    assert "ERROR" not in server.log_text()
