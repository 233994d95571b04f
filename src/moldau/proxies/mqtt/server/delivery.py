"""Messages from Kafka to clients: who gets one, with which QoS, and what waits.

A session reads along with the live reader as long as it keeps up. When more waits for it than may, it falls behind: it
notes where, and reads on by itself later. QoS 0 is dropped instead.
"""

import logging
from collections.abc import Sequence
from typing import Any, Final

from confluent_kafka import KafkaError
from confluent_kafka import Message as KafkaMessage

from moldau.proxies.mqtt.codec.encoding import publish_parts
from moldau.proxies.mqtt.codec.packets import V5, PubAck, PubComp, PubRec, PubRel
from moldau.proxies.mqtt.codec.properties import Property, property_bytes
from moldau.proxies.mqtt.codec.reason_codes import FAILURE_MIN, Reason
from moldau.proxies.mqtt.mapping.records import message_of, topic_of
from moldau.proxies.mqtt.server.catching_up import CatchingUp
from moldau.proxies.mqtt.server.connection import Connection
from moldau.proxies.mqtt.server.hub import Hub
from moldau.proxies.mqtt.session.messages import Message, Partition, Source, retained_source
from moldau.proxies.mqtt.session.outgoing import InFlight, Stage
from moldau.proxies.mqtt.session.session import Session, Waiting
from moldau.proxies.mqtt.session.subscriptions import Subscription

WAITING_MAX: Final = 1_000
WAITING_BYTES_MAX: Final = 1 << 20

log = logging.getLogger("moldau.mqtt")


