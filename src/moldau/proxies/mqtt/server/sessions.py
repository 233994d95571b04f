"""Who is connected, and what is stored of it: CONNECT, the end of connections, wills and expiry.

A session with an expiry is stored in the state topic. A will is too, even of a session that ends with its connection:
it is published when the proxy starts again, unless the client has come back soon.
"""

import asyncio
import logging
import uuid
from typing import Any, Final

from moldau.proxies.mqtt.codec.packets import V5, ConnAck, Connect
from moldau.proxies.mqtt.codec.properties import Property
from moldau.proxies.mqtt.codec.reason_codes import Reason
from moldau.proxies.mqtt.kafka.state_log import Record
from moldau.proxies.mqtt.kafka.stored import Stored, flow_key, profile_key
from moldau.proxies.mqtt.server.connection import TOPIC_ALIAS_MAX, Connection
from moldau.proxies.mqtt.server.hub import Hub
from moldau.proxies.mqtt.session.session import Session

CLIENT_ID_BYTES_MAX: Final = 1_024
REFUSED_S: Final = 0.1
"""A failed login waits so long for its answer, as in Kafka: guessing takes time."""
FLOW_S: Final = 5.0
"""Positions and acknowledgements that need not be stored at once are stored this often."""

log = logging.getLogger("moldau.mqtt")


