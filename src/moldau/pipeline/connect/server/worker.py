"""One worker: starts and stops its part of the group, the application and the listener together."""

import asyncio
import contextlib
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import uvicorn

from moldau.core.errors import ConfigError
from moldau.pipeline.connect.server.connector_files import GivenConnector
from moldau.pipeline.connect.server.failures import RequestFailure
from moldau.pipeline.connect.server.http.app import ConnectApp
from moldau.pipeline.connect.server.member import Member
from moldau.pipeline.connect.server.service import ConnectService
from moldau.pipeline.connect.server.settings import Configuration

BACKLOG: Final = 2048
STOP_S: Final = 5
KEEP_ALIVE_S: Final = 75
"""Longer than clients keep an idle connection, so that the worker never closes one as a request arrives."""

log = logging.getLogger("moldau.connect")


class Listener(uvicorn.Server):
    """Ends on SIGINT and SIGTERM, and leaves the rest to the worker: uvicorn would raise the signal again, which would
    end the process before the worker has left its group."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, self.handle_exit)
        yield


class ConnectWorker:
    """Listens as soon as it is created, and answers once it is started. With connectors it is standalone."""

    def __init__(
        self, configuration: Configuration, connectors: Sequence[GivenConnector] | None = None
    ) -> None:
        settings = configuration.settings
        for name in configuration.without_effect:
            log.warning("the setting %s of Kafka Connect has no effect here", name)
        _make_importable(settings.plugin_path)
        self._given = connectors
        self._socket = _bound(*settings.address)
        self.port: int = self._socket.getsockname()[1]
        self.worker_id = configuration.advertised(self.port)
        self.member = Member(configuration, self.worker_id, is_standalone=connectors is not None)
        self.service = ConnectService(self.member)
        self._app = ConnectApp(self.service)
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
        """Reads the topics and joins the group, or creates the connectors it was given. Raises ConfigError."""
        try:
            self.member.start()
        except BaseException:
            self._socket.close()
            self._app.close()
            raise
        try:
            for one in self._given or ():
                self._create(one)
        except BaseException:
            self._socket.close()
            self._app.close()
            self.member.stop()
            raise

    def _create(self, one: GivenConnector) -> None:
        try:
            self.service.create(one.name, one.config)
        except RequestFailure as failure:
            raise ConfigError(f"{one.file}: {failure.message}") from None

    def run(self, on_ready: Callable[[], None] | None = None) -> None:
        """Serves until a signal or `ask_to_stop`."""
        with asyncio.Runner() as runner:
            runner.run(self._serve(on_ready))

    async def _serve(self, on_ready: Callable[[], None] | None) -> None:
        if on_ready is not None:
            on_ready()
        try:
            await self._uvicorn.serve(sockets=[self._socket])
        finally:
            self._socket.close()
            self._app.close()
            await asyncio.to_thread(self.member.stop)

    def ask_to_stop(self) -> None:
        self._uvicorn.should_exit = True

    def start_thread(self) -> None:
        """For callers without an event loop."""
        self.load()
        self._thread = threading.Thread(target=self.run, name="connect-http", daemon=True)
        self._thread.start()

    def stop_thread(self) -> None:
        self.ask_to_stop()
        if self._thread is not None:
            self._thread.join()


def _make_importable(folders: Sequence[str]) -> None:
    """Modules with connectors of the user: in this process and in those it starts. Folders of jars do no harm."""
    paths = [str(Path(folder).expanduser().absolute()) for folder in folders]
    for path in paths:
        if not Path(path).is_dir():
            log.warning("plugin.path: there is no folder %s", path)
    before = os.environ.get("PYTHONPATH", "")
    known = before.split(os.pathsep) if before else []
    if new := [path for path in paths if path not in known]:
        os.environ["PYTHONPATH"] = os.pathsep.join([*new, *known])
    sys.path.extend(path for path in paths if path not in sys.path)


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
            f"cannot listen on http://{host}:{port}: {error.strerror}. Is a Connect worker running already? "
            "Set another address with --listen"
        ) from None
    listener.listen(BACKLOG)
    return listener
