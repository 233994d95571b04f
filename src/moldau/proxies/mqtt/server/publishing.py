"""Messages from clients to Kafka, and their acknowledgements, in the order of the messages.

A message of QoS 0 or 1 is one record of the idempotent producer. One of QoS 2 goes into a transaction with the state of
its session, which says that this packet identifier has been received: a PUBLISH that the client sends again, even after
the proxy was killed, is recognized. Sessions that are not stored do not need that.
"""

import logging
from collections import deque
from typing import Any, Final

from confluent_kafka import KafkaError, KafkaException

from moldau.proxies.mqtt.codec.packets import V5, PubAck, PubComp, Publish, PubRec, PubRel, Will
from moldau.proxies.mqtt.codec.properties import NO_PROPERTIES, Properties, Property
from moldau.proxies.mqtt.codec.reason_codes import Reason
from moldau.proxies.mqtt.kafka.state_log import Record
from moldau.proxies.mqtt.mapping.records import NO_HEADERS, headers_of
from moldau.proxies.mqtt.mapping.rules import Route, is_own
from moldau.proxies.mqtt.server.connection import Connection
from moldau.proxies.mqtt.server.hub import Hub
from moldau.proxies.mqtt.session.messages import Message
from moldau.proxies.mqtt.session.retained import Settle, Write, nothing
from moldau.proxies.mqtt.session.session import Session

FORWARDED: Final = frozenset(
    {
        Property.PAYLOAD_FORMAT,
        Property.MESSAGE_EXPIRY,
        Property.CONTENT_TYPE,
        Property.RESPONSE_TOPIC,
        Property.CORRELATION_DATA,
        Property.USER_PROPERTY,
    }
)
PLAIN: Final = Route("", b"", True)
REASONS: Final = {
    KafkaError.TOPIC_AUTHORIZATION_FAILED: Reason.NOT_AUTHORIZED,
    KafkaError.MSG_SIZE_TOO_LARGE: Reason.QUOTA_EXCEEDED,
    KafkaError.TOPIC_EXCEPTION: Reason.TOPIC_NAME_INVALID,
}

log = logging.getLogger("moldau.mqtt")


class OnItsWay:
    """A message of QoS 0 or 1, or one of QoS 2 whose session is not stored. Called by the producer."""

    __slots__ = ("connection", "error", "missing", "packet_id", "qos", "size")

    def __init__(self, connection: Connection, packet_id: int, qos: int, size: int, missing: int) -> None:
        self.connection = connection
        self.packet_id = packet_id
        self.qos = qos
        self.size = size
        self.missing = missing
        """So many writes are not finished: the record, and the retained message if it is one."""
        self.error: KafkaError | None = None

    def __call__(self, error: KafkaError | None, _message: Any) -> None:
        connection = self.connection
        connection.outstanding -= 1
        self.missing -= 1
        if error is not None:
            self.error = error
        hub = connection.hub
        hub.publisher.reported += 1
        hub.publisher.reported_bytes += self.size
        hub.publishing.touched.add(connection)

    def settle(self, error: KafkaError | None) -> None:
        """One of its writes is finished, outside of the producer."""
        self.missing -= 1
        if error is not None:
            self.error = error
        if not self.missing:
            self.connection.hub.publishing.acknowledge(self.connection)


