"""Queries that are paused, replaced, ended and that fail, each without effect on the others."""

import itertools
from pathlib import Path
from typing import Any

from compat.moldau_broker import MoldauBroker
from compat.server_process import wait_until
from e2e.sql.server.sql_process import EARLIEST, PATIENCE_S, SqlClient, SqlProcess

STREAM = "(ID STRING KEY, V INT) WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='JSON', PARTITIONS=1)"


def test_each_query_is_changed_on_its_own(own_broker: MoldauBroker, tmp_path: Path) -> None:
    state = tmp_path / "state"
    with SqlProcess(tmp_path / "server", own_broker.bootstrap, state) as server:
        client = server.client
        client.ksql(f"CREATE STREAM S {STREAM.format(topic='s')};")
        client.ksql(f"CREATE STREAM OTHER {STREAM.format(topic='other')};")
        insert(client, -1)
        client.ksql("CREATE STREAM STEADY AS SELECT ID, V FROM S;")
        changing = client.status("CREATE STREAM CHANGING AS SELECT ID, V FROM S WHERE V > 0;", **EARLIEST)
        doomed = client.status("CREATE STREAM DOOMED AS SELECT ID, V FROM OTHER;", **EARLIEST)
        insert(client, 1)
        # It reads from the latest record on, which was the last one when it was created.
        assert read(client, "STEADY", 1) == read(client, "CHANGING", 1) == [1]

        client.ksql(f"PAUSE {changing['queryId']};")
        assert client.query_states()[changing["queryId"]] == "PAUSED"
        insert(client, 2)
        assert read(client, "STEADY", 2) == [1, 2]
        client.ksql(f"RESUME {changing['queryId']};")
        assert read(client, "CHANGING", 2) == [1, 2]

        client.status("CREATE OR REPLACE STREAM CHANGING AS SELECT ID, V FROM S WHERE V > 100;", **EARLIEST)
        small = itertools.count(3)
        wait_until(lambda: keeps_only_large(client, next(small)), "the query is replaced", PATIENCE_S)

        client.ksql(f"TERMINATE {doomed['queryId']}; DROP STREAM DOOMED DELETE TOPIC;")
        wait_until(lambda: not leftovers(state, doomed["queryId"]), "nothing of it is left", PATIENCE_S)

        described = describe(client, "STEADY")
        assert described["queryOffsetSummaries"]
        assert "total-messages" in described["statistics"]
        restarts = [line for line in client.ask("GET", "/metrics").splitlines() if "restarts_total{" in line]
        assert restarts
        assert all(line.endswith(" 0") for line in restarts)


def insert(client: SqlClient, value: int) -> None:
    client.ksql(f"INSERT INTO S VALUES ('a', {value});")


def keeps_only_large(client: SqlClient, small: int) -> bool:
    """Whether a small value is dropped that was written before a large one."""
    large = 100 + small
    insert(client, small)
    insert(client, large)
    found: set[int] = set()

    def has_come() -> bool:
        found.update(row[1] for row in client.rows("SELECT ID, V FROM CHANGING;"))
        return large in found

    wait_until(has_come, f"{large} has come", PATIENCE_S)
    return small not in found


def read(client: SqlClient, stream: str, count: int) -> list[Any]:
    """The first values; waits for them."""
    rows = client.rows(f"SELECT ID, V FROM {stream} EMIT CHANGES LIMIT {count};", **EARLIEST)
    return [row[1] for row in rows]


def leftovers(state: Path, query_id: str) -> list[str]:
    return [path.name for path in state.rglob(f"*{query_id}*")]


def describe(client: SqlClient, name: str) -> dict[str, Any]:
    (answer,) = client.ksql(f"DESCRIBE {name} EXTENDED;")
    found: dict[str, Any] = answer["sourceDescription"]
    return found
