"""HTTP/2 without TLS on the same port: at once, after an upgrade, and when a client behaves badly."""

import contextlib
import shutil
import subprocess

import orjson
import pytest
from h2.errors import ErrorCodes

from compat.server_process import wait_until
from e2e.sql.http.conftest import Transients
from e2e.sql.http.http2_client import Http2Client
from e2e.sql.server.sql_process import EARLIEST, SqlClient
from moldau.pipeline.sql.server.http.h2.limits import BURDENS_PER_S_MAX, CONNECTION_WINDOW_BYTES, STREAMS_MAX


def query(stream: str, more: str = "") -> dict[str, object]:
    return {"sql": f"SELECT * FROM {stream} EMIT CHANGES{more};", "properties": EARLIEST}


def test_every_row_is_a_frame(client: SqlClient, stream: str) -> None:
    with Http2Client(client.url) as http2:
        frames = http2.frames(http2.post("/query-stream", query(stream)), 3)
    assert [orjson.loads(frame) for frame in frames[1:]] == [["a", 1], ["b", 2]]


def test_many_requests_on_one_connection(client: SqlClient, stream: str) -> None:
    with Http2Client(client.url) as http2:
        endless = http2.post("/query-stream", query(stream))
        ids = [http2.post("/ksql", {"ksql": f"DESCRIBE {stream};"}) for _ in range(20)]
        for stream_id in ids:
            [found] = orjson.loads(http2.finish(stream_id))
            assert found["sourceDescription"]["name"] == stream
        assert len(http2.frames(endless, 3)) == 3


def test_rows_are_acknowledged_while_the_request_goes_on(client: SqlClient, stream: str) -> None:
    with Http2Client(client.url) as http2:
        stream_id = http2.post("/inserts-stream", b'{"target":"%s"}\n' % stream.encode(), ends=False)
        for sequence in range(3):
            http2.state.send_data(stream_id, b'{"ID":"x","N":%d}\n' % sequence)
            http2.flush()
            acks = [orjson.loads(frame) for frame in http2.frames(stream_id, sequence + 1)]
            assert acks[-1] == {"seq": sequence, "status": "ok"}
        http2.state.end_stream(stream_id)
        http2.flush()
        http2.finish(stream_id)


def test_a_reset_ends_the_query(client: SqlClient, stream: str, transients: Transients) -> None:
    before = transients()
    with Http2Client(client.url) as http2:
        stream_id = http2.post("/query-stream", query(stream))
        http2.frames(stream_id, 3)
        wait_until(lambda: len(transients()) == len(before) + 1, "the query runs")
        http2.state.reset_stream(stream_id)
        http2.flush()
        wait_until(lambda: transients() == before, "the query has ended")
        assert http2.finish(http2.post("/ksql", {"ksql": "SHOW TABLES;"}))


def test_a_large_body_goes_both_ways(client: SqlClient) -> None:
    statement = f"/* {'x' * 300_000} */ SHOW FUNCTIONS;"
    with Http2Client(client.url) as http2:
        stream_id = http2.post("/ksql", b"", ends=False)
        content = orjson.dumps({"ksql": statement})
        while content:
            room = min(http2.state.local_flow_control_window(stream_id), 16_384)
            if room == 0:
                http2.read()
                continue
            http2.state.send_data(stream_id, content[:room], end_stream=len(content) <= room)
            content = content[room:]
            http2.flush()
        [found] = orjson.loads(http2.finish(stream_id))
    assert len(found["functions"]) > 20


def test_bodies_that_nobody_read_do_not_fill_the_connection(client: SqlClient) -> None:
    with Http2Client(client.url) as http2:
        for _ in range(2 * CONNECTION_WINDOW_BYTES // 50_000):
            stream_id = http2.post("/nothing", b"", ends=False)
            for _ in range(5):
                http2.state.send_data(stream_id, b"x" * 10_000)
            http2.flush()
            http2.finish(stream_id)
            assert http2.statuses[stream_id] == 404
            while http2.state.outbound_flow_control_window < CONNECTION_WINDOW_BYTES // 2:
                assert http2.read()


def test_a_refusal_comes_before_the_whole_body(client: SqlClient) -> None:
    with Http2Client(client.url) as http2:
        stream_id = http2.post("/ksql", b"{}", ends=False, **{"content-type": "text/xml"})
        http2.finish(stream_id)
        assert http2.statuses[stream_id] == 415
        while stream_id not in http2.resets:
            assert http2.read()
        assert http2.resets[stream_id] == ErrorCodes.NO_ERROR


def test_a_reader_that_stops_holds_up_nobody_else(client: SqlClient, stream: str) -> None:
    with Http2Client(client.url) as stopped:
        stopped.post("/ksql", {"ksql": "SHOW FUNCTIONS; " * 40})
        while not stopped.bodies:
            stopped.read(consumes=False)
        with Http2Client(client.url) as http2:
            assert http2.finish(http2.post("/ksql", {"ksql": "SHOW TABLES;"}))


def test_a_flood_of_pings_ends_the_connection(client: SqlClient) -> None:
    with Http2Client(client.url) as http2:
        with contextlib.suppress(ConnectionError):
            for number in range(20 * BURDENS_PER_S_MAX):
                http2.state.ping(number.to_bytes(8, "big"))
            http2.flush()
        assert http2.is_closed()
    with Http2Client(client.url) as http2:
        assert http2.finish(http2.post("/ksql", {"ksql": "SHOW TABLES;"}))


def test_a_flood_of_resets_ends_the_connection(client: SqlClient) -> None:
    with Http2Client(client.url) as http2:
        with contextlib.suppress(ConnectionError):
            for _ in range(4 * BURDENS_PER_S_MAX):
                http2.state.reset_stream(http2.post("/ksql", b""))
        assert http2.is_closed()
    with Http2Client(client.url) as http2:
        assert http2.finish(http2.post("/ksql", {"ksql": "SHOW TABLES;"}))


def test_the_client_is_told_how_many_requests_it_may_make_at_a_time(client: SqlClient) -> None:
    with Http2Client(client.url) as http2:
        http2.finish(http2.post("/ksql", {"ksql": "SHOW TABLES;"}))
        assert http2.state.remote_settings.max_concurrent_streams == STREAMS_MAX


@pytest.mark.parametrize(
    "garbage",
    [b"\x00" * 100, b"\xff" * (1 << 20), b"\x00\x00\x04\x08\x00\x00\x00\x00\x00" + b"\x00" * 4],
    ids=["zeros", "a frame of 16 MB", "an empty window update"],
)
def test_broken_frames_end_the_connection(client: SqlClient, garbage: bytes) -> None:
    with Http2Client(client.url) as http2:
        with contextlib.suppress(ConnectionError):
            http2.socket.sendall(garbage)
        assert http2.is_closed()


@pytest.mark.parametrize("option", ["--http1.1", "--http2", "--http2-prior-knowledge"])
def test_curl(client: SqlClient, stream: str, option: str) -> None:
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    body = orjson.dumps(query(stream, " LIMIT 2"))
    found = subprocess.run(
        ["curl", "-sS", option, "--max-time", "60", "-X", "POST", f"{client.url}/query-stream", "-d", body],
        capture_output=True,
        check=True,
        text=True,
    )
    header, *rows = (orjson.loads(line) for line in found.stdout.splitlines())
    assert header["columnNames"] == ["ID", "N"]
    assert rows == [["a", 1], ["b", 2]]