class Publishing:
    """Takes PUBLISH and PUBREL of clients."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self.touched: set[Connection] = set()
        """Connections with reports since the last `after_reports`."""
        self.received = self.failed = 0
        """Messages from clients; those that Kafka did not take."""

    def publish(self, connection: Connection, packet: Publish) -> None:
        """The topic name is there, an alias has been replaced."""
        hub = self._hub
        session = connection.session
        assert session is not None
        self.received += 1
        route = hub.rules.route(packet.topic)
        if route is None:
            self._refuse(
                connection,
                packet,
                Reason.TOPIC_NAME_INVALID,
                _unroutable(packet.topic),
            )
            return
        message, headers = None, NO_HEADERS
        if packet.qos != 1 or packet.retain or packet.properties or session.has_no_local or not route[2]:
            message = message_from(packet, session)
            headers = headers_of(message, route)
        if packet.qos == 2 and not self._is_new(connection, session, packet.packet_id):
            return
        if message is not None and packet.retain and self._has_too_many_retained(message):
            session.incoming.pop(packet.packet_id, None)
            self._refuse(
                connection,
                packet,
                Reason.QUOTA_EXCEEDED,
                "there are too many retained messages (retained.max)",
            )
            return
        if packet.qos == 2 and session.is_stored:
            assert message is not None
            self._publish_once(session, packet.packet_id, message, route)
            return
        sent = OnItsWay(
            connection, packet.packet_id, packet.qos, len(packet.payload), 2 if packet.retain else 1
        )
        if packet.qos:
            if connection.acks is None:
                connection.acks = deque()
            connection.acks.append(sent)
        connection.outstanding += 1
        try:
            hub.publisher.publish(route[0], route[1], packet.payload, headers, sent)
        except (KafkaException, BufferError) as raised:
            error = (
                raised.args[0] if isinstance(raised, KafkaException) else KafkaError(KafkaError._QUEUE_FULL)
            )
            connection.outstanding -= 1
            self.touched.add(connection)
            sent.settle(error)
        if message is not None and packet.retain:
            self.retain(message, sent.settle)

    def release(self, connection: Connection, packet: PubRel) -> None:
        """The client may use the identifier again once it has a PUBCOMP, so it must be forgotten durably before."""
        session = connection.session
        assert session is not None
        known = session.incoming.pop(packet.packet_id, None) is not None
        reason = Reason.SUCCESS if known else Reason.PACKET_IDENTIFIER_NOT_FOUND
        answer = PubComp(packet.packet_id, reason)
        if not session.is_stored:
            connection.send(answer)
            return

        def then(_error: KafkaError | None) -> None:
            if session.client is not None:
                session.client.send(answer)

        self._hub.sessions.note_flow(session)
        self._hub.state.submit((), then)

    def publish_will(self, session: Session, will: Will, publisher: str) -> None:
        """In one transaction with the session, which does not have the will any more."""
        route = self._hub.rules.route(will.topic)
        if route is None:
            log.warning("the will of client %r is lost: %s", publisher, _unroutable(will.topic))
            return
        message = Message(
            will.topic, will.payload, will.qos, will.retain, _forwarded(will.properties), self._hub.now_ms()
        )
        records = [Record(route.topic, route.key, message.payload, headers_of(message, route))]
        settle: Settle = nothing
        if will.retain and not self._has_too_many_retained(message):
            write = self._hub.retained.begin(message)
            records.append(self._retained_record(write))
            settle = write.settle

        def then(error: KafkaError | None) -> None:
            settle(error)
            if error is not None:
                log.warning("the will of client %r is lost: %s", publisher, error.str())

        self._hub.state.submit(records, then)

    def retain(self, message: Message, then: Any) -> None:
        """Stores the message as the last one of its topic."""
        write = self._hub.retained.begin(message)

        def stored(error: KafkaError | None) -> None:
            write.settle(error)
            then(error)

        self._hub.state.submit([self._retained_record(write)], stored)

    def acknowledge(self, connection: Connection) -> None:
        """Acknowledges what has arrived, as far as nothing before it is on its way [MQTT-4.6.0-2], [MQTT-4.6.0-3]."""
        acks = connection.acks
        answers = bytearray()
        while acks and not acks[0].missing:
            first = acks.popleft()
            packet_id = first.packet_id
            if first.error is not None:
                connection.write(bytes(answers))
                answers.clear()
                self._fail(connection, first.qos, packet_id, first.error)
                continue
            if first.qos == 2 and connection.session is not None:
                connection.session.incoming[packet_id] = True
            answers += bytes((0x40 if first.qos == 1 else 0x50, 2, packet_id >> 8, packet_id & 0xFF))
        connection.write(bytes(answers))

    def after_reports(self) -> None:
        """Acknowledges what has arrived; then more may be read from those clients."""
        touched, self.touched = self.touched, set()
        for connection in touched:
            self.acknowledge(connection)
            connection.update_reading()

    def _is_new(self, connection: Connection, session: Session, packet_id: int) -> bool:
        """Notes the identifier. One that is known gets its PUBREC again, or soon [MQTT-4.3.3-2]."""
        arrived = session.incoming.get(packet_id)
        if arrived is None:
            session.incoming[packet_id] = False
            return True
        if arrived:
            connection.send(PubRec(packet_id))
        return False

    def _publish_once(self, session: Session, packet_id: int, message: Message, route: Route) -> None:
        records = [Record(route.topic, route.key, message.payload, headers_of(message, route))]
        settle: Settle = nothing
        if message.retain:
            write = self._hub.retained.begin(message)
            records.append(self._retained_record(write))
            settle = write.settle

        def then(error: KafkaError | None) -> None:
            client: Connection | None = session.client
            settle(error)
            if error is None:
                if packet_id in session.incoming:
                    session.incoming[packet_id] = True
                if client is not None:
                    client.send(PubRec(packet_id))
                return
            session.incoming.pop(packet_id, None)
            self._hub.sessions.note_flow(session)
            if client is not None:
                self._fail(client, 2, packet_id, error)

        self._hub.sessions.note_flow(session)
        self._hub.state.submit(records, then)

    def _retained_record(self, write: Write) -> Record:
        message = write.message
        topic, headers = self._hub.settings.retained_topic, headers_of(message, PLAIN)
        return Record(topic, message.topic.encode(), message.payload or None, headers, write.placed)

    def _has_too_many_retained(self, message: Message) -> bool:
        retained = self._hub.retained
        return (
            retained.count >= self._hub.settings.retained_max
            and bool(message.payload)
            and retained.get(message.topic) is None
        )

    def _fail(self, connection: Connection, qos: int, packet_id: int, error: KafkaError) -> None:
        """Kafka will never take the message."""
        self.failed += 1
        text = f"Kafka does not take the message: {error.str()}"
        if error.code() in (KafkaError._UNKNOWN_TOPIC, KafkaError.UNKNOWN_TOPIC_OR_PART):
            text += "; the broker does not create topics by itself: create it with `moldau topics create`"
        reason = REASONS.get(error.code(), Reason.IMPLEMENTATION_SPECIFIC_ERROR)
        if connection.session is not None:
            connection.session.incoming.pop(packet_id, None)
        self._answer(connection, qos, packet_id, reason, text)

    def _refuse(self, connection: Connection, packet: Publish, reason: Reason, text: str) -> None:
        if packet.qos == 0 and connection.version == V5:
            log.info("client %r: %s; the message is dropped", connection.client_id, text)
            return
        self._answer(connection, packet.qos, packet.packet_id, reason, text)

    def _answer(self, connection: Connection, qos: int, packet_id: int, reason: Reason, text: str) -> None:
        """3.1.1 has no way to refuse a message but to close the connection [MQTT-3.3.5-2]."""
        if connection.version != V5 or qos == 0:
            connection.close(reason, text)
            return
        log.info("client %r: %s", connection.client_id, text)
        kind = PubAck if qos == 1 else PubRec
        connection.send(kind(packet_id, reason, connection.problem(text)))


def message_from(packet: Publish, session: Session) -> Message:
    """What a PUBLISH carries."""
    return Message(
        packet.topic,
        packet.payload,
        packet.qos,
        packet.retain,
        _forwarded(packet.properties),
        Hub.now_ms(),
        session.client_id if session.has_no_local else None,
    )


def _unroutable(topic: str) -> str:
    """Why there is no route."""
    if is_own(topic):
        return f"{topic!r} is a topic of the proxy itself; choose one that does not begin with $SYS"
    return f"no Kafka topic can have the name for {topic!r}"


def _forwarded(properties: Properties) -> Properties:
    if not properties:
        return NO_PROPERTIES
    return {number: value for number, value in properties.items() if number in FORWARDED}
