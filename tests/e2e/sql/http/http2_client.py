"""A client of HTTP/2 without TLS, with the `h2` library: what it sends is up to the test."""

import socket
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import h2.connection
import h2.events
import orjson

PATIENCE_S = 60


class Http2Client:
    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._authority = f"{parts.hostname}:{parts.port}"
        self.socket = socket.create_connection((parts.hostname or "", parts.port or 80), PATIENCE_S)
        self.state = h2.connection.H2Connection()
        self.state.initiate_connection()
        self.flush()
        self.bodies: dict[int, list[bytes]] = {}
        """The data frames of each stream."""
        self.statuses: dict[int, int] = {}
        self.ended: set[int] = set()
        self.resets: dict[int, int] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.socket.close()

    def flush(self) -> None:
        self.socket.sendall(self.state.data_to_send())

    def post(self, path: str, body: Any, *, ends: bool = True, **headers: str) -> int:
        """Begins a request; the id of its stream."""
        stream_id = self.state.get_next_available_stream_id()
        pseudo = [(":method", "POST"), (":path", path), (":scheme", "http"), (":authority", self._authority)]
        self.state.send_headers(stream_id, [*pseudo, *headers.items()])
        content = body if isinstance(body, bytes) else orjson.dumps(body)
        self.state.send_data(stream_id, content, end_stream=ends)
        self.flush()
        return stream_id

    def read(self, *, consumes: bool = True) -> bool:
        """One portion of what the server sends; False where it has closed the connection."""
        data = self.socket.recv(65536)
        if not data:
            return False
        for event in self.state.receive_data(data):
            match event:
                case h2.events.ResponseReceived(stream_id=stream_id, headers=headers):
                    self.statuses[stream_id] = int(dict(headers)[b":status"])
                case h2.events.DataReceived(stream_id=stream_id, data=part, flow_controlled_length=size):
                    self.bodies.setdefault(stream_id, []).append(bytes(part))
                    if consumes:
                        self.state.acknowledge_received_data(size, stream_id)
                case h2.events.StreamEnded(stream_id=stream_id):
                    self.ended.add(stream_id)
                case h2.events.StreamReset(stream_id=stream_id, error_code=code):
                    self.resets[stream_id] = int(code or 0)
        self.flush()
        return True

    def finish(self, stream_id: int) -> bytes:
        """The whole body."""
        while stream_id not in self.ended:
            assert stream_id not in self.resets
            assert self.read()
        return b"".join(self.bodies.get(stream_id, []))

    def frames(self, stream_id: int, count: int) -> list[bytes]:
        """The first data frames of a body that goes on."""
        while len(self.bodies.get(stream_id, [])) < count:
            assert self.read()
        return self.bodies[stream_id][:count]

    def is_closed(self) -> bool:
        """Waits until the server closes the connection."""
        try:
            while self.read():
                pass
        except ConnectionError:
            pass
        return True
