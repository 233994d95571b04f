"""One session: what outlives a connection. Its stored form is two records, so that what changes often stays small.

Positions say which records a session has been given. While a session reads along with the others they are those of
the live reader; while it is away or behind they are its own. A session that comes back reads on from them, and from
the records of messages that were in flight.
"""

from collections import deque
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import orjson

from moldau.proxies.mqtt.codec.packets import Will
from moldau.proxies.mqtt.session.messages import Message, Partition, Source
from moldau.proxies.mqtt.session.outgoing import InFlight, Stage, Window
from moldau.proxies.mqtt.session.subscriptions import Subscription

NEVER_EXPIRES_S: Final = 0xFFFFFFFF


class Waiting(NamedTuple):
    """A message that waits for room in the window."""

    message: Message
    qos: int
    source: Source
    retain: bool
    retained_topic: str
    identifiers: tuple[int, ...]


class Session:
    """`expiry_s` 0: it ends with its connection, and is not stored."""

    __slots__ = (
        "ahead",
        "changes",
        "client",
        "client_id",
        "ended_ms",
        "expiry_s",
        "has_no_local",
        "has_plain",
        "has_shared",
        "incoming",
        "is_behind",
        "positions",
        "subscriptions",
        "user",
        "waiting",
        "waiting_bytes",
        "will",
        "will_at_ms",
        "window",
    )

    def __init__(self, client_id: str, expiry_s: int, window_size: int) -> None:
        self.client_id = client_id
        self.expiry_s = expiry_s
        self.user: str | None = None
        """To whom it belongs; None: it was made without a login."""
        self.subscriptions: dict[str, Subscription] = {}
        """By filter as the client wrote it, with `$share` if it is shared."""
        self.changes = 0
        """Counts the changes of subscriptions."""
        self.incoming: dict[int, bool] = {}
        """Packet identifiers of QoS 2 that the client has not released; True once the message is in Kafka."""
        self.window = Window(window_size)
        self.waiting: deque[Waiting] = deque()
        self.waiting_bytes = 0
        self.client: Any = None
        """Its connection, of which this module knows nothing."""
        self.positions: dict[Partition, int] = {}
        """Of a session that is away or behind: the next record to be considered. A partition that is missing appeared
        later, and is read from its beginning."""
        self.ahead: dict[Partition, int] = {}
        """Of a session that reads along: where it has read further than the live reader."""
        self.is_behind = True
        """It is not given what the live reader reads."""
        self.ended_ms: int | None = None
        """When its connection ended; None while it has one."""
        self.will: Will | None = None
        self.will_at_ms: int | None = None
        """When the will is published, unless the client comes back."""
        self.has_no_local = False
        self.has_plain = False
        """Whether it has subscriptions that are not shared."""
        self.has_shared = False

    @property
    def is_stored(self) -> bool:
        return self.expiry_s > 0

    def belongs_to(self, user: str | None) -> bool:
        """Whether the user may have it. One without a user belongs to the first who comes with its identifier."""
        return self.user is None or self.user == user

    def expires_ms(self) -> int | None:
        """None: while it is connected, or never."""
        if self.ended_ms is None or self.expiry_s >= NEVER_EXPIRES_S:
            return None
        return self.ended_ms + self.expiry_s * 1000

    def subscribe(self, text: str, subscription: Subscription) -> bool:
        """Whether it is new."""
        is_new = text not in self.subscriptions
        self.subscriptions[text] = subscription
        self._note_change()
        return is_new

    def unsubscribe(self, text: str) -> Subscription | None:
        found = self.subscriptions.pop(text, None)
        self._note_change()
        return found

    def _note_change(self) -> None:
        self.changes += 1
        self.has_no_local = any(one.no_local for one in self.subscriptions.values())
        self.has_shared = any(one.group for one in self.subscriptions.values())
        self.has_plain = not all(one.group for one in self.subscriptions.values())

    def leave_live(self, live: Mapping[Partition, int]) -> None:
        """From now on it has positions of its own; what waits is read again later."""
        if not self.is_behind:
            self.positions = self._reached(live)
            self.is_behind = True
        self.ahead.clear()
        for one in self.waiting:
            if not one.source.is_retained:
                partition, offset = one.source
                self.positions[partition] = min(offset, self.positions.get(partition, offset))
        self.waiting = deque(one for one in self.waiting if one.source.is_retained)
        self.waiting_bytes = 0

    def _reached(self, live: Mapping[Partition, int]) -> dict[Partition, int]:
        """Of a session that reads along: the live reader may have come past what the session had read ahead."""
        reached = dict(self.ahead)
        for partition, offset in live.items():
            reached[partition] = max(offset, reached.get(partition, 0))
        return reached

    def starts(self, live: Mapping[Partition, int]) -> dict[Partition, int]:
        """Where to read on, by partition: behind what the live reader has read, or where messages were in flight."""
        starts: dict[Partition, int] = {}
        for entry in self.window:
            if entry.message is None and entry.stage <= Stage.SENT and not entry.source.is_retained:
                partition, offset = entry.source
                starts[partition] = min(offset, starts.get(partition, offset))
        # Further than the live reader: it may be a moment behind, or the topic is not the same any more.
        is_elsewhere = any(self.positions.get(one, 0) != end for one, end in live.items())
        if self.has_plain and (starts or is_elsewhere):
            # All partitions, because the live reader goes on meanwhile.
            for one in live:
                position = self.positions.get(one, 0)
                starts[one] = min(position, starts.get(one, position))
        return starts

    def start_over(self, partition: Partition) -> None:
        """The topic was deleted and created again: what was known of it is void."""
        self.positions[partition] = 0
        for entry in self.window:
            if entry.source.partition == partition and entry.stage <= Stage.SENT:
                self.window.finish(entry.packet_id)

    def forget_messages(self) -> None:
        """When the connection ends: messages in flight are read again for the next one."""
        self.waiting.clear()
        for entry in self.window:
            entry.message = None
            if entry.stage == Stage.STORING and not self.is_stored:
                self.window.finish(entry.packet_id)

    def profile(self, now_ms: int) -> bytes:
        """The stored form of what changes seldom."""
        will = self.will
        return orjson.dumps(
            {
                "user": self.user,
                "expiry": self.expiry_s,
                "ended": self.ended_ms,
                "seen": now_ms,
                "subscriptions": [[text, *one[1:]] for text, one in self.subscriptions.items()],
                "will": None if will is None else will_json(will),
                "will_at": self.will_at_ms,
            }
        )

    def flow(self, live: Mapping[Partition, int]) -> bytes:
        """The stored form of what changes with every message."""
        positions = dict(self.positions) if self.is_behind else self._reached(live)
        for one in self.waiting:
            partition, offset = one.source
            if not one.source.is_retained:
                positions[partition] = min(offset, positions.get(partition, offset))
        return orjson.dumps(
            {
                "in": list(self.incoming),
                "positions": [[topic, number, offset] for (topic, number), offset in positions.items()],
                "flight": [
                    [
                        one.packet_id,
                        one.qos,
                        Stage.SENT if one.stage == Stage.STORING else one.stage,
                        *one.source.partition,
                        one.source.offset,
                        one.retained_topic,
                    ]
                    for one in self.window
                    if one.share is None or one.qos == 2
                ],
            }
        )

    def restore_profile(self, stored: bytes) -> None:
        found: dict[str, Any] = orjson.loads(stored)
        # Not there in what was stored by a version that kept no users.
        self.user = found.get("user")
        self.expiry_s = found["expiry"]
        # One that was connected when the proxy ended has been away since.
        self.ended_ms = found["seen"] if found["ended"] is None else found["ended"]
        for text, qos, no_local, as_published, identifier, group in found["subscriptions"]:
            plain = text.split("/", 2)[2] if group else text
            self.subscribe(text, Subscription(plain, qos, no_local, as_published, identifier, group))
        self.will = None if found["will"] is None else will_of(found["will"])
        self.will_at_ms = found["will_at"]

    def restore_flow(self, stored: bytes) -> None:
        found: dict[str, Any] = orjson.loads(stored)
        self.incoming = dict.fromkeys(found["in"], True)
        self.positions = {Partition(topic, number): offset for topic, number, offset in found["positions"]}
        for packet_id, qos, stage, topic, number, offset, retained_topic in found["flight"]:
            source = Source(Partition(topic, number), offset)
            # What was stored as being released may not have been sent; it is sent again in any case.
            stage = Stage.RELEASED if stage == Stage.RELEASING else Stage(stage)
            self.window.restore(InFlight(packet_id, qos, source, stage, retained_topic))


def will_json(will: Will) -> dict[str, Any]:
    """Binary data as text in which every character is one byte."""
    return {
        "topic": will.topic,
        "payload": will.payload.decode("latin-1"),
        "qos": will.qos,
        "retain": will.retain,
        "properties": [
            [number, value.decode("latin-1") if isinstance(value, bytes) else value]
            for number, value in will.properties.items()
        ],
    }


def will_of(found: dict[str, Any]) -> Will:
    properties: dict[int, Any] = {}
    for number, value in found["properties"]:
        if isinstance(value, list):
            properties[number] = [tuple(pair) for pair in value]
        else:
            properties[number] = value.encode("latin-1") if number == 9 else value
    return Will(found["topic"], found["payload"].encode("latin-1"), found["qos"], found["retain"], properties)
