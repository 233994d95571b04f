"""One server: starts and stops the service, the application and the listener together."""

import asyncio
import contextlib
import logging
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Final

import uvicorn

from moldau.core.errors import ConfigError
from moldau.pipeline.sql.server.http import SqlApp, server_config
from moldau.pipeline.sql.server.service import SqlService
from moldau.pipeline.sql.server.settings import Configuration, ServerSettings

BACKLOG: Final = 2048
ANY_HOSTS: Final = frozenset({"0.0.0.0", "::", ""})  # noqa: S104

log = logging.getLogger("moldau.sql")


def event_loop() -> asyncio.AbstractEventLoop:
    """uvloop if it is installed."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
    return loop


class Listener(uvicorn.Server):
    """Ends running queries first when it stops, so that their answers are complete and nobody waits for them. Ends on
    SIGINT and SIGTERM, and leaves the rest to the server: uvicorn would raise the signal again, which would end the
    process before the service has stopped."""

    def __init__(self, config: uvicorn.Config, service: SqlService) -> None:
        super().__init__(config)
        self._service = service

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, self.handle_exit)
        yield

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for query in self._service.transient_queries():
            self._service.close_query(query.id)
        await super().shutdown(sockets)


class SqlServer:
    """Listens as soon as it is created, and answers once it is started."""

    def __init__(self, configuration: Configuration) -> None:
        settings = configuration.settings
        for name in configuration.without_effect:
            log.warning("the setting %s of ksqlDB has no effect here", name)
        self._socket = _bound(*settings.address)
        self.port: int = self._socket.getsockname()[1]
        self.url = _advertised(settings, self.port)
        self.service = SqlService(configuration, self.url)
        self._app = SqlApp(self.service)
        self._uvicorn = Listener(server_config(self._app), self.service)
        self._thread: threading.Thread | None = None

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
        with asyncio.Runner(loop_factory=event_loop) as runner:
            runner.run(self._serve(on_ready))

    async def _serve(self, on_ready: Callable[[], None] | None) -> None:
        if on_ready is not None:
            on_ready()
        try:
            await self._uvicorn.serve(sockets=[self._socket])
        finally:
            self._socket.close()
            self._app.close()
            await asyncio.to_thread(self.service.stop)

    def ask_to_stop(self) -> None:
        self._uvicorn.should_exit = True

    def start_thread(self) -> None:
        """For callers without an event loop."""
        self.load()
        self._thread = threading.Thread(target=self.run, name="sql-http", daemon=True)
        self._thread.start()

    def stop_thread(self) -> None:
        self.ask_to_stop()
        if self._thread is not None:
            self._thread.join()


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    # Head and body of an answer are two writes; without this the second waits 40 ms for an acknowledgement.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise ConfigError(
            f"cannot listen on http://{host}:{port}: {error.strerror}. Is a SQL server running already? "
            "Set another address with --listen"
        ) from None
    listener.listen(BACKLOG)
    return listener


def _advertised(settings: ServerSettings, port: int) -> str:
    if settings.advertised_listener is not None:
        return settings.advertised_listener.rstrip("/")
    host = settings.address[0]
    return f"http://{socket.gethostname() if host in ANY_HOSTS else host}:{port}"
