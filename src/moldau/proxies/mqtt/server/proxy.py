"""Puts the parts together; starts and stops them; starts again with what is stored when the state was lost."""

import asyncio
import contextlib
import logging
import signal
import socket
import uuid
from collections.abc import Callable
from typing import Any, Final

from confluent_kafka import KafkaException

from moldau.core.errors import ConfigError, MoldauError
from moldau.proxies.mqtt.kafka.backlog import Backlog
from moldau.proxies.mqtt.kafka.catch_up import CatchUp
from moldau.proxies.mqtt.kafka.live_reader import LiveReader
from moldau.proxies.mqtt.kafka.publisher import Publisher
from moldau.proxies.mqtt.kafka.retained_log import RetainedLog
from moldau.proxies.mqtt.kafka.state_log import Owner, StateLog
from moldau.proxies.mqtt.kafka.topics import prepare_topics
from moldau.proxies.mqtt.server.connection import Connection
from moldau.proxies.mqtt.server.delivery import Delivery
from moldau.proxies.mqtt.server.hub import Hub
from moldau.proxies.mqtt.server.metrics import HEAD_BYTES_MAX, MetricsPage
from moldau.proxies.mqtt.server.publishing import Publishing
from moldau.proxies.mqtt.server.security import Security, addresses, report
from moldau.proxies.mqtt.server.sessions import FLOW_S, Sessions
from moldau.proxies.mqtt.server.sharing import Sharing
from moldau.proxies.mqtt.server.subscribing import Subscribing
from moldau.proxies.mqtt.server.system_topics import SystemTopics
from moldau.proxies.mqtt.settings import Configuration
from moldau.services.listening import Address, bound_socket

TURN_S: Final = 0.5
LIVE_IDLE_S: Final = 30.0
"""The live reader stops when nobody has been subscribed for so long."""
STOP_S: Final = 10.0
RETRY_S: Final = 1.0
RECORD_MARGIN_BYTES: Final = 131_072
"""Of key and headers, beside the payload."""

Listener = tuple[Address, socket.socket]

log = logging.getLogger("moldau.mqtt")


