"""One server: starts and stops the service, the application and the listener together."""

import asyncio
import logging
from collections.abc import Callable
from typing import Final

import orjson

from moldau.pipeline.sql.server.http import FrontProtocol, SqlApp
from moldau.pipeline.sql.server.service import SqlService
from moldau.pipeline.sql.server.settings import Configuration
from moldau.services.http_server import HttpServer
from moldau.services.listening import bound_socket, reachable_host
from moldau.services.security.guard import Security

STOP_S: Final = 3
"""How long running answers may go on when the server stops."""
WEBSOCKET_BYTES_MAX: Final = 64 << 10
"""Clients send nothing over websockets."""

log = logging.getLogger("moldau.sql")


class SqlServer:
    """Listens as soon as it is created, and answers once it is started."""

    def __init__(self, configuration: Configuration) -> None:
        settings = configuration.settings
        for name in configuration.without_effect:
            log.warning("the setting %s of ksqlDB has no effect here", name)
        security = Security(
            settings.security,
            settings.address,
            client={**configuration.plain_client, "group.id": f"{settings.internal_prefix}rights"},
            refusal=_refusal,
            protocols=("h2", "http/1.1"),
        )
        self._socket = bound_socket(settings.address, "SQL server")
        self.port: int = self._socket.getsockname()[1]
        self.address = settings.address._replace(port=self.port)
        advertised = settings.advertised_listener or str(
            self.address._replace(host=reachable_host(self.address.host))
        )
        self.url = advertised.rstrip("/")
        self.service = SqlService(configuration, self.url)
        self._app = SqlApp(self.service)
        self._server = HttpServer(
            self._app,
            self._socket,
            security=security,
            http=FrontProtocol,
            websocket_bytes_max=WEBSOCKET_BYTES_MAX,
            stop_s=STOP_S,
            before_shutdown=self._end_queries,
            on_stop=self._stop,
        )

    def load(self) -> None:
        """Reads the command topic. Raises ConfigError when that fails."""
        try:
            self.service.start()
        except BaseException:
            self._socket.close()
            self._app.close()
            raise

    def run(self, on_ready: Callable[[], None] | None = None) -> None:
        """Serves until a signal or `ask_to_stop`."""
        self._server.run(on_ready)

    async def _end_queries(self) -> None:
        """Their answers are complete, and nobody waits for them."""
        for query in self.service.transient_queries():
            self.service.close_query(query.id)

    async def _stop(self) -> None:
        self._app.close()
        await asyncio.to_thread(self.service.stop)

    def ask_to_stop(self) -> None:
        self._server.ask_to_stop()

    def start_thread(self) -> None:
        """For callers without an event loop."""
        self.load()
        self._server.start_thread("sql-http")

    def stop_thread(self) -> None:
        self._server.stop_thread()


def _refusal(status: int, message: str) -> bytes:
    return orjson.dumps({"@type": "generic_error", "error_code": status * 100, "message": message})
