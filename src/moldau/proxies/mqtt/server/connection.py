"""One client's socket. Knows packets and when to stop reading; what packets mean is decided by the other parts.

Packets are handled in order. While one that has to wait is handled, a CONNECT or a SUBSCRIBE, nothing more is read.
Nor is it while too many messages of this client, or too many bytes of all, are on their way to Kafka.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Coroutine, Sequence
from typing import TYPE_CHECKING, Any, Final, NoReturn, cast

from moldau.proxies.mqtt.codec.decoding import decode
from moldau.proxies.mqtt.codec.encoding import encode
from moldau.proxies.mqtt.codec.framing import Frame, FrameReader
from moldau.proxies.mqtt.codec.packets import (
    V5,
    V311,
    Acknowledgement,
    Auth,
    ConnAck,
    Connect,
    Disconnect,
    Packet,
    PingReq,
    PubAck,
    PubComp,
    Publish,
    PubRec,
    PubRel,
    Subscribe,
    Unsubscribe,
)
from moldau.proxies.mqtt.codec.primitives import MalformedPacket
from moldau.proxies.mqtt.codec.properties import NO_PROPERTIES, Properties, Property
from moldau.proxies.mqtt.codec.reason_codes import RETURN_CODES, Reason
from moldau.proxies.mqtt.server.hub import Hub
from moldau.proxies.mqtt.server.security import Login
from moldau.proxies.mqtt.session.session import Session

if TYPE_CHECKING:
    from moldau.proxies.mqtt.server.publishing import OnItsWay

WRITE_BUFFER_MAX: Final = 256 << 10
CLOSE_S: Final = 5.0
"""How long a client may take to read the last bytes."""
TOPIC_ALIAS_MAX: Final = 100
CONNECT: Final = 0x10
PINGRESP: Final = b"\xd0\x00"
SLACK_S: Final = 1.0

log = logging.getLogger("moldau.mqtt")


class Connection(asyncio.Protocol):
    """From the first byte to the last."""

    __slots__ = (
        "_aliases",
        "_first_seen",
        "_has_begun",
        "_held",
        "_is_reading",
        "_last_seen",
        "_reader",
        "_task",
        "_transport",
        "_wants_reasons",
        "acks",
        "client_id",
        "hub",
        "is_bridge",
        "is_closed",
        "is_writable",
        "keep_alive_s",
        "outstanding",
        "packet_bytes_max",
        "session",
        "version",
    )

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self.session: Session | None = None
        """Once the CONNECT was accepted, and until the connection is closed."""
        self.version = V311
        self.client_id = ""
        self.keep_alive_s = 0
        self.is_bridge = False
        """A bridge does not get what it has published itself, and sees which messages are retained."""
        self.packet_bytes_max = 0
        """What the client takes; 0: anything."""
        self.outstanding = 0
        self.acks: deque[OnItsWay] | None = None
        self.is_writable = True
        self.is_closed = False
        self._reader = FrameReader(hub.settings.packet_bytes_max)
        self._transport: asyncio.Transport | None = None
        self._held: deque[Frame] | None = None
        """Packets that wait until the one before is handled; None when there is none."""
        self._is_reading = True
        self._aliases: dict[int, str] | None = None
        self._wants_reasons = True
        self._task: asyncio.Task[None] | None = None
        self._first_seen = self._last_seen = hub.loop.time()
        self._has_begun = False
        """Something has come."""

    @property
    def peer(self) -> str:
        """Its address, for messages."""
        found = self._transport.get_extra_info("peername") if self._transport is not None else None
        return f"{found[0]}:{found[1]}" if isinstance(found, tuple) else "unknown"

    def login(self, packet: Connect) -> Login:
        """Whether the client may connect, and as whom."""
        assert self._transport is not None
        return self.hub.security.login(packet, self._transport)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's is no subclass.
        self._transport = transport = cast(asyncio.Transport, transport)
        transport.set_write_buffer_limits(WRITE_BUFFER_MAX)
        if len(self.hub.connections) >= self.hub.settings.connections_max:
            self.is_closed = True
            log.warning("%s is turned away: there are too many clients (connections.max)", self.peer)
            transport.abort()
            return
        self.hub.connections.add(self)
        self.update_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        self.hub.connections.discard(self)
        self._end(with_will=True)

    def pause_writing(self) -> None:
        self.is_writable = False

    def resume_writing(self) -> None:
        self.is_writable = True
        if self.session is not None:
            self.hub.delivery.pump(self.session)

    def data_received(self, data: bytes) -> None:
        if self.is_closed:
            return
        if not self._has_begun:
            self._has_begun = True
            if data[0] != CONNECT:
                # Another protocol: what it calls a length would be waited for.
                self.close(None, "the first packet is no CONNECT")  # [MQTT-3.1.0-1]
                return
        self._last_seen = self.hub.loop.time()
        frames = self._reader.feed(data)
        if self._held is not None:
            self._held.extend(frames)
        else:
            self._handle(frames)

    def update_reading(self) -> None:
        """Stops reading from the client, or begins again."""
        if self.is_closed or self._transport is None:
            return
        wanted = (
            self._held is None
            and self.outstanding < self.hub.settings.receive_max
            and not self.hub.backlog.is_full
        )
        if wanted is not self._is_reading:
            self._is_reading = wanted
            if wanted:
                # What it has sent meanwhile was not seen, so the time did not count.
                self._last_seen = self.hub.loop.time()
                self._transport.resume_reading()
            else:
                self._transport.pause_reading()

    def check_time(self, now: float) -> None:
        """Closes a connection that has been silent for too long [MQTT-3.1.2-24]."""
        if self.is_closed or not self._is_reading:
            return
        if self.session is None:
            if now - self._first_seen > self.hub.settings.connect_timeout_ms / 1000 and self._task is None:
                self.close(None, "no CONNECT came in time (connect.timeout.ms)")
        elif self.keep_alive_s and now - self._last_seen > self.keep_alive_s * 1.5 + SLACK_S:
            self.close(Reason.KEEP_ALIVE_TIMEOUT, f"nothing came for {now - self._last_seen:.1f} s")

    def send(self, packet: Packet) -> None:
        """Ends without effect when the connection is closed."""
        if self.is_closed or self._transport is None:
            return
        if self.session is not None or isinstance(packet, ConnAck):  # [MQTT-3.2.0-1]
            data = encode(packet, self.version)
            if 0 < self.packet_bytes_max < len(data):
                packet = self._without_reasons(packet)
                data = encode(packet, self.version)
            self._transport.write(data)

    def write(self, data: bytes) -> None:
        """The same for a packet that is encoded already."""
        if data and not self.is_closed and self._transport is not None and self.session is not None:
            self._transport.write(data)

    def problem(self, text: str) -> Properties:
        """The reason string, if the client wants one."""
        if self.version != V5 or not self._wants_reasons:
            return NO_PROPERTIES
        return {Property.REASON_STRING: text[:1024]}

    def accept(self, session: Session) -> None:
        """The CONNECT has been accepted."""
        self.session = session

    def shut_down(self) -> None:
        """The proxy ends. The session stays as it is, with its will."""
        if not self.is_closed and self._transport is not None:
            if self.version == V5:
                self.send(Disconnect(Reason.SERVER_SHUTTING_DOWN))
            self.is_closed = True
            self.session = None
            self._transport.close()

    def abort(self) -> None:
        """Without a word."""
        self.is_closed = True
        self.session = None
        if self._transport is not None:
            self._transport.abort()

    def stop_reading(self) -> None:
        """For good."""
        if not self.is_closed and self._is_reading and self._transport is not None:
            self._is_reading = False
            self._transport.pause_reading()

    def close(self, reason: Reason | None, text: str, *, with_will: bool = True) -> None:
        """Says the reason where the version can, and closes the connection."""
        if self.is_closed:
            return
        log.info("client %r at %s: %s; closed", self.client_id, self.peer, text)
        if reason is not None and self.version == V5 and self.session is not None:
            self.send(Disconnect(reason, self.problem(text)))
        self._shut(with_will=with_will)

    def refuse(self, reason: Reason, text: str, properties: Properties = NO_PROPERTIES) -> None:
        """Answers a CONNECT with a failure, and closes the connection."""
        if self.is_closed:
            return
        log.info("client %r at %s is refused: %s", self.client_id, self.peer, text)
        if self.version == V5:
            self.send(ConnAck(False, reason, {**self.problem(text), **properties}))
        elif reason in RETURN_CODES:
            self.send(ConnAck(False, RETURN_CODES[reason]))
        self._shut(with_will=False)

    def _shut(self, *, with_will: bool) -> None:
        self.is_closed = True
        assert self._transport is not None
        self._transport.close()
        self.hub.loop.call_later(CLOSE_S, self._transport.abort)
        self._end(with_will=with_will)

    def _end(self, *, with_will: bool) -> None:
        self.is_closed = True
        self._held = None
        session, self.session = self.session, None
        if session is not None:
            self.hub.sessions.leave(session, self, with_will=with_will)

    def _handle(self, frames: Sequence[Frame]) -> None:
        number = 0
        try:
            for number, (first, body) in enumerate(frames, 1):
                waiting = self._take(decode(first, body, self.version))
                if self.is_closed:
                    return
                if waiting is not None:
                    self._held = deque(frames[number:])
                    self._task = self.hub.loop.create_task(self._wait(waiting))
                    break
            else:
                if self._reader.failure is not None:
                    raise self._reader.failure
        except MalformedPacket as failure:
            self._fail(failure)
            return
        self.update_reading()

    async def _wait(self, waiting: Coroutine[Any, Any, None]) -> None:
        """Until the packet is handled; then come those that were held."""
        try:
            await waiting
        except MalformedPacket as failure:
            self._fail(failure)
        except Exception:
            log.exception("client %r: a packet could not be handled", self.client_id)
            self.close(Reason.UNSPECIFIED_ERROR, "a packet could not be handled")
        finally:
            self._task = None
        held, self._held = self._held, None
        if not self.is_closed:
            self._handle(list(held or ()))

    def _fail(self, failure: MalformedPacket) -> None:
        if self.session is None:
            if failure.version is not None:
                self.version = failure.version
                known = self.version == V5 or failure.reason == Reason.UNSUPPORTED_PROTOCOL_VERSION
                if known:
                    self.refuse(failure.reason, str(failure))
                    return
            self.close(None, str(failure))  # [MQTT-3.1.4-1]
        else:
            self.close(failure.reason, str(failure))

    def _take(self, packet: Packet) -> Coroutine[Any, Any, None] | None:
        """Handles a packet, or returns what has to be waited for."""
        if type(packet) is Publish and self.session is not None:
            self._publish(packet)
            return None
        if self.session is None:
            if not isinstance(packet, Connect):
                raise MalformedPacket("the first packet is no CONNECT")  # [MQTT-3.1.0-1]
            self.version = packet.version
            self.client_id = packet.client_id
            self.is_bridge = packet.is_bridge
            self._wants_reasons = bool(packet.properties.get(Property.REQUEST_PROBLEM_INFORMATION, 1))
            self.packet_bytes_max = packet.properties.get(Property.MAXIMUM_PACKET_SIZE, 0)
            return self.hub.sessions.connect(self, packet)
        match packet:
            case Acknowledgement():
                self._take_answer(packet, self.session)
            case PingReq():
                self.write(PINGRESP)
            case Subscribe():
                return self.hub.subscribing.subscribe(self, packet)
            case Unsubscribe():
                return self.hub.subscribing.unsubscribe(self, packet)
            case Disconnect():
                self._disconnect(packet, self.session)
            case _:
                self._refuse(packet)
        return None

    def _take_answer(self, packet: Acknowledgement, session: Session) -> None:
        match packet:
            case PubAck():
                self.hub.delivery.acknowledged(session, packet)
            case PubRec():
                self.hub.delivery.received(session, packet)
            case PubRel():
                self.hub.publishing.release(self, packet)
            case PubComp():
                self.hub.delivery.completed(session, packet)

    def _refuse(self, packet: Packet) -> NoReturn:
        match packet:
            case Auth():
                raise MalformedPacket("AUTH without an authentication method", Reason.PROTOCOL_ERROR)
            case Connect():
                raise MalformedPacket("a second CONNECT", Reason.PROTOCOL_ERROR)  # [MQTT-3.1.0-2]
            case _:
                raise MalformedPacket(
                    f"a {type(packet).__name__.upper()} comes only from a server", Reason.PROTOCOL_ERROR
                )

    def _publish(self, packet: Publish) -> None:
        if packet.properties:
            alias = packet.properties.get(Property.TOPIC_ALIAS)
            if alias is not None:
                self._use_alias(packet, alias)
            if Property.SUBSCRIPTION_IDENTIFIER in packet.properties:  # [MQTT-3.3.4-6]
                raise MalformedPacket(
                    "a client sends no subscription identifier in a PUBLISH", Reason.PROTOCOL_ERROR
                )
        if packet.qos and self.version == V5:
            assert self.session is not None
            received = len(self.acks or ()) + sum(self.session.incoming.values())
            if received >= self.hub.settings.receive_max and packet.packet_id not in self.session.incoming:
                raise MalformedPacket(
                    f"more than {self.hub.settings.receive_max} messages are not acknowledged",
                    Reason.RECEIVE_MAXIMUM_EXCEEDED,
                )
        self.hub.publishing.publish(self, packet)

    def _use_alias(self, packet: Publish, alias: int) -> None:
        if not 0 < alias <= TOPIC_ALIAS_MAX:
            raise MalformedPacket(
                f"the topic alias {alias} is not between 1 and {TOPIC_ALIAS_MAX}", Reason.TOPIC_ALIAS_INVALID
            )
        if self._aliases is None:
            self._aliases = {}
        if packet.topic:
            self._aliases[alias] = packet.topic
            return
        if alias not in self._aliases:
            raise MalformedPacket(f"the topic alias {alias} stands for no topic", Reason.PROTOCOL_ERROR)
        packet.topic = self._aliases[alias]

    def _disconnect(self, packet: Disconnect, session: Session) -> None:
        expiry_s = packet.properties.get(Property.SESSION_EXPIRY)
        if expiry_s is not None:
            if expiry_s and not session.expiry_s:  # [MQTT-3.14.2.2.2]
                raise MalformedPacket(
                    "a session that ends with its connection cannot be prolonged", Reason.PROTOCOL_ERROR
                )
            self.hub.sessions.set_expiry(session, expiry_s)
        self._shut(with_will=packet.reason == Reason.DISCONNECT_WITH_WILL)

    def _without_reasons(self, packet: Packet) -> Packet:
        """A reason that would make a packet too large is left out [MQTT-3.1.2-24 of 5.0]."""
        properties = getattr(packet, "properties", None)
        if properties and Property.REASON_STRING in properties:
            kept = {number: value for number, value in properties.items() if number != Property.REASON_STRING}
            packet.properties = kept  # type: ignore[union-attr]  # those with a reason have properties
        return packet
