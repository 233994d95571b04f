"""What listens: HTTP/1.1, HTTP/2 and websockets on one port.

A connection is uvicorn's HTTP/1.1 unless its first bytes say that it is HTTP/2. Requests of both kinds reach the same
application.
"""

import asyncio
import socket
from typing import Any, Final

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from moldau.pipeline.sql.server.http.h2.connection import Http2Connection, are_settings
from moldau.pipeline.sql.server.http.h2.upgrade import (
    BODY_BYTES_MAX,
    HEAD_END,
    PREFACE,
    SWITCHING,
    UpgradeRequest,
    upgrade_request,
    without_offer,
)

HEAD_BYTES_MAX: Final = 64 << 10
HEAD_S_MAX: Final = 30.0
"""How long a client may take for the head of a request."""
CONNECTIONS_MAX: Final = 10_000
KEEP_ALIVE_S: Final = 75
"""Longer than clients keep an idle connection, so that the server never closes one as a request arrives."""
STOP_S: Final = 3
"""How long running answers may go on when the server stops."""
WEBSOCKET_BYTES_MAX: Final = 64 << 10
"""Clients send nothing over websockets."""


def server_config(app: ASGIApp) -> uvicorn.Config:
    """Complete: only `serve(sockets=[...])` is left to the caller."""
    return uvicorn.Config(
        app,
        http=FrontProtocol,
        ws="websockets-sansio",
        ws_max_size=WEBSOCKET_BYTES_MAX,
        log_config=None,
        log_level="error",
        access_log=False,
        lifespan="off",
        limit_concurrency=CONNECTIONS_MAX,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=STOP_S,
        proxy_headers=False,
        server_header=False,
    )


class FrontProtocol(HttpToolsProtocol):
    """uvicorn's HTTP/1.1, with a look at the first bytes and limits for the heads of requests."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._first: bytes | None = b""
        """What came before it was clear what is spoken; None afterwards."""
        self._upgrade: UpgradeRequest | None = None
        self._head_size = 0
        self._is_in_head = True
        self._too_slow: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        found = transport.get_extra_info("socket")
        if found is not None:
            # A peer that vanished without a word is noticed, so that its query ends.
            found.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            # Head and body of an answer are two writes; without this the second waits for an acknowledgement.
            found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._watch_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_watching()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._first is None:
            self._feed(data)
            return
        self._first += data
        if PREFACE.startswith(self._first[: len(PREFACE)]):
            if len(self._first) >= len(PREFACE):
                self._switch(self._first)
        elif self._upgrade is not None:
            self._upgrade_when_complete(self._upgrade, self._first)
        elif HEAD_END in self._first:
            upgrade = upgrade_request(self._first)
            if upgrade is not None and are_settings(upgrade.settings):
                self._upgrade = upgrade
                self._upgrade_when_complete(upgrade, self._first)
            else:
                self._go_on_with_http1()
        elif len(self._first) > HEAD_BYTES_MAX:
            self._go_on_with_http1()

    def _go_on_with_http1(self) -> None:
        first, self._first = self._first or b"", None
        self._feed(without_offer(first))

    def _feed(self, data: bytes) -> None:
        if self._is_in_head:
            self._head_size += len(data)
            if self._too_slow is None:
                self._watch_head()
        super().data_received(data)
        if self._is_in_head and self._head_size > HEAD_BYTES_MAX:
            self.send_400_response(f"The head of a request is larger than {HEAD_BYTES_MAX} bytes.")

    def on_headers_complete(self) -> None:
        self._is_in_head = False
        self._stop_watching()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._is_in_head = True
        self._head_size = 0
        super().on_message_complete()

    def _watch_head(self) -> None:
        self._too_slow = self.loop.call_later(HEAD_S_MAX, self.transport.close)

    def _stop_watching(self) -> None:
        if self._too_slow is not None:
            self._too_slow.cancel()
            self._too_slow = None

    def _upgrade_when_complete(self, upgrade: UpgradeRequest, received: bytes) -> None:
        assert upgrade.body_size <= BODY_BYTES_MAX
        body = upgrade.body(received)
        if body is not None:
            self.transport.write(SWITCHING)
            self._switch(upgrade.rest(received), upgrade, body)

    def _switch(self, received: bytes, upgrade: UpgradeRequest | None = None, body: bytes = b"") -> None:
        self._stop_watching()
        self._unset_keepalive_if_required()
        self.connections.discard(self)
        connection = Http2Connection(self.app, self.transport, self.connections, self.tasks)
        self.transport.set_protocol(connection)
        connection.start(received, upgrade, body)
