"""One instance that serves HTTP: starts and stops the registry, the application and uvicorn together."""

import asyncio
import contextlib
import logging
import signal
import socket
import threading
from collections.abc import Iterator, Mapping
from typing import Final

import uvicorn

from moldau.core.errors import ConfigError
from moldau.registry.http.app import RegistryApp
from moldau.registry.service import Registry
from moldau.registry.settings import Configuration, RegistrySettings

BACKLOG: Final = 2048
STOP_S: Final = 5
KEEP_ALIVE_S: Final = 75
"""Longer than clients keep an idle connection, so that the server never closes one as a request arrives."""
ANY_HOSTS: Final = frozenset({"0.0.0.0", "::", ""})  # noqa: S104

log = logging.getLogger("moldau.registry")


def event_loop() -> asyncio.AbstractEventLoop:
    """uvloop if it is installed."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
    return loop


class Listener(uvicorn.Server):
    """Ends on SIGINT and SIGTERM, and leaves the rest to the server: uvicorn would raise the signal again, which would
    end the process before the registry has left its group."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, self.handle_exit)
        yield


class RegistryServer:
    """Listens as soon as it is created, and answers once it is started."""

    def __init__(self, configuration: Configuration) -> None:
        settings = configuration.settings
        for name in configuration.without_effect:
            log.warning("the setting %s of Confluent's registry has no effect in Moldau's", name)
        self._socket = _bound(*settings.address)
        self.port: int = self._socket.getsockname()[1]
        self.url = f"http://{_reachable_host(settings)}:{self.port}"
        self.registry = Registry(settings, _client(configuration.client), self.url)
        self._app = RegistryApp(self.registry)
        self._uvicorn = Listener(
            uvicorn.Config(
                self._app,
                log_config=None,
                log_level="warning",
                access_log=False,
                lifespan="off",
                backlog=BACKLOG,
                timeout_keep_alive=KEEP_ALIVE_S,
                timeout_graceful_shutdown=STOP_S,
                server_header=False,
            )
        )
        self._thread: threading.Thread | None = None

    def load(self) -> None:
        """Reads the topic. Raises ConfigError when that fails."""
        try:
            self.registry.start()
        except BaseException:
            self._socket.close()
            self._app.close()
            raise

    def run(self) -> None:
        """Serves until a signal or `ask_to_stop`."""
        with asyncio.Runner(loop_factory=event_loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        try:
            await self._uvicorn.serve(sockets=[self._socket])
        finally:
            self._socket.close()
            self._app.close()
            await asyncio.to_thread(self.registry.stop)

    def ask_to_stop(self) -> None:
        self._uvicorn.should_exit = True

    def start_thread(self) -> None:
        """For callers without an event loop."""
        self.load()
        self._thread = threading.Thread(target=self.run, name="registry-http", daemon=True)
        self._thread.start()

    def stop_thread(self) -> None:
        self.ask_to_stop()
        if self._thread is not None:
            self._thread.join()


def _client(properties: Mapping[str, str]) -> dict[str, str]:
    return {"socket.keepalive.enable": "true", **properties}


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
            f"cannot listen on http://{host}:{port}: {error.strerror}. Is a registry running already?"
        ) from None
    listener.listen(BACKLOG)
    return listener


def _reachable_host(settings: RegistrySettings) -> str:
    host = settings.host_name or settings.address[0]
    return socket.gethostname() if host in ANY_HOSTS else host
