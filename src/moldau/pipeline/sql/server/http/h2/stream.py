"""One request of an HTTP/2 connection, as ASGI sees it."""

import asyncio
import re
from collections import deque
from typing import Any, Final, Protocol
from urllib.parse import unquote

from starlette.types import Message, Scope

_NOT_SENT: Final = frozenset({b"connection", b"transfer-encoding", b"keep-alive", b"upgrade"})
"""Headers that HTTP/2 forbids."""
_ABSOLUTE: Final = re.compile(rb"^https?://[^/?]*")
"""What stands before the path in the absolute form, which HTTP/1.1 clients may use."""


class Peer(Protocol):
    """What a stream needs of its connection."""

    def consumed(self, stream_id: int, size: int) -> None:
        """The handler has taken so many bytes of the body."""

    def send_head(self, stream_id: int, headers: list[tuple[bytes, bytes]]) -> None: ...

    def sendable(self, stream_id: int) -> int:
        """How many bytes may be sent now; 0: wait for `changed`."""

    def send_data(self, stream_id: int, data: bytes, *, is_last: bool) -> None: ...


class Stream:
    def __init__(self, peer: Peer, stream_id: int, scope: Scope) -> None:
        self.scope = scope
        self.is_answered = False
        self._peer = peer
        self._id = stream_id
        self._body: deque[tuple[bytes, int]] = deque()
        self._has_whole_body = False
        self._end_is_told = False
        self._is_over = False
        self._is_gone = False
        self._changed = asyncio.Event()

    # The connection's side

    def feed(self, data: bytes, size: int) -> None:
        """`size` is what the flow control counts."""
        self._body.append((data, size))
        self._changed.set()

    def end_body(self) -> None:
        self._has_whole_body = True
        self._changed.set()

    def hang_up(self) -> None:
        """The application hears that the client is gone, so that what runs on ends. What it says is still sent."""
        self._is_over = True
        self._changed.set()

    def leave(self) -> None:
        """The client is gone, or has reset the stream."""
        self._is_gone = self._is_over = True
        self._changed.set()

    def forget_body(self) -> int:
        """Drops what nobody will read. Its size counts as consumed, or the connection would fill up."""
        size = sum(size for _, size in self._body)
        self._body.clear()
        return size

    def wake(self) -> None:
        """The window has opened, or the socket takes more."""
        self._changed.set()

    # The application's side

    async def receive(self) -> Message:
        while True:
            if self._is_over or self.is_answered:
                return {"type": "http.disconnect"}
            if self._body:
                data, size = self._body.popleft()
                self._peer.consumed(self._id, size)
                return {"type": "http.request", "body": data, "more_body": True}
            if self._has_whole_body and not self._end_is_told:
                self._end_is_told = True
                return {"type": "http.request", "body": b"", "more_body": False}
            await self._change()

    async def send(self, message: Message) -> None:
        if self._is_gone:
            return
        if message["type"] == "http.response.start":
            self._peer.send_head(self._id, _response_headers(message))
            return
        is_last = not message.get("more_body", False)
        await self._send_body(message.get("body", b""), is_last=is_last)
        if is_last:
            self.is_answered = True
            self._changed.set()

    async def _send_body(self, body: bytes, *, is_last: bool) -> None:
        start = 0
        while start < len(body):
            room = self._peer.sendable(self._id)
            if room <= 0:
                await self._change()
                if self._is_gone:
                    return
                continue
            part = body[start : start + room]
            start += len(part)
            self._peer.send_data(self._id, part, is_last=is_last and start == len(body))
        if not body and is_last:
            self._peer.send_data(self._id, b"", is_last=True)

    async def _change(self) -> None:
        self._changed.clear()
        await self._changed.wait()


def request_scope(headers: list[tuple[bytes, bytes]], **facts: Any) -> Scope:
    """KeyError for a request without method or path. `facts` are those of the connection."""
    pseudo = {name: value for name, value in headers if name.startswith(b":")}
    plain = [(name, value) for name, value in headers if not name.startswith(b":")]
    if b":authority" in pseudo and not any(name == b"host" for name, _ in plain):
        plain.insert(0, (b"host", pseudo[b":authority"]))
    path, _, query = _ABSOLUTE.sub(b"", pseudo[b":path"]).partition(b"?")
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "2",
        "method": pseudo[b":method"].decode("latin-1"),
        "scheme": "http",
        "path": unquote(path.decode("latin-1")),
        "raw_path": path,
        "query_string": query,
        "root_path": "",
        "headers": plain,
        "state": {},
        **facts,
    }


def _response_headers(message: Message) -> list[tuple[bytes, bytes]]:
    headers = [(bytes(name).lower(), bytes(value)) for name, value in message.get("headers", ())]
    kept = [pair for pair in headers if pair[0] not in _NOT_SENT]
    return [(b":status", str(message["status"]).encode()), *kept]
