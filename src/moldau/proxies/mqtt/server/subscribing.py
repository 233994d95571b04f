"""SUBSCRIBE and UNSUBSCRIBE."""

import asyncio
import logging
from dataclasses import replace
from typing import Final

from moldau.proxies.mqtt.codec.packets import V5, SubAck, Subscribe, UnsubAck, Unsubscribe, Wanted
from moldau.proxies.mqtt.codec.properties import Property
from moldau.proxies.mqtt.codec.reason_codes import SUBACK_FAILURE, Reason
from moldau.proxies.mqtt.codec.topics import shared
from moldau.proxies.mqtt.server.connection import Connection
from moldau.proxies.mqtt.server.hub import Hub
from moldau.proxies.mqtt.session.session import Session
from moldau.proxies.mqtt.session.subscriptions import Subscription

SEND_RETAINED: Final = 0
SEND_RETAINED_IF_NEW: Final = 1

log = logging.getLogger("moldau.mqtt")


class Subscribing:
    """A subscription of a stored session is stored before it is acknowledged."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._joining: set[asyncio.Task[None]] = set()

    async def subscribe(self, connection: Connection, packet: Subscribe) -> None:
        """Acknowledges when messages published from now on will be delivered."""
        session = connection.session
        assert session is not None
        if any(not shared(one.filter).group for one in packet.wanted):
            await self._hub.live.ensure()
        if connection.session is not session:
            return
        identifier = packet.properties.get(Property.SUBSCRIPTION_IDENTIFIER, 0)
        codes: list[int] = []
        to_retain: list[Subscription] = []
        was_idle = not session.has_plain
        for wanted in packet.wanted:
            problem = self._problem(session, wanted)
            if problem is not None:
                codes.append(problem if connection.version == V5 else SUBACK_FAILURE)
                continue
            subscription, is_new = self._add(session, wanted, identifier)
            codes.append(wanted.qos)
            if subscription.group:
                await self._hub.sharing.join(session, subscription)
            elif wanted.retain_handling == SEND_RETAINED or (
                wanted.retain_handling == SEND_RETAINED_IF_NEW and is_new
            ):
                to_retain.append(subscription)
        if connection.session is not session:
            return
        if was_idle and session.has_plain and session.is_behind:
            # What was before does not concern it.
            session.positions = dict(self._hub.live.next)
            session.is_behind = False
        if session.is_stored:
            self._hub.sessions.note_profile(session)
            self._hub.sessions.note_flow(session)
            await self._hub.state.stored()
        connection.send(SubAck(packet.packet_id, codes))
        if connection.session is session:
            for subscription in to_retain:
                self._hub.delivery.send_retained(session, subscription)

    async def unsubscribe(self, connection: Connection, packet: Unsubscribe) -> None:
        """What is in flight is finished [MQTT-3.10.4-3]."""
        session = connection.session
        assert session is not None
        codes: list[int] = []
        for text in packet.filters:
            found = session.unsubscribe(text)
            codes.append(Reason.NO_SUBSCRIPTION_EXISTED if found is None else Reason.SUCCESS)
            if found is not None:
                self._remove(session, found)
        if not session.has_plain:
            session.leave_live(self._hub.live.next)
        if session.is_stored:
            self._hub.sessions.note_profile(session)
            self._hub.sessions.note_flow(session)
            await self._hub.state.stored()
        connection.send(UnsubAck(packet.packet_id, codes))

    def appear(self, session: Session) -> None:
        """A session with subscriptions has a connection again."""
        for subscription in session.subscriptions.values():
            if subscription.group:
                task = self._hub.loop.create_task(self._hub.sharing.join(session, subscription))
                self._joining.add(task)
                task.add_done_callback(self._joining.discard)
            else:
                self._hub.tree.add(session, subscription)

    def withdraw(self, session: Session) -> None:
        """It has none any more."""
        for subscription in session.subscriptions.values():
            self._remove(session, subscription)

    def _remove(self, session: Session, subscription: Subscription) -> None:
        if subscription.group:
            self._hub.sharing.leave(session, subscription)
        else:
            self._hub.tree.remove(session, subscription.filter)

    def _problem(self, session: Session, wanted: Wanted) -> Reason | None:
        limit = self._hub.settings.subscriptions_max
        if len(session.subscriptions) >= limit and wanted.filter not in session.subscriptions:
            log.info("client %r has %d subscriptions already (subscriptions.max)", session.client_id, limit)
            return Reason.QUOTA_EXCEEDED
        return None

    def _add(self, session: Session, wanted: Wanted, identifier: int) -> tuple[Subscription, bool]:
        if session.client is not None and session.client.is_bridge:
            wanted = replace(wanted, no_local=True, retain_as_published=True)
        group, plain = shared(wanted.filter)
        subscription = Subscription(
            plain, wanted.qos, wanted.no_local, wanted.retain_as_published, identifier, group
        )
        is_new = session.subscribe(wanted.filter, subscription)
        if not group:
            self._hub.tree.add(session, subscription)
        return subscription, is_new
