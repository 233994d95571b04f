"""One worker: starts and stops its part of the group, the application and the listener together."""

import asyncio
import logging
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from moldau.core.errors import ConfigError
from moldau.pipeline.connect.server.checks.connector_limits import ConnectorLimits
from moldau.pipeline.connect.server.connector_files import GivenConnector
from moldau.pipeline.connect.server.failures import RequestFailure
from moldau.pipeline.connect.server.http.app import ConnectApp
from moldau.pipeline.connect.server.member import Member
from moldau.pipeline.connect.server.service import ConnectService
from moldau.pipeline.connect.server.settings import Configuration
from moldau.services.http_server import HttpServer
from moldau.services.listening import bound_socket
from moldau.services.security.guard import Security

log = logging.getLogger("moldau.connect")


class ConnectWorker:
    """Listens as soon as it is created, and answers once it is started. With connectors it is standalone."""

    def __init__(
        self, configuration: Configuration, connectors: Sequence[GivenConnector] | None = None
    ) -> None:
        settings = configuration.settings
        for name in configuration.without_effect:
            log.warning("the setting %s of Kafka Connect has no effect here", name)
        _make_importable(settings.plugin_path)
        limits = ConnectorLimits.of(settings.disabled_plugins, settings.allowed_paths)
        if problem := limits.unknown_class():
            raise ConfigError(f"{problem}. Correct the name, or take it out")
        self._given = connectors
        client = {**configuration.client, "group.id": settings.group_id}
        security = Security(settings.security, settings.address, client=client)
        self._socket = bound_socket(settings.address, "Connect worker")
        self.port: int = self._socket.getsockname()[1]
        self.address = settings.address._replace(port=self.port)
        self.worker_id = configuration.advertised(self.port)
        self.member = Member(configuration, self.worker_id, is_standalone=connectors is not None)
        self.service = ConnectService(self.member)
        self._app = ConnectApp(self.service)
        self._server = HttpServer(self._app, self._socket, security=security, on_stop=self._stop)

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
        self._server.run(on_ready)

    async def _stop(self) -> None:
        self._app.close()
        await asyncio.to_thread(self.member.stop)

    def ask_to_stop(self) -> None:
        self._server.ask_to_stop()

    def start_thread(self) -> None:
        """For callers without an event loop."""
        self.load()
        self._server.start_thread("connect-http")

    def stop_thread(self) -> None:
        self._server.stop_thread()


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
