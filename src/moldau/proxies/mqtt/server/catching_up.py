"""Brings a session that was away, or too slow, to where the others are."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Final

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka import Message as KafkaMessage

from moldau.proxies.mqtt.codec.topics import matches
from moldau.proxies.mqtt.kafka.catch_up import MissedRecords
from moldau.proxies.mqtt.mapping.records import message_of, topic_of
from moldau.proxies.mqtt.server.hub import Hub
from moldau.proxies.mqtt.session.messages import Partition, Source
from moldau.proxies.mqtt.session.outgoing import Stage
from moldau.proxies.mqtt.session.session import Session
from moldau.proxies.mqtt.session.subscriptions import Subscription

if TYPE_CHECKING:
    from moldau.proxies.mqtt.server.delivery import Delivery

RETRY_S: Final = 0.5
KNOWN_TOPICS_MAX: Final = 1_000

log = logging.getLogger("moldau.mqtt")


class CatchingUp:
    """One task per session that reads by itself. It ends early when the client has no room, and begins again then."""

    def __init__(self, hub: Hub, delivery: Delivery) -> None:
        self._hub = hub
        self._delivery = delivery
        self._tasks: dict[Session, asyncio.Task[None]] = {}

    def begin(self, session: Session) -> None:
        """Without effect while it reads already."""
        if session in self._tasks:
            return
        starts = session.starts(self._hub.live.next)
        if not starts:
            self._go_live(session)
            return
        task = self._hub.loop.create_task(self._run(session, session.client, starts))
        self._tasks[session] = task
        task.add_done_callback(lambda _task: self._ended(session))

    def stop(self) -> None:
        """All tasks end."""
        for task in self._tasks.values():
            task.cancel()

    def _ended(self, session: Session) -> None:
        self._tasks.pop(session, None)
        if session.client is not None and session.is_behind:
            self._delivery.pump(session)

    async def _run(self, session: Session, client: object, starts: dict[Partition, int]) -> None:
        try:
            async with self._hub.catch_up.reading() as missed:
                await self._check(session, starts, missed)
                await missed.begin(starts)
                walk = _Walk(self._hub, self._delivery, session, starts)
                while session.client is client and client is not None and session.is_behind:
                    walk.take(await missed.take())
                    if walk.has_stopped:
                        return
                    if walk.is_done():
                        self._go_live(session)
                        return
        except KafkaException as error:
            log.warning(
                "reading what client %r has missed: %s; trying again", session.client_id, error.args[0].str()
            )
            await asyncio.sleep(RETRY_S)
        except Exception:
            log.exception("reading what client %r has missed", session.client_id)
            await asyncio.sleep(RETRY_S)

    async def _check(self, session: Session, starts: dict[Partition, int], missed: MissedRecords) -> None:
        """A position after the end of a partition is one in a topic that was deleted and created again."""
        live = self._hub.live.next
        ends = await missed.ends([one for one, start in starts.items() if start > live.get(one, 0)])
        for partition, end in ends.items():
            if starts[partition] > end:
                log.warning(
                    "client %r had read %s to %d, which ends at %d: the topic is another one, read from its beginning",
                    session.client_id,
                    partition.topic,
                    starts[partition],
                    end,
                )
                session.start_over(partition)
                starts[partition] = 0

    def _go_live(self, session: Session) -> None:
        live = self._hub.live.next
        for entry in session.window:
            if entry.message is None and entry.stage == Stage.SENT and not entry.source.is_retained:
                # Its record does not exist any more.
                session.window.finish(entry.packet_id)
        if not session.has_plain:
            session.positions = dict(live)
            return
        session.ahead = {
            partition: offset
            for partition, offset in session.positions.items()
            if offset > live.get(partition, 0)
        }
        session.is_behind = False


class _Walk:
    """One pass over the records that a session has missed."""

    def __init__(self, hub: Hub, delivery: Delivery, session: Session, starts: dict[Partition, int]) -> None:
        self._hub = hub
        self._delivery = delivery
        self._session = session
        self._reached = dict(starts)
        self._filters: list[tuple[tuple[str, ...], Subscription]] = []
        self._changes = -1
        self._known: dict[str, list[Subscription]] = {}
        self.has_stopped = False
        """The client has no room for more, or there are partitions that are not read yet."""

    def is_done(self) -> bool:
        """Whether neither the live reader nor the session before has read further, in any partition."""
        live, positions = self._hub.live.next, self._session.positions
        return all(
            offset >= max(live.get(partition, 0), positions.get(partition, 0))
            for partition, offset in self._reached.items()
        )

    def take(self, records: list[KafkaMessage]) -> None:
        """Handles records until there is no room."""
        session = self._session
        positions = session.positions
        if self._changes != session.changes:
            self._changes = session.changes
            self._known.clear()
            self._filters = [
                (tuple(one.filter.split("/")), one) for one in session.subscriptions.values() if not one.group
            ]
        if session.has_plain and any(one not in self._reached for one in self._hub.live.next):
            self.has_stopped = True
            return
        for record in records:
            partition = Partition(record.topic() or "", record.partition() or 0)
            offset = record.offset() or 0
            error = record.error()
            if error is not None:
                if error.code() != KafkaError._PARTITION_EOF:
                    log.warning("reading %s: %s", partition.topic, error.str())
                    continue
                self._reached[partition] = max(offset, self._reached.get(partition, 0))
                positions[partition] = max(offset, positions.get(partition, 0))
                continue
            if not self._has_room():
                self.has_stopped = True
                return
            self._one(record, partition, offset)
            self._reached[partition] = offset + 1

    def _has_room(self) -> bool:
        session = self._session
        return session.client is not None and session.window.has_room and session.client.is_writable

    def _one(self, record: KafkaMessage, partition: Partition, offset: int) -> None:
        session = self._session
        source = Source(partition, offset)
        entry = session.window.by_source.get(source)
        is_new = offset >= session.positions.get(partition, 0)
        if is_new:
            session.positions[partition] = offset + 1
        elif entry is None:
            return
        headers = record.headers()
        topic = topic_of(partition.topic, record.key(), headers)
        _, timestamp_ms = record.timestamp()
        if entry is not None:
            if entry.message is None and entry.stage <= Stage.SENT:
                entry.message = message_of(
                    partition.topic, record.key(), record.value(), headers, timestamp_ms, topic
                )
                if entry.stage == Stage.SENT:
                    self._delivery.send_again(session, entry)
            return
        wanted = self._wanted(topic)
        if wanted:
            message = message_of(partition.topic, record.key(), record.value(), headers, timestamp_ms, topic)
            self._delivery.offer(session, message, wanted, source, is_missed=True)

    def _wanted(self, topic: str) -> list[Subscription]:
        found = self._known.get(topic)
        if found is None:
            found = [one for levels, one in self._filters if matches(levels, topic)]
            if len(self._known) >= KNOWN_TOPICS_MAX:
                self._known.clear()
            self._known[topic] = found
        return found
