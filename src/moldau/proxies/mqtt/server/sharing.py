"""Shared subscriptions (4.8.2): each message goes to one of the connected members.

A shared subscription is a consumer group of Kafka, so that proxies share it too, and it keeps its place when nobody is
connected. What a member does not acknowledge before its connection ends goes to another one; a message of QoS 2 that
has been begun stays with its session.
"""

import asyncio
import logging
from collections import deque
from typing import Final

from confluent_kafka import KafkaException
from confluent_kafka import Message as KafkaMessage

from moldau.proxies.mqtt.codec.topics import matches
from moldau.proxies.mqtt.kafka.group_reader import GroupReader, is_harmless
from moldau.proxies.mqtt.mapping.records import message_of, topic_of
from moldau.proxies.mqtt.server.hub import Hub
from moldau.proxies.mqtt.session.messages import Message, Partition, Source
from moldau.proxies.mqtt.session.outgoing import InFlight
from moldau.proxies.mqtt.session.session import Session
from moldau.proxies.mqtt.session.subscriptions import Subscription

COMMIT_S: Final = 1.0
RETRY_S: Final = 0.5

log = logging.getLogger("moldau.mqtt")


class Sharing:
    """All shared subscriptions that have connected members."""

    def __init__(self, hub: Hub, client: dict[str, str]) -> None:
        self._hub = hub
        self._client = client
        self._groups: dict[tuple[str, str], SharedGroup] = {}

    async def join(self, session: Session, subscription: Subscription) -> None:
        """Returns when messages published from now on go to the group."""
        key = (subscription.group, subscription.filter)
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = SharedGroup(self._hub, self._client, *key)
        group.members[session] = subscription
        group.room.set()
        await group.ready.wait()

    def leave(self, session: Session, subscription: Subscription) -> None:
        """The last member ends the reading."""
        key = (subscription.group, subscription.filter)
        group = self._groups.get(key)
        if group is None or group.members.pop(session, None) is None:
            return
        group.give_back(session)
        if not group.members:
            del self._groups[key]
            group.stop()

    def note_room(self, session: Session) -> None:
        """A member can take more."""
        for subscription in session.subscriptions.values():
            if subscription.group:
                group = self._groups.get((subscription.group, subscription.filter))
                if group is not None:
                    group.room.set()

    def stop(self) -> None:
        """All of them."""
        for group in self._groups.values():
            group.stop()
        self._groups.clear()


class SharedGroup:
    """Reads records as long as a member has room, and commits what is finished."""

    def __init__(self, hub: Hub, client: dict[str, str], name: str, filter_text: str) -> None:
        self._hub = hub
        self._levels = tuple(filter_text.split("/"))
        self._reader = GroupReader(client, f"mqtt-share/{name}/{filter_text}", hub.rules.topics_pattern())
        self.members: dict[Session, Subscription] = {}
        self.ready = asyncio.Event()
        self.room = asyncio.Event()
        self._again: deque[tuple[Message, Source]] = deque()
        """What a member has not acknowledged."""
        self._open: dict[Partition, dict[int, None]] = {}
        """Offsets that are not finished, in their order."""
        self._next: dict[Partition, int] = {}
        self._committed: dict[Partition, int] = {}
        self._task = asyncio.create_task(self._run(), name="mqtt-shared")

    def stop(self) -> None:
        """What is not finished is read again by whoever comes next."""
        self._task.cancel()
        self.ready.set()
        self._reader.close_later(self._finished())

    def finish(self, source: Source) -> None:
        """A member has the message, or it can have none."""
        self._open.get(source.partition, {}).pop(source.offset, None)

    def give_back(self, session: Session) -> None:
        """What this member has not acknowledged goes to another one, except for QoS 2 [MQTT-4.8.2-4]."""
        for entry in session.window:
            if entry.share is not self:
                continue
            if entry.qos == 1 and entry.message is not None:
                self._again.append((entry.message, entry.source))
                session.window.finish(entry.packet_id)
            else:
                self.finish(entry.source)
            entry.share = None
        self.room.set()

    async def _run(self) -> None:
        loop = self._hub.loop
        commit_at = loop.time() + COMMIT_S
        while True:
            try:
                records = await self._reader.on_thread(self._reader.take)
                if self._reader.is_assigned:
                    self.ready.set()
                for record in records:
                    await self._one(record)
                while self._again:
                    await self._give(*self._again.popleft())
                if loop.time() >= commit_at:
                    commit_at = loop.time() + COMMIT_S
                    await self._commit()
            except KafkaException as error:
                log.warning("reading for a shared subscription: %s; trying again", error.args[0].str())
                await asyncio.sleep(RETRY_S)

    async def _one(self, record: KafkaMessage) -> None:
        error = record.error()
        if error is not None:
            if not is_harmless(error):
                log.warning("reading for a shared subscription: %s", error.str())
            return
        partition = Partition(record.topic() or "", record.partition() or 0)
        offset = record.offset() or 0
        headers = record.headers()
        topic = topic_of(partition.topic, record.key(), headers)
        self._next[partition] = offset + 1
        if matches(self._levels, topic):
            _, timestamp_ms = record.timestamp()
            message = message_of(partition.topic, record.key(), record.value(), headers, timestamp_ms, topic)
            self._open.setdefault(partition, {})[offset] = None
            await self._give(message, Source(partition, offset))

    async def _give(self, message: Message, source: Source) -> None:
        """To the next member that has room; the members take turns."""
        while True:
            for session, subscription in list(self.members.items()):
                connection = session.client
                if session.window.has_room and not session.waiting and connection is not None:
                    if not connection.is_writable:
                        continue
                    del self.members[session]
                    self.members[session] = subscription
                    self._hub.delivery.give_shared(session, message, subscription, source, self)
                    return
            self.room.clear()
            await self.room.wait()

    async def _commit(self) -> None:
        finished = self._finished()
        if finished != self._committed:
            await self._reader.on_thread(self._reader.commit, finished)
            self._committed = finished

    def _finished(self) -> dict[Partition, int]:
        """By partition, the first offset that is not finished."""
        return {
            partition: next(iter(self._open.get(partition) or (following,)))
            for partition, following in self._next.items()
        }

    def was_stored(self, entry: InFlight) -> None:
        """A message of QoS 2 belongs to the session now."""
        self.finish(entry.source)
        entry.share = None
