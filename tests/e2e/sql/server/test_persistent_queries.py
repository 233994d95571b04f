"""Persistent queries on Spark: exactly once, through the death of the driver and of the server."""

import os
import signal
import time
from pathlib import Path
from typing import Any

from compat.moldau_broker import MoldauBroker
from compat.server_process import wait_until
from e2e.sql.server.sql_process import EARLIEST, PATIENCE_S, SqlClient, SqlProcess

BACK_S_MAX = 30
MINUTE_MS = 60_000
PER_MINUTE = "SELECT USER_ID, WINDOWSTART, N FROM PER_MINUTE WHERE USER_ID = '{user}';"


def test_queries_are_exact_through_the_death_of_driver_and_server(
    own_broker: MoldauBroker, tmp_path: Path
) -> None:
    server = SqlProcess(tmp_path / "server", own_broker.bootstrap, tmp_path / "state")
    with server:
        client = server.client
        client.ksql(
            "CREATE STREAM VIEWS (USER_ID STRING KEY, PAGE STRING, MS INT) "
            "WITH (KAFKA_TOPIC='views', VALUE_FORMAT='JSON', PARTITIONS=2);"
        )
        created = client.status("CREATE STREAM SLOW AS SELECT * FROM VIEWS WHERE MS > 100;", **EARLIEST)
        assert "Spark is starting" in created["message"]
        client.status(
            "CREATE TABLE PER_MINUTE AS SELECT USER_ID, COUNT(*) AS N FROM VIEWS "
            "WINDOW TUMBLING (SIZE 1 MINUTE) GROUP BY USER_ID;",
            **EARLIEST,
        )
        insert(client, "ann", [(50, 1), (150, 2), (250, MINUTE_MS + 1)])
        wait_rows(client, PER_MINUTE.format(user="ann"), [["ann", 0, 2], ["ann", MINUTE_MS, 1]])
        pushed = client.rows("SELECT USER_ID, MS FROM SLOW EMIT CHANGES LIMIT 2;")
        assert pushed == [["ann", 150], ["ann", 250]]

        before = server.driver_pid()
        assert before is not None
        os.kill(before, signal.SIGKILL)
        insert(client, "ann", [(350, 3)])
        wait_rows(client, PER_MINUTE.format(user="ann"), [["ann", 0, 3], ["ann", MINUTE_MS, 1]])
        assert server.driver_pid() not in (None, before)

        server.kill9()
        killed = time.monotonic()
        server.start()
        states = client.query_states()
        assert time.monotonic() - killed < BACK_S_MAX
        assert len(states) == 2
        insert(client, "bob", [(500, 5)])
        wait_rows(client, PER_MINUTE.format(user="bob"), [["bob", 0, 1]])
        everything = client.rows("SELECT USER_ID, MS FROM SLOW EMIT CHANGES LIMIT 4;")
        assert sorted(everything) == [["ann", 150], ["ann", 250], ["ann", 350], ["bob", 500]]

        client.ksql("DROP TABLE PER_MINUTE DELETE TOPIC;")
        assert client.query_states() == {created["queryId"]: "RUNNING"}
        insert(client, "bob", [(600, 6)])
        assert len(client.rows("SELECT * FROM SLOW EMIT CHANGES LIMIT 5;")) == 5
        assert "COUNT" not in "".join(name for name in topics(client) if name.startswith("_confluent"))


def insert(client: SqlClient, user: str, views: list[tuple[int, int]]) -> None:
    """Views of so many milliseconds, at a time."""
    rows = [
        f"INSERT INTO VIEWS (USER_ID, PAGE, MS, ROWTIME) VALUES ('{user}', 'home', {ms}, {at});"
        for ms, at in views
    ]
    client.ksql("\n".join(rows))


def wait_rows(client: SqlClient, sql: str, expected: list[list[Any]]) -> None:
    """Until a pull query gives them. A count that is once too high never comes down again."""
    found: list[list[Any]] = []

    def look() -> bool:
        found[:] = sorted(client.rows(sql))
        return found == expected

    try:
        wait_until(look, "", PATIENCE_S)
    except TimeoutError:
        raise AssertionError(f"expected {expected}, found {found}") from None


def topics(client: SqlClient) -> list[str]:
    (answer,) = client.ksql("SHOW ALL TOPICS;")
    return [topic["name"] for topic in answer["topics"]]
