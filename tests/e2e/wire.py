"""Kafka's protocol over a bare socket: what no client library would send, and answers as they come.

Owns one socket and the framing. What the requests ask for is up to the caller; `conversation` has the usual ones.
"""

import contextlib
import itertools
import select
import socket
import struct
import time
from typing import Any, Self

from moldau.protocol import codec
from moldau.protocol.headers import RequestHeader, decode_response_header, encode_request_header
from moldau.protocol.spec import Request

TIMEOUT_S = 15
LENGTH = struct.Struct(">i")

_correlation_ids = itertools.count(1)


class HungUp(Exception):
    """The broker closed the connection where an answer was due."""


def framed(body: bytes) -> bytes:
    return LENGTH.pack(len(body)) + body


def request_bytes(request: Request, version: int, correlation_id: int = 1, client_id: str = "e2e") -> bytes:
    """Header and body, without the length before them."""
    header = RequestHeader(request.API_KEY, version, correlation_id, client_id)
    return encode_request_header(header) + codec.encode(request, version)


class WireClient:
    def __init__(
        self,
        port: int,
        host: str = "127.0.0.1",
        *,
        timeout_s: float = TIMEOUT_S,
        receive_buffer_bytes: int | None = None,
    ) -> None:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.socket = socket.socket(family)
        if receive_buffer_bytes is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer_bytes)
        self.socket.settimeout(timeout_s)
        try:
            self.socket.connect((host, port))
        except OSError:
            self.socket.close()
            raise
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.local_port: int = self.socket.getsockname()[1]

    def call(self, request: Request, version: int | None = None) -> Any:
        """Sends, waits, decodes."""
        chosen = request.VERSIONS.high if version is None else version
        correlation_id = self.send(request, chosen)
        return self.receive(type(request), chosen, correlation_id)

    def send(self, request: Request, version: int) -> int:
        correlation_id = next(_correlation_ids)
        self.send_bytes(framed(request_bytes(request, version, correlation_id)))
        return correlation_id

    def send_bytes(self, data: bytes) -> None:
        self.socket.sendall(data)

    def try_to_send(self, data: bytes) -> None:
        """For data the broker may well not want to hear to the end."""
        with contextlib.suppress(ConnectionError):
            self.socket.sendall(data)

    def receive(self, request: type[Request], version: int, correlation_id: int) -> Any:
        frame = self.receive_frame()
        received_id, position = decode_response_header(request.API_KEY, version, frame)
        assert received_id == correlation_id, f"answer {received_id} where {correlation_id} was due"
        answer, end = codec.decode(request.RESPONSE, version, frame, position)
        assert end == len(frame), f"{len(frame) - end} bytes left over after {answer}"
        return answer

    def receive_frame(self) -> bytes:
        (size,) = LENGTH.unpack(self._receive_exactly(4))
        return self._receive_exactly(size)

    def end_sending(self) -> None:
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_WR)

    def is_closed_by_broker(self, timeout_s: float = TIMEOUT_S) -> bool:
        """Whether the broker ends the connection in time; whatever it sends before is thrown away."""
        deadline = time.monotonic() + timeout_s
        try:
            while (left_s := deadline - time.monotonic()) > 0:
                if select.select([self.socket], [], [], left_s)[0] and not self.socket.recv(1 << 16):
                    return True
        except ConnectionError:
            return True
        return False

    def is_open(self) -> bool:
        """Whether the broker has neither closed the connection nor sent anything unasked."""
        return not select.select([self.socket], [], [], 0)[0]

    def reset(self) -> None:
        """Vanishes without a goodbye: the broker sees a connection reset."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def close(self) -> None:
        self.socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _receive_exactly(self, size: int) -> bytes:
        parts: list[bytes] = []
        while size:
            try:
                part = self.socket.recv(min(size, 1 << 20))
            except ConnectionResetError:
                part = b""
            if not part:
                raise HungUp(f"{size} bytes of the answer were still to come")
            parts.append(part)
            size -= len(part)
        return b"".join(parts)
