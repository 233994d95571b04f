"""Requests byte by byte, for what well-behaved clients do not do."""

import socket
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import orjson

PATIENCE_S = 60


class RawConnection:
    def __init__(self, url: str, *, receive_buffer: int | None = None) -> None:
        parts = urlsplit(url)
        self._host = f"{parts.hostname}:{parts.port}"
        self.socket = socket.socket()
        self.socket.settimeout(PATIENCE_S)
        if receive_buffer is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.connect((parts.hostname or "", parts.port or 80))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.socket.close()

    def post(self, path: str, body: Any, *headers: str) -> None:
        content = body if isinstance(body, bytes) else orjson.dumps(body)
        lines = [f"POST {path} HTTP/1.1", f"Host: {self._host}", f"Content-Length: {len(content)}", *headers]
        self.socket.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + content)

    def receive_until(self, wanted: bytes) -> bytes:
        """All that has come when `wanted` has; EOFError where the server closes before."""
        found = b""
        while wanted not in found:
            part = self.socket.recv(65536)
            if not part:
                raise EOFError(found)
            found += part
        return found

    def is_closed(self) -> bool:
        """Waits until the server closes the connection."""
        try:
            while self.socket.recv(65536):
                pass
        except ConnectionResetError:
            pass
        return True
