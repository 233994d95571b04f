"""What listens: HTTP/1.1, HTTP/2 and websockets on one port.

A connection is uvicorn's HTTP/1.1 unless its first bytes say that it is HTTP/2. Requests of both kinds reach the same
application.
"""

from typing import Any

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
from moldau.services.http_server import HEAD_BYTES_MAX, LimitedHttp
from moldau.services.security.guard import CERTIFICATE_PRINCIPAL


class FrontProtocol(LimitedHttp):
    """HTTP/1.1, with a look at the first bytes."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._first: bytes | None = b""
        """What came before it was clear what is spoken; None afterwards."""
        self._upgrade: UpgradeRequest | None = None

    def data_received(self, data: bytes) -> None:
        if self._first is None:
            super().data_received(data)
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
        super().data_received(without_offer(first))

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
        facts = {CERTIFICATE_PRINCIPAL: self.certificate_principal}
        connection = Http2Connection(self.app, self.transport, self.connections, self.tasks, facts)
        self.transport.set_protocol(connection)
        connection.start(received, upgrade, body)
