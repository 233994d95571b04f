"""One instance that serves HTTP: starts and stops the registry, the application and the listener together."""

import asyncio
import logging
from collections.abc import Callable, Mapping

from moldau.registry.http.app import RegistryApp
from moldau.registry.service import Registry
from moldau.registry.settings import Configuration
from moldau.services.http_server import HttpServer
from moldau.services.listening import bound_socket, reachable_host
from moldau.services.security.guard import Security

log = logging.getLogger("moldau.registry")


class RegistryServer:
    """Listens as soon as it is created, and answers once it is started."""

    def __init__(self, configuration: Configuration) -> None:
        settings = configuration.settings
        for name in configuration.without_effect:
            log.warning("the setting %s of Confluent's registry has no effect in Moldau's", name)
        client = {**configuration.client, "group.id": settings.group_id}
        security = Security(settings.security, settings.address, client=client)
        self._socket = bound_socket(settings.address, "registry")
        self.port: int = self._socket.getsockname()[1]
        self.address = settings.address._replace(port=self.port)
        self.url = str(self.address._replace(host=settings.host_name or reachable_host(self.address.host)))
        self.registry = Registry(settings, _client(configuration.client), self.url)
        self._app = RegistryApp(self.registry, security.https.to_others if security.https else None)
        self._server = HttpServer(self._app, self._socket, security=security, on_stop=self._stop)

    def load(self) -> None:
        """Reads the topic. Raises ConfigError when that fails."""
        try:
            self.registry.start()
        except BaseException:
            self._socket.close()
            self._app.close()
            raise

    def run(self, on_ready: Callable[[], None] | None = None) -> None:
        """Serves until a signal or `ask_to_stop`."""
        self._server.run(on_ready)

    async def _stop(self) -> None:
        self._app.close()
        await asyncio.to_thread(self.registry.stop)

    def ask_to_stop(self) -> None:
        self._server.ask_to_stop()

    def start_thread(self) -> None:
        """For callers without an event loop."""
        self.load()
        self._server.start_thread("registry-http")

    def stop_thread(self) -> None:
        self._server.stop_thread()


def _client(properties: Mapping[str, str]) -> dict[str, str]:
    return {"socket.keepalive.enable": "true", **properties}
