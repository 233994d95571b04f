"""The packets in flight to one client: packet identifiers, what was answered, and how many there may be."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final

from moldau.proxies.mqtt.session.messages import Message, Source

PACKET_ID_MAX: Final = 65_535


class Stage(IntEnum):
    """How far a message in flight is. The numbers are stored."""

    STORING = 0
    """QoS 2: it is sent when the state has been stored."""
    SENT = 1
    RELEASING = 2
    """QoS 2: the client has it; the PUBREL is sent when that has been stored."""
    RELEASED = 3


@dataclass(slots=True)
class InFlight:
    packet_id: int
    qos: int
    source: Source
    stage: Stage
    retained_topic: str = ""
    """Of a retained message, which has no place in Kafka."""
    message: Message | None = None
    """None after a new connection, until it has been read again."""
    retain: bool = False
    identifiers: tuple[int, ...] = ()
    share: Any = None
    """The shared subscription it comes from, of which this module knows nothing."""


class Window:
    """At most `size` messages are in flight. Identifiers are reused late, to be clear in a trace."""

    __slots__ = ("_by_id", "_last", "by_source", "size")

    def __init__(self, size: int) -> None:
        self.size = size
        self._by_id: dict[int, InFlight] = {}
        self.by_source: dict[Source, InFlight] = {}
        self._last = 0

    def __len__(self) -> int:
        return len(self._by_id)

    def __iter__(self) -> Iterator[InFlight]:
        return iter(list(self._by_id.values()))

    @property
    def has_room(self) -> bool:
        return len(self._by_id) < self.size

    def get(self, packet_id: int) -> InFlight | None:
        return self._by_id.get(packet_id)

    def start(
        self,
        message: Message,
        qos: int,
        source: Source,
        *,
        retain: bool = False,
        retained_topic: str = "",
        identifiers: tuple[int, ...] = (),
    ) -> InFlight:
        """The message gets a packet identifier that nothing in flight has."""
        assert len(self._by_id) < PACKET_ID_MAX
        packet_id = self._last
        while True:
            packet_id = packet_id % PACKET_ID_MAX + 1
            if packet_id not in self._by_id:
                break
        self._last = packet_id
        stage = Stage.STORING if qos == 2 else Stage.SENT
        entry = InFlight(packet_id, qos, source, stage, retained_topic, message, retain, identifiers)
        self.restore(entry)
        return entry

    def restore(self, entry: InFlight) -> None:
        self._by_id[entry.packet_id] = entry
        self.by_source[entry.source] = entry

    def finish(self, packet_id: int) -> InFlight | None:
        entry = self._by_id.pop(packet_id, None)
        if entry is not None:
            self.by_source.pop(entry.source, None)
        return entry
