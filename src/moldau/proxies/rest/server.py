"""One proxy that serves HTTP: starts and stops the proxy, the application and the server together."""

import logging
from collections.abc import Callable

from confluent_kafka import KafkaException

from moldau.core.errors import ConfigError
from moldau.proxies.rest.http.app import RestApp
from moldau.proxies.rest.http.routing import Router
from moldau.proxies.rest.proxy import Proxy
from moldau.proxies.rest.settings import Configuration
from moldau.proxies.rest.tables import ROUTES
from moldau.proxies.rest.users import UserProxies
from moldau.services.http_server import HttpServer
from moldau.services.listening import bound_socket, reachable_host
from moldau.services.security.guard import Security

log = logging.getLogger("moldau.rest")


class RestServer:
    """Listens as soon as it is created, and answers once it runs."""

    def __init__(self, configuration: Configuration) -> None:
        settings = configuration.settings
        for name in configuration.without_effect:
            log.warning("the setting %s of Confluent's REST Proxy has no effect in Moldau's", name)
        address = settings.address
        security = Security(settings.security, address, client=configuration.client("admin"))
        if settings.login_passthrough and security.https is None and not security.needs_login:
            log.warning("passwords travel unencrypted to %s: use https", address)
        listener = bound_socket(address, "REST proxy")
        port: int = listener.getsockname()[1]
        self.address = address._replace(port=port)
        self.url = str(self.address._replace(host=reachable_host(address.host)))
        try:
            proxy = Proxy(configuration, self.url, settings.own_url(port))
        except KafkaException as error:
            listener.close()
            raise ConfigError(
                f"the Kafka client rejects its settings: {error.args[0].str()} The keys after `client.`, `producer.`, "
                "`consumer.` and `admin.` are librdkafka's."
            ) from None
        except BaseException:
            listener.close()
            raise
        users = UserProxies(configuration, proxy)
        self._server = HttpServer(
            RestApp(users, Router(ROUTES)),
            listener,
            security=security,
            connections_max=settings.connections_max,
            on_start=users.start,
            before_shutdown=users.before_shutdown,
            on_stop=users.stop,
        )

    def run(self, on_ready: Callable[[], None] | None = None) -> None:
        """Serves until a signal or `ask_to_stop`."""
        self._server.run(on_ready)

    def start_thread(self) -> None:
        """For callers without an event loop."""
        self._server.start_thread("rest-http")

    def stop_thread(self) -> None:
        self._server.stop_thread()