class Sessions:
    """Owns all sessions by client identifier."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._by_id: dict[str, Session] = {}
        self._away: dict[str, Session] = {}
        """Those without a connection."""
        self._profiles: set[str] = set()
        """Clients whose profile has to be stored with the next transaction."""
        self._flows: set[str] = set()
        self._later: set[str] = set()
        """Clients whose flow is stored some time."""
        self._stored: set[str] = set()
        """Clients of which the topic has a record, or will have one."""

    def __len__(self) -> int:
        return len(self._by_id)

    def restore(self, stored: Stored) -> None:
        """Takes over what the state topic has."""
        now_ms = self._hub.now_ms()
        for client_id, profile in stored.profiles.items():
            session = Session(client_id, 0, self._hub.settings.inflight_max)
            session.restore_profile(profile)
            if client_id in stored.flows:
                session.restore_flow(stored.flows[client_id])
            if session.will is not None:
                session.will_at_ms = max(
                    session.will_at_ms or 0, now_ms + self._hub.settings.will_restart_grace_ms
                )
            self._by_id[client_id] = self._away[client_id] = session
            self._stored.add(client_id)
        for client_id in stored.flows.keys() - stored.profiles.keys():
            self._stored.add(client_id)
            self._flows.add(client_id)

    async def connect(self, connection: Connection, packet: Connect) -> None:
        """Answers a CONNECT, and gives the client its session."""
        login = connection.login(packet)
        if not login.is_allowed:
            await asyncio.sleep(REFUSED_S)
            reason = Reason.NOT_AUTHORIZED if packet.username is None else Reason.BAD_USER_NAME_OR_PASSWORD
            connection.refuse(reason, "no certificate, and no name and password that are right")
            return
        if Property.AUTHENTICATION_METHOD in packet.properties:
            connection.refuse(
                Reason.BAD_AUTHENTICATION_METHOD, "there is no authentication by AUTH packets here"
            )
            return
        if not packet.client_id and packet.version != V5 and not packet.clean_start:  # [MQTT-3.1.3-8]
            connection.refuse(
                Reason.CLIENT_IDENTIFIER_NOT_VALID, "an empty client identifier needs a clean session"
            )
            return
        if len(packet.client_id.encode()) > CLIENT_ID_BYTES_MAX:
            connection.refuse(
                Reason.CLIENT_IDENTIFIER_NOT_VALID,
                f"a client identifier has more than {CLIENT_ID_BYTES_MAX} bytes",
            )
            return
        former = self._by_id.get(packet.client_id)
        if former is not None and not former.belongs_to(login.user):
            log.warning(
                "client %r at %s logs in as %s and is refused: the session of this client identifier belongs to %s. "
                "Clients of different users need different client identifiers",
                packet.client_id,
                connection.peer,
                login.user or "nobody",
                former.user,
            )
            await asyncio.sleep(REFUSED_S)
            connection.refuse(
                Reason.NOT_AUTHORIZED, "the client identifier is another user's: choose another one"
            )
            return
        assigned = not packet.client_id
        if assigned:
            connection.client_id = packet.client_id = f"auto-{uuid.uuid4().hex}"
        session, is_present, was_stored = self._session_for(connection, packet, login.user)
        if session.is_stored or session.will is not None or was_stored:
            self.note_profile(session)
            self.note_flow(session)
            await self._hub.state.stored()
        if session.has_plain and not connection.is_closed:
            await self._hub.live.ensure()
        if connection.is_closed or session.client is not connection:
            self.leave(session, connection, with_will=False)
            return
        connection.accept(session)
        connection.send(self._connack(packet, session, is_present=is_present, assigned=assigned))
        self._hub.delivery.resume(session)

    def _session_for(
        self, connection: Connection, packet: Connect, user: str | None
    ) -> tuple[Session, bool, bool]:
        """The session; whether it was there; whether one was stored."""
        client_id = packet.client_id
        former = self._by_id.get(client_id)
        if former is not None and former.client is not None:
            # [MQTT-3.1.4-2]
            self._take_over(former, former.client)
        former = self._by_id.get(client_id)
        was_stored = client_id in self._stored
        is_present = former is not None and not packet.clean_start and former.is_stored
        if former is not None and not is_present:
            self._drop(former, with_will=True)
        session = former if former is not None and is_present else Session(client_id, 0, 1)
        session.user = user
        session.client = connection
        session.ended_ms = None
        session.expiry_s = self._expiry_s(packet)
        session.will, session.will_at_ms = packet.will, None
        wanted = packet.properties.get(Property.RECEIVE_MAXIMUM, self._hub.settings.inflight_max)
        session.window.size = min(wanted, self._hub.settings.inflight_max)
        self._by_id[client_id] = session
        self._away.pop(client_id, None)
        connection.keep_alive_s = packet.keep_alive_s
        return session, is_present, was_stored

    def _take_over(self, session: Session, connection: Connection) -> None:
        if connection.session is None:
            # Its CONNECT is still being answered.
            connection.refuse(Reason.UNSPECIFIED_ERROR, "another connection has the same client identifier")
            self.leave(session, connection, with_will=False)
        else:
            connection.close(Reason.SESSION_TAKEN_OVER, "another connection has the same client identifier")

    def _expiry_s(self, packet: Connect) -> int:
        limit_s = self._hub.settings.session_expiry_max_s
        if packet.version != V5:
            return 0 if packet.clean_start else limit_s
        wanted_s: int = packet.properties.get(Property.SESSION_EXPIRY, 0)
        return min(wanted_s, limit_s)

    def _connack(self, packet: Connect, session: Session, *, is_present: bool, assigned: bool) -> ConnAck:
        if packet.version != V5:
            return ConnAck(is_present)
        settings = self._hub.settings
        properties: dict[int, Any] = {
            Property.RECEIVE_MAXIMUM: settings.receive_max,
            Property.MAXIMUM_PACKET_SIZE: settings.packet_bytes_max,
            Property.TOPIC_ALIAS_MAXIMUM: TOPIC_ALIAS_MAX,
        }
        if session.expiry_s != packet.properties.get(Property.SESSION_EXPIRY, 0):
            properties[Property.SESSION_EXPIRY] = session.expiry_s
        if assigned:
            properties[Property.ASSIGNED_CLIENT_IDENTIFIER] = session.client_id
        return ConnAck(is_present, Reason.SUCCESS, properties)

    def leave(self, session: Session, connection: Connection, *, with_will: bool) -> None:
        """The connection of the session has ended."""
        if session.client is not connection:
            return
        hub = self._hub
        now_ms = hub.now_ms()
        session.client = None
        session.ended_ms = now_ms
        hub.subscribing.withdraw(session)
        session.leave_live(hub.live.next)
        session.forget_messages()
        will = session.will
        if will is not None and with_will:
            delay_s = min(will.properties.get(Property.WILL_DELAY, 0), session.expiry_s)
            session.will_at_ms = now_ms + delay_s * 1000
            if not delay_s:
                self._publish_will(session)
        else:
            session.will = None
        if session.is_stored:
            self._away[session.client_id] = session
        elif self._by_id.get(session.client_id) is session:
            del self._by_id[session.client_id]
        if session.is_stored or session.client_id in self._stored:
            self.note_profile(session)
            self.note_flow(session)
            hub.state.submit((), lambda _error: None)

    def set_expiry(self, session: Session, expiry_s: int) -> None:
        """A DISCONNECT may change it."""
        session.expiry_s = min(expiry_s, self._hub.settings.session_expiry_max_s)

    def note_profile(self, session: Session) -> None:
        """The next transaction stores what changes seldom."""
        self._profiles.add(session.client_id)

    def note_flow(self, session: Session) -> None:
        """The next transaction stores what changes with every message."""
        self._flows.add(session.client_id)

    def note_flow_later(self, session: Session) -> None:
        """Nothing waits for it."""
        if session.is_stored:
            self._later.add(session.client_id)

    def changed(self) -> list[Record]:
        """The records of what has changed, as it is now."""
        records = []
        topic, now_ms = self._hub.state.topic, self._hub.now_ms()
        for client_id in self._profiles:
            session = self._by_id.get(client_id)
            value = None
            if session is not None and (session.is_stored or session.will is not None):
                value = session.profile(now_ms)
            elif client_id not in self._stored:
                continue
            records.append(Record(topic, profile_key(client_id), value))
        for client_id in self._flows:
            session = self._by_id.get(client_id)
            value = None
            if session is not None and session.is_stored:
                value = session.flow(self._hub.live.next)
            elif client_id not in self._stored:
                continue
            records.append(Record(topic, flow_key(client_id), value))
        for client_id in self._profiles | self._flows:
            session = self._by_id.get(client_id)
            if session is not None and (session.is_stored or session.will is not None):
                self._stored.add(client_id)
            else:
                self._stored.discard(client_id)
        self._later -= self._flows
        self._profiles.clear()
        self._flows.clear()
        return records

    def store_later_ones(self) -> None:
        """Stores what could wait."""
        if self._later:
            self._flows |= self._later
            self._later.clear()
            self._hub.state.submit((), lambda _error: None)

    def store_all(self) -> None:
        """Before the proxy ends."""
        for client_id, session in self._by_id.items():
            if session.is_stored:
                self._profiles.add(client_id)
                self._flows.add(client_id)

    def check_times(self) -> None:
        """Publishes wills that are due, and drops sessions that have expired."""
        now_ms = self._hub.now_ms()
        for session in list(self._away.values()):
            expires_ms = session.expires_ms()
            has_expired = expires_ms is not None and expires_ms <= now_ms
            if session.will is not None and (
                (has_expired and not session.will_at_ms) or (session.will_at_ms or 0) <= now_ms
            ):
                self._publish_will(session)
            if has_expired and session.will is None:
                self._drop(session, with_will=False)

    def _publish_will(self, session: Session) -> None:
        will, session.will, session.will_at_ms = session.will, None, None
        if will is not None:
            self.note_profile(session)
            self._hub.publishing.publish_will(session, will, session.client_id)

    def _drop(self, session: Session, *, with_will: bool) -> None:
        """The session ends, and its will with it: it is published, if it is still waiting [MQTT-3.1.2-8]."""
        if with_will and session.will is not None:
            self._publish_will(session)
        self._by_id.pop(session.client_id, None)
        self._away.pop(session.client_id, None)
        if session.client_id in self._stored:
            self.note_profile(session)
            self.note_flow(session)
            self._hub.state.submit((), lambda _error: None)
