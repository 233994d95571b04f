"""Two servers with one service id: one hosts the queries, the other serves, and takes over when the first dies."""

import os
from pathlib import Path

import pytest

from compat.moldau_broker import MoldauBroker
from compat.server_process import wait_until
from e2e.sql.server.sql_process import EARLIEST, PATIENCE_S, SqlProcess
from e2e.sql.server.test_persistent_queries import wait_rows

pytestmark = pytest.mark.skipif("MOLDAU_KILL_ROUNDS" not in os.environ, reason="starts Spark twice")
COUNTS = "SELECT ID, N FROM COUNTS WHERE ID = 'a';"


def test_the_other_server_takes_over(own_broker: MoldauBroker, tmp_path: Path) -> None:
    state = tmp_path / "state"
    with (
        SqlProcess(tmp_path / "one", own_broker.bootstrap, state) as one,
        SqlProcess(tmp_path / "two", own_broker.bootstrap, state) as two,
    ):
        two.client.ksql(
            "CREATE STREAM S (ID STRING KEY, V INT) WITH (KAFKA_TOPIC='s', VALUE_FORMAT='JSON', PARTITIONS=1);"
            "CREATE TABLE COUNTS AS SELECT ID, COUNT(*) AS N FROM S GROUP BY ID;",
            **EARLIEST,
        )
        one.client.ksql("INSERT INTO S VALUES ('a', 1);")
        for server in (one, two):
            wait_rows(server.client, COUNTS, [["a", 1]])
        assert one.driver_pid() is not None
        assert two.driver_pid() is None
        one.kill9()
        two.client.ksql("INSERT INTO S VALUES ('a', 2);")
        wait_until(lambda: two.driver_pid() is not None, "the second server hosts the queries", PATIENCE_S)
        wait_rows(two.client, COUNTS, [["a", 2]])
        one.start()
        one.client.ksql("INSERT INTO S VALUES ('a', 3);")
        wait_rows(one.client, COUNTS, [["a", 3]])
        assert one.driver_pid() is None