class Delivery:
    """Runs on the event loop."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._catching_up = CatchingUp(hub, self)
        self.dropped = 0
        """Messages of QoS 0 that a slow client did not get."""
        self.sent = 0

    def stop(self) -> None:
        """Nothing is read any more."""
        self._catching_up.stop()

    def take(self, records: Sequence[KafkaMessage]) -> None:
        """What the live reader has read."""
        live, tree = self._hub.live.next, self._hub.tree
        for record in records:
            partition = Partition(record.topic() or "", record.partition() or 0)
            offset = record.offset() or 0
            error = record.error()
            if error is not None:
                if error.code() == KafkaError._PARTITION_EOF:
                    # Past the markers of transactions, which are no records.
                    live[partition] = max(offset, live.get(partition, 0))
                else:
                    log.warning("reading %s: %s", partition.topic, error.str())
                continue
            live[partition] = offset + 1
            headers = record.headers()
            topic = topic_of(partition.topic, record.key(), headers)
            matches = tree.matching(topic)
            if matches:
                _, timestamp_ms = record.timestamp()
                message = message_of(
                    partition.topic, record.key(), record.value(), headers, timestamp_ms, topic
                )
                source = Source(partition, offset)
                for session, subscriptions in matches:
                    if not session.is_behind and offset >= session.ahead.get(partition, 0):
                        self.offer(session, message, subscriptions, source)

    def offer(
        self,
        session: Session,
        message: Message,
        subscriptions: Sequence[Subscription],
        source: Source,
        *,
        is_missed: bool = False,
    ) -> None:
        """Sends a message to a session, or lets it wait. QoS 0 that was missed is not sent."""
        wanted = subscriptions
        if message.publisher == session.client_id:
            wanted = [one for one in subscriptions if not one.no_local]  # [MQTT-3.8.3-3]
            if not wanted:
                return
        qos = min(message.qos, max(one.qos for one in wanted))
        connection: Connection | None = session.client
        if connection is None or connection.is_closed:
            return
        retain = message.retain and any(one.retain_as_published for one in wanted)
        identifiers = tuple(one.identifier for one in wanted if one.identifier)
        if qos == 0:
            if is_missed:
                return
            if connection.is_writable:
                self._send(connection, message, 0, retain=retain, identifiers=identifiers)
            else:
                self.dropped += 1
            return
        one = Waiting(message, qos, source, retain, "", identifiers)
        if not session.waiting and session.window.has_room and connection.is_writable:
            self._start(session, one)
        elif len(session.waiting) < WAITING_MAX and session.waiting_bytes < WAITING_BYTES_MAX:
            session.waiting.append(one)
            session.waiting_bytes += len(message.payload)
        else:
            session.leave_live(self._hub.live.next)
            partition, offset = source
            session.positions[partition] = min(offset, session.positions.get(partition, offset))

    def give_shared(
        self, session: Session, message: Message, subscription: Subscription, source: Source, share: Any
    ) -> None:
        """A message of a shared subscription, to a session that has room."""
        qos = min(message.qos, subscription.qos)
        identifiers = (subscription.identifier,) if subscription.identifier else ()
        retain = message.retain and subscription.retain_as_published
        if qos == 0:
            self._send(session.client, message, 0, retain=retain, identifiers=identifiers)
            share.finish(source)
            return
        if source in session.window.by_source:
            share.finish(source)  # a session that was given it before the proxy was killed
            return
        self._start(session, Waiting(message, qos, source, retain, "", identifiers), share)

    def send_retained(self, session: Session, subscription: Subscription) -> None:
        """The retained messages, and figures of the proxy, that a new subscription matches."""
        own = self._hub.system_topics.matching(subscription.filter)
        for message in [*self._hub.retained.matching(subscription.filter), *own]:
            connection: Connection | None = session.client
            if connection is None:
                return
            qos = min(message.qos, subscription.qos)
            identifiers = (subscription.identifier,) if subscription.identifier else ()
            if qos == 0:
                self._send(connection, message, 0, retain=True, identifiers=identifiers)
                continue
            source = retained_source(message.topic)
            one = Waiting(message, qos, source, True, message.topic, identifiers)
            if not session.waiting and session.window.has_room and connection.is_writable:
                self._start(session, one)
            else:
                session.waiting.append(one)

    def resume(self, session: Session) -> None:
        """A client is back: what was in flight is sent again, and what it has missed is read."""
        connection: Connection = session.client
        self._hub.subscribing.appear(session)
        for entry in session.window:
            if entry.stage == Stage.RELEASED:
                connection.send(PubRel(entry.packet_id))
            elif entry.source.is_retained and entry.stage <= Stage.SENT:
                message = self._hub.retained.get(entry.retained_topic)
                if message is None:
                    session.window.finish(entry.packet_id)
                elif entry.stage == Stage.SENT:
                    entry.message, entry.retain = message, True
                    self._send_entry(connection, entry, is_again=True)
        if session.subscriptions or len(session.window):
            self.pump(session)

    def pump(self, session: Session) -> None:
        """Sends what waits, as far as there is room; then the session may read on."""
        connection: Connection | None = session.client
        if connection is None or connection.is_closed:
            return
        while session.waiting and session.window.has_room and connection.is_writable:
            one = session.waiting.popleft()
            session.waiting_bytes -= 0 if one.source.is_retained else len(one.message.payload)
            self._start(session, one)
        if session.has_shared:
            self._hub.sharing.note_room(session)
        if session.is_behind and not session.waiting and session.window.has_room and connection.is_writable:
            self._catching_up.begin(session)

    def acknowledged(self, session: Session, packet: PubAck) -> None:
        """The client has a message of QoS 1."""
        entry = session.window.get(packet.packet_id)
        if entry is not None and entry.qos == 1:
            self._finish(session, packet.packet_id)

    def received(self, session: Session, packet: PubRec) -> None:
        """The client has a message of QoS 2. That is stored before it may forget the identifier."""
        connection: Connection = session.client
        entry = session.window.get(packet.packet_id)
        if entry is None or entry.qos != 2:
            unknown = Reason.PACKET_IDENTIFIER_NOT_FOUND if connection.version == V5 else Reason.SUCCESS
            connection.send(PubRel(packet.packet_id, unknown))
        elif packet.reason >= FAILURE_MIN:
            self._finish(session, packet.packet_id)
        elif entry.stage == Stage.RELEASED:
            connection.send(PubRel(packet.packet_id))
        elif entry.stage == Stage.SENT:
            entry.message = None
            if not session.is_stored:
                entry.stage = Stage.RELEASED
                connection.send(PubRel(packet.packet_id))
                return
            entry.stage = Stage.RELEASING
            self._hub.sessions.note_flow(session)
            self._hub.state.submit((), lambda _error: self._released(session, entry))

    def completed(self, session: Session, packet: PubComp) -> None:
        """The client has forgotten the identifier."""
        entry = session.window.get(packet.packet_id)
        if entry is not None and entry.stage == Stage.RELEASED:
            self._finish(session, packet.packet_id)

    def _released(self, session: Session, entry: InFlight) -> None:
        if session.window.get(entry.packet_id) is entry and entry.stage == Stage.RELEASING:
            entry.stage = Stage.RELEASED
            if session.client is not None:
                session.client.send(PubRel(entry.packet_id))

    def _finish(self, session: Session, packet_id: int) -> None:
        entry = session.window.finish(packet_id)
        self._hub.sessions.note_flow_later(session)
        if entry is not None and entry.share is not None:
            entry.share.finish(entry.source)
        if session.waiting or session.is_behind:
            self.pump(session)
        if session.has_shared:
            self._hub.sharing.note_room(session)

    def _start(self, session: Session, one: Waiting, share: Any = None) -> None:
        entry = session.window.start(
            one.message,
            one.qos,
            one.source,
            retain=one.retain,
            retained_topic=one.retained_topic,
            identifiers=one.identifiers,
        )
        entry.share = share
        if one.qos == 2 and session.is_stored:
            # The identifier is stored first: after a restart the same message has to come with the same one.
            self._hub.sessions.note_flow(session)
            self._hub.state.submit((), lambda _error: self._identifier_stored(session, entry))
            return
        entry.stage = Stage.SENT
        self._send_entry(session.client, entry)

    def _identifier_stored(self, session: Session, entry: InFlight) -> None:
        if session.window.get(entry.packet_id) is entry and entry.stage == Stage.STORING:
            entry.stage = Stage.SENT
            if entry.share is not None:
                entry.share.was_stored(entry)
            connection: Connection | None = session.client
            if connection is not None and entry.message is not None:
                self._send_entry(connection, entry)
                if session.window.has_room:
                    self.pump(session)

    def send_again(self, session: Session, entry: InFlight) -> None:
        """A message that was in flight has been read again."""
        if session.client is not None:
            self._send_entry(session.client, entry, is_again=True)

    def _send_entry(self, connection: Connection, entry: InFlight, *, is_again: bool = False) -> None:
        assert entry.message is not None
        is_sent = self._send(
            connection,
            entry.message,
            entry.qos,
            entry.packet_id,
            retain=entry.retain,
            identifiers=entry.identifiers,
            is_again=is_again,
        )
        if not is_sent and connection.session is not None:
            connection.session.window.finish(entry.packet_id)
            if entry.share is not None:
                entry.share.finish(entry.source)
            self._hub.sessions.note_flow_later(connection.session)

    def _send(
        self,
        connection: Connection,
        message: Message,
        qos: int,
        packet_id: int = 0,
        *,
        retain: bool = False,
        identifiers: tuple[int, ...] = (),
        is_again: bool = False,
    ) -> bool:
        """False: the message has expired, or is larger than the client takes [MQTT-3.1.2-25]."""
        is_new = connection.version == V5
        parts = self._encoded(message, qos, retain=retain, identifiers=identifiers, is_new=is_new)
        if parts is None:
            return False
        head, tail = parts
        if 0 < connection.packet_bytes_max < len(head) + len(tail) + 2:
            log.info(
                "client %r does not take a message of %s: it is too large",
                connection.client_id,
                message.topic,
            )
            return False
        if is_again:
            head = bytes((head[0] | 8,)) + head[1:]
        self.sent += 1
        connection.write(head + packet_id.to_bytes(2, "big") + tail if qos else head + tail)
        return True

    def _encoded(
        self, message: Message, qos: int, *, retain: bool, identifiers: tuple[int, ...], is_new: bool
    ) -> tuple[bytes, bytes] | None:
        key = (is_new, qos, retain, identifiers)
        cached = message.encoded
        if cached is not None and key in cached:
            return cached[key]
        properties = b""
        expires_in_s = message.expires_in_s(self._hub.now_ms()) if message.properties else None
        if expires_in_s is not None and expires_in_s <= 0:
            return None
        if is_new:
            wanted = dict(message.properties)
            if expires_in_s is not None:
                wanted[Property.MESSAGE_EXPIRY] = expires_in_s  # [MQTT-3.3.2-6]
            if identifiers:
                wanted[Property.SUBSCRIPTION_IDENTIFIER] = list(identifiers)
            properties = property_bytes(wanted)
        parts = publish_parts(
            message.topic.encode(), message.payload, qos, retain=retain, properties=properties
        )
        if expires_in_s is None:
            if cached is None:
                cached = message.encoded = {}
            cached[key] = parts
        return parts