def event_loop() -> asyncio.AbstractEventLoop:
    """uvloop if it is installed."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
    return loop


class Proxy:
    """Listens as soon as it is created; serves in `run`."""

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration
        self._settings = configuration.settings
        self._security = Security(self._settings)
        self._listeners: list[Listener] = []
        try:
            for address in addresses(self._settings):
                self._listeners.append(_listening(address))
        except ConfigError:
            self._close_listeners()
            raise
        self._owner = Owner(uuid.uuid4().bytes, 0)
        self._stop: asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def load(self) -> None:
        """Reaches Kafka and creates what is missing. Raises ConfigError."""
        try:
            prepare_topics(self._configuration)
        except BaseException:
            self._close_listeners()
            raise

    @property
    def addresses(self) -> list[Address]:
        """Where it listens, with the ports that the system has given."""
        return [address for address, _ in self._listeners]

    def _close_listeners(self) -> None:
        for _, listener in self._listeners:
            listener.close()

    def run(self, on_ready: Callable[[], None] = lambda: None, *, with_signals: bool = True) -> None:
        """Serves until a signal or `ask_to_stop`. Raises ConfigError when it cannot start, or was replaced."""
        with asyncio.Runner(loop_factory=event_loop) as runner:
            runner.run(self._serve(on_ready, with_signals=with_signals))

    def ask_to_stop(self) -> None:
        """From any thread."""
        if self._loop is not None and self._stop is not None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._stop.set)

    async def _serve(self, on_ready: Callable[[], None], *, with_signals: bool) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        self._loop.set_exception_handler(report)
        if with_signals:
            for number in (signal.SIGINT, signal.SIGTERM):
                self._loop.add_signal_handler(number, self._stop.set)
        try:
            while not self._stop.is_set():
                await _Run(self._configuration, self._security, self._listeners, self._stop).serve(
                    self._owner, on_ready
                )
                self._owner = self._owner._replace(run=self._owner.run + 1)
                on_ready = lambda: None  # noqa: E731
        finally:
            self._close_listeners()


def _listening(address: Address) -> Listener:
    found = bound_socket(address, "MQTT proxy")
    # Those that are accepted have it too: a peer that vanished without a word is noticed.
    found.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    return address._replace(port=found.getsockname()[1]), found


class _Run:
    """From reading the state to its loss, or to the end of the proxy."""

    def __init__(
        self,
        configuration: Configuration,
        security: Security,
        listeners: list[Listener],
        stop: asyncio.Event,
    ) -> None:
        self._security = security
        self._configuration = configuration
        self._listeners = listeners
        self._stop = stop
        self._failure: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._turns = 0
        self._live_idle_s = 0.0
        self._hub = self._assembled()
        self._retained = RetainedLog(
            configuration.client,
            configuration.settings.retained_topic,
            configuration.settings.proxy_id,
            self._hub.retained,
        )

    def _assembled(self) -> Hub:
        configuration, settings = self._configuration, self._configuration.settings
        hub = Hub(asyncio.get_running_loop())
        hub.settings, hub.rules, hub.security = settings, configuration.rules, self._security
        hub.backlog = Backlog(settings.backlog_bytes_max, self._update_reading, self._update_reading)
        hub.sessions, hub.publishing = Sessions(hub), Publishing(hub)
        hub.subscribing, hub.delivery = Subscribing(hub), Delivery(hub)
        hub.publisher = Publisher(
            configuration.client,
            hub.backlog,
            settings.packet_bytes_max + RECORD_MARGIN_BYTES,
            lambda error: self._fail(MoldauError(error.str())),
            hub.publishing.after_reports,
        )
        hub.state = StateLog(
            configuration.client, settings.stored_in, settings.proxy_id, hub.backlog, hub.sessions.changed
        )
        hub.live = LiveReader(
            configuration.client,
            configuration.rules.topics_pattern(),
            settings.proxy_id,
            hub.delivery.take,
            self._fail,
        )
        hub.catch_up = CatchUp(configuration.client, settings.proxy_id)
        hub.sharing = Sharing(hub, configuration.client)
        hub.system_topics = SystemTopics(hub)
        return hub

    async def serve(self, owner: Owner, on_ready: Callable[[], None]) -> None:
        """Returns when the proxy is to stop, or has to start again. Raises ConfigError."""
        hub, settings = self._hub, self._configuration.settings
        timeout_s = settings.start_timeout_ms / 1000
        opening = hub.loop.run_in_executor(None, hub.state.open, owner, timeout_s)
        try:
            stored = await opening
            await self._retained.load(timeout_s)
        except (ConfigError, KafkaException) as error:
            hub.state.close()
            hub.publisher.close()
            self._retained.close()
            text = error.args[0].str() if isinstance(error, KafkaException) else str(error)
            if not owner.run or "another proxy" in text:
                raise ConfigError(text) from None
            log.warning("the state cannot be read: %s; trying again", text)
            await self._pause()
            return
        hub.sessions.restore(stored)
        hub.system_topics.check_time(hub.loop.time())
        servers = [await self._server(address, listener) for address, listener in self._listeners]
        writing = asyncio.create_task(hub.state.run(), name="mqtt-state")
        following = asyncio.create_task(self._retained.run(), name="mqtt-retained")
        watching = asyncio.create_task(self._watch(), name="mqtt-times")
        stopping = asyncio.create_task(self._stop.wait())
        refreshing = asyncio.create_task(self._security.keep_fresh(), name="mqtt-files")
        on_ready()
        try:
            waited_for: list[asyncio.Future[Any]] = [writing, following, watching, stopping, self._failure]
            await asyncio.wait(waited_for, return_when=asyncio.FIRST_COMPLETED)
            for server in servers:
                server.close()
            if self._stop.is_set() and not writing.done() and not self._failure.done():
                await self._finish()
            else:
                self._say_why(writing, following, watching)
                await self._pause()
        finally:
            await self._end(writing, following, watching, stopping, refreshing)

    async def _server(self, address: Address, listener: socket.socket) -> asyncio.Server:
        """Serves what the listener accepts. The listener stays when the server ends."""
        hub = self._hub
        context = self._security.context(address)
        handshake_s = None if context is None else self._configuration.settings.connect_timeout_ms / 1000
        protocol: Callable[[], asyncio.Protocol] = lambda: Connection(hub)  # noqa: E731
        if address.scheme == "http":
            page = MetricsPage(hub)
            return await asyncio.start_server(page.serve, sock=listener.dup(), limit=HEAD_BYTES_MAX)
        if address.scheme in ("ws", "wss"):
            # Imported here because few need it.
            from moldau.proxies.mqtt.server.websocket import WebSocket

            protocol = lambda: WebSocket(hub)  # noqa: E731
        return await hub.loop.create_server(
            protocol, sock=listener.dup(), ssl=context, ssl_handshake_timeout=handshake_s
        )

    def _say_why(self, *tasks: asyncio.Task[None]) -> None:
        failures = [task.exception() for task in tasks if task.done() and not task.cancelled()]
        if self._failure.done():
            failures.append(self._failure.exception())
        for failure in failures:
            if isinstance(failure, MoldauError):
                log.error(
                    "the proxy starts again with what is stored, and all clients have to connect again: %s",
                    failure,
                )
            elif failure is not None:
                log.error("the proxy starts again with what is stored", exc_info=failure)

    async def _finish(self) -> None:
        """Stores what there is, and takes leave of the clients."""
        hub = self._hub
        for connection in list(hub.connections):
            connection.stop_reading()
        try:
            async with asyncio.timeout(STOP_S):
                while hub.publisher.outstanding:
                    await hub.publisher.some_reported()
                hub.sessions.store_all()
                await hub.state.stored()
        except TimeoutError:
            log.warning(
                "Kafka has not taken everything in %.0f s; clients send again what was not acknowledged",
                STOP_S,
            )
        for connection in list(hub.connections):
            connection.shut_down()

    async def _end(self, *tasks: asyncio.Task[Any]) -> None:
        hub = self._hub
        for task in tasks:
            task.cancel()
        for connection in list(hub.connections):
            connection.abort()
        hub.delivery.stop()
        hub.sharing.stop()
        hub.state.close()
        hub.publisher.close()
        self._retained.close()
        await hub.live.stop()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _watch(self) -> None:
        """What has to be looked at from time to time."""
        hub = self._hub
        while True:
            await asyncio.sleep(TURN_S)
            self._turns += 1
            now = hub.loop.time()
            for connection in list(hub.connections):
                connection.check_time(now)
            hub.sessions.check_times()
            hub.system_topics.check_time(now)
            if self._turns % round(FLOW_S / TURN_S) == 0:
                hub.sessions.store_later_ones()
            self._live_idle_s = 0.0 if hub.tree.count else self._live_idle_s + TURN_S
            if hub.live.is_running and self._live_idle_s > LIVE_IDLE_S:
                await hub.live.stop()

    async def _pause(self) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._stop.wait(), RETRY_S)

    def _update_reading(self) -> None:
        for connection in list(self._hub.connections):
            connection.update_reading()

    def _fail(self, failure: BaseException) -> None:
        if not self._failure.done():
            self._failure.set_exception(failure)
