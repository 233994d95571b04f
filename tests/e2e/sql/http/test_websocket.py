"""/ws/query, as old consoles and command lines use it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlencode

import orjson
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from compat.server_process import wait_until
from e2e.sql.http.conftest import Transients
from e2e.sql.server.sql_process import EARLIEST, SqlClient

PATIENCE_S = 60


@contextmanager
def asked(client: SqlClient, text: str, **parameters: str) -> Iterator[ClientConnection]:
    request = orjson.dumps({"ksql": text, "streamsProperties": EARLIEST}).decode()
    query = urlencode({"request": request, **parameters})
    with connect(f"ws{client.url.removeprefix('http')}/ws/query?{query}", open_timeout=PATIENCE_S) as socket:
        yield socket


def messages(socket: ClientConnection) -> tuple[list[Any], int]:
    """All of them, and the code with which the server closes."""
    found = []
    try:
        while True:
            found.append(orjson.loads(socket.recv(timeout=PATIENCE_S)))
    except ConnectionClosed as closed:
        assert closed.rcvd is not None
        return found, closed.rcvd.code


def test_a_schema_then_rows_then_a_final_message(client: SqlClient, stream: str) -> None:
    with asked(client, f"SELECT ID, N FROM {stream} EMIT CHANGES LIMIT 2;", version="1") as socket:
        (schema, *rows), code = messages(socket)
    assert [(field["name"], field["schema"]["type"]) for field in schema] == [
        ("ID", "STRING"),
        ("N", "INTEGER"),
    ]
    assert rows == [
        {"row": {"columns": ["a", 1]}},
        {"row": {"columns": ["b", 2]}},
        {"finalMessage": "Limit Reached"},
        {"error": "done"},
    ]
    assert code == 1000


def test_a_refused_query_closes_with_the_reason(client: SqlClient) -> None:
    with asked(client, "SELECT * FROM nothing EMIT CHANGES;") as socket:
        [said], code = messages(socket)
    assert "NOTHING does not exist" in said["error"]
    assert code == 1003


@pytest.mark.parametrize("parameters", [{"request": ""}, {"request": "{"}, {"version": "7"}])
def test_bad_requests(client: SqlClient, parameters: dict[str, str]) -> None:
    with asked(client, "SELECT 1;", **parameters) as socket:
        [said], code = messages(socket)
    assert said["error"]
    assert code == 1003


def test_a_query_ends_when_its_client_leaves(client: SqlClient, stream: str, transients: Transients) -> None:
    before = transients()
    with asked(client, f"SELECT * FROM {stream} EMIT CHANGES;") as socket:
        socket.recv(timeout=PATIENCE_S)
        wait_until(lambda: len(transients()) == len(before) + 1, "the query runs")
    wait_until(lambda: transients() == before, "the query has ended")


def test_other_paths_are_no_websockets(client: SqlClient) -> None:
    with pytest.raises(InvalidStatus), connect(f"ws{client.url.removeprefix('http')}/ws/other"):
        pass
