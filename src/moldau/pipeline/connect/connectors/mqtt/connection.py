"""A connection to an MQTT server, and what its errors mean. Its network runs in a thread of its own.

It does not come back by itself: the task opens a new one, so that everybody sees that the server is away.
"""

import logging
import ssl
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final

from paho.mqtt.client import Client, ConnectFlags, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode
from paho.mqtt.subscribeoptions import SubscribeOptions

from moldau.pipeline.connect.api import ConnectError, RetriableError
from moldau.pipeline.connect.connectors.mqtt.settings import ConnectionSettings, Server

NEVER_S: Final = 0xFFFFFFFF
"""A session that does not expire."""
PAYLOAD_MAX: Final = 0xFFFFFFF
_ADVICE: Final = {
    "Bad user name or password": "check mqtt.username and mqtt.password",
    "Not authorized": "check mqtt.username and mqtt.password, and what the server lets this client do",
    "Bad authentication method": "the server wants another way to log in than user and password",
    "Client identifier not valid": "set mqtt.client.id to a name that the server accepts",
    "Banned": "the server's administrator has locked the client out",
    "Unsupported protocol version": "set mqtt.protocol.version=3.1.1",
}

log = logging.getLogger(__name__)


class Connection:
    """`open` raises RetriableError for a server that is away, ConnectError for one that does not let the client in."""

    def __init__(
        self,
        settings: ConnectionSettings,
        *,
        receive_max: int = 0,
        on_session: Callable[[bool], None] = lambda is_resumed: None,
        on_message: Callable[[MQTTMessage], None] = lambda message: None,
        on_published: Callable[[int, ReasonCode], None] = lambda mid, reason: None,
        on_end: Callable[[], None] = lambda: None,
    ) -> None:
        self._settings = settings
        self._receive_max = receive_max
        self._on_session, self._on_message, self._on_end = on_session, on_message, on_end
        self._on_published = on_published
        self._client: Client | None = None
        self._answered = threading.Condition()
        self._accepted: ReasonCode | None = None
        self._granted: list[ReasonCode] | None = None
        self._ended = ""
        self.packet_bytes_max = PAYLOAD_MAX
        """What the server takes at once."""
        self.server: Server = settings.servers[0]

    @property
    def is_open(self) -> bool:
        return self._client is not None and not self._ended

    @property
    def why_ended(self) -> str:
        return f"the connection to {self.server} has ended: {self._ended or 'it was closed'}"

    def open(self) -> None:
        """To the first server that answers."""
        failures = []
        for server in self._settings.servers:
            try:
                self._open(server)
                return
            except RetriableError as failure:
                failures.append(str(failure))
                self.close()
            except ConnectError:
                self.close()
                raise
        raise RetriableError("; ".join(failures))

    def close(self) -> None:
        """The server keeps what it has for the client, if the session is one that is kept."""
        client, self._client = self._client, None
        if client is None:
            return
        with suppress(OSError, ValueError):
            client.disconnect()
        client.loop_stop()

    def subscribe(self, filters: Sequence[str], qos: int) -> None:
        """Returns when the server has answered."""
        assert self._client is not None
        self._granted = None
        if self._settings.is_version_5:
            # What is retained comes with the first subscription only, not after each time that the server was away.
            options = SubscribeOptions(qos, retainHandling=SubscribeOptions.RETAIN_SEND_IF_NEW_SUB)
            self._client.subscribe([(one, options) for one in filters])
        else:
            self._client.subscribe([(one, qos) for one in filters])
        granted = self._answer(lambda: self._granted, "subscribed to")
        for one, reason in zip(filters, granted, strict=False):
            if reason.is_failure:
                raise ConnectError(
                    f"{self.server} does not let the connector subscribe to {one}: {reason.getName()}. Let its user "
                    "read the topic, or change mqtt.topics"
                )

    def acknowledge(self, mid: int) -> None:
        """On a connection that has ended it does nothing: the server sends the message again."""
        client = self._client
        if client is not None:
            client.ack(mid, 1)

    def publish(self, topic: str, payload: bytes, qos: int, *, is_retained: bool) -> int:
        """The number of the message. Raises ValueError for a topic or payload that cannot be sent."""
        assert self._client is not None
        sent = self._client.publish(topic, payload, qos, is_retained)
        if sent.rc != MQTTErrorCode.MQTT_ERR_SUCCESS and not self._ended:
            self._ended = sent.rc.name
        return sent.mid

    # To connect

    def _open(self, server: Server) -> None:
        settings = self._settings
        self.server, self._ended, self._accepted = server, "", None
        client = self._client = self._made(server)
        more: dict[str, Any] = {}
        if settings.is_version_5:
            more = {"clean_start": settings.is_clean, "properties": self._properties()}
        try:
            client.connect(server.host, server.port, settings.keep_alive_s, **more)
        except ssl.SSLCertVerificationError as failure:
            raise ConnectError(
                f"the certificate of {server} is not trusted: {failure.verify_message}. Name the file with the "
                "certificate of its issuer in mqtt.ssl.trust.store.path"
            ) from failure
        except OSError as failure:
            if server.is_encrypted and isinstance(failure, ssl.SSLError | ConnectionResetError):
                raise RetriableError(
                    f"{server} has ended the handshake: {failure}; perhaps this port does not speak TLS, or the "
                    "server wants a certificate (mqtt.ssl.key.store.path)"
                ) from failure
            raise RetriableError(f"{server} cannot be reached: {failure}") from failure
        client.loop_start()
        accepted = self._answer(lambda: self._accepted, "let the connector in")
        if accepted.is_failure:
            name = accepted.getName()
            text = f"{server} does not let the connector in: {name}"
            if name in _ADVICE:
                raise ConnectError(f"{text}. Please {_ADVICE[name]}")
            raise RetriableError(text)

    def _made(self, server: Server) -> Client:
        settings = self._settings
        version = MQTTProtocolVersion.MQTTv5 if settings.is_version_5 else MQTTProtocolVersion.MQTTv311
        client = Client(
            CallbackAPIVersion.VERSION2,
            client_id=settings.client_id,
            clean_session=None if settings.is_version_5 else settings.is_clean,
            protocol=version,
            reconnect_on_failure=False,
            manual_ack=True,
        )
        client.connect_timeout = settings.connect_s
        if settings.user:
            client.username_pw_set(settings.user, settings.password or None)
        if server.is_encrypted:
            client.tls_set_context(settings.tls)
        client.on_connect = self._connected
        client.on_disconnect = self._disconnected
        client.on_message = self._took
        client.on_subscribe = self._subscribed
        client.on_publish = lambda _client, _data, mid, reason, _more: self._on_published(mid, reason)
        return client

    def _properties(self) -> Properties:
        made = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
        made.SessionExpiryInterval = 0 if self._settings.is_clean else NEVER_S
        if self._receive_max:
            made.ReceiveMaximum = min(self._receive_max, 0xFFFF)
        return made

    def _answer(self, look: Callable[[], Any], what: str) -> Any:
        end = time.monotonic() + self._settings.connect_s
        with self._answered:
            while (found := look()) is None:
                if self._ended:
                    raise RetriableError(self.why_ended)
                if not self._answered.wait(max(0.0, end - time.monotonic())) and time.monotonic() >= end:
                    raise RetriableError(
                        f"{self.server} has not {what} within {self._settings.connect_s} s "
                        "(mqtt.connect.timeout.seconds)"
                    )
        return found

    # In the network's thread

    def _connected(
        self, client: Client, data: Any, flags: ConnectFlags, reason: ReasonCode, more: Properties | None
    ) -> None:
        if not reason.is_failure:
            self.packet_bytes_max = getattr(more, "MaximumPacketSize", PAYLOAD_MAX)
            self._on_session(flags.session_present)
        with self._answered:
            self._accepted = reason
            self._answered.notify_all()

    def _took(self, client: Client, data: Any, message: MQTTMessage) -> None:
        """The client's thread would end with an exception, and nobody would notice."""
        try:
            self._on_message(message)
        except Exception as failure:
            log.exception("%s: a message cannot be taken", self.server)
            with self._answered:
                self._ended = self._ended or f"a message cannot be taken: {failure}"
                self._answered.notify_all()
            self._on_end()

    def _disconnected(self, client: Client, data: Any, flags: Any, reason: ReasonCode, more: Any) -> None:
        with self._answered:
            self._ended = self._ended or reason.getName()
            self._answered.notify_all()
        self._on_end()

    def _subscribed(self, client: Client, data: Any, mid: int, reasons: list[ReasonCode], more: Any) -> None:
        with self._answered:
            self._granted = reasons
            self._answered.notify_all()
