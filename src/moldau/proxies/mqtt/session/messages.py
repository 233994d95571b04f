"""A message between the proxy's parts, and where in Kafka it stands."""

from dataclasses import dataclass
from typing import Final, NamedTuple

from moldau.proxies.mqtt.codec.properties import NO_PROPERTIES, Properties, Property

RETAINED_SOURCE: Final = ""
"""Stands for a Kafka topic where a message comes from the retained ones."""


class Partition(NamedTuple):
    """A partition of a Kafka topic."""

    topic: str
    number: int


class Source(NamedTuple):
    """A record's place in Kafka. Of a retained message: its MQTT topic, and no offset."""

    partition: Partition
    offset: int

    @property
    def is_retained(self) -> bool:
        return self.partition.topic == RETAINED_SOURCE


def retained_source(topic: str) -> Source:
    return Source(Partition(RETAINED_SOURCE, 0), hash(topic))


@dataclass(slots=True)
class Message:
    topic: str
    payload: bytes
    qos: int = 0
    retain: bool = False
    properties: Properties = NO_PROPERTIES
    """Of the PUBLISH, those that go on to subscribers."""
    published_ms: int = 0
    publisher: str | None = None
    """The client that sent it, where that client has a subscription with No Local."""
    encoded: dict[tuple[bool, int, bool, tuple[int, ...]], tuple[bytes, bytes]] | None = None
    """By version, QoS, retain flag and identifiers, what many clients get alike."""

    def expires_in_s(self, now_ms: int) -> int | None:
        """None: never. Zero or less: it has expired."""
        expiry_s: int | None = self.properties.get(Property.MESSAGE_EXPIRY)
        return None if expiry_s is None else expiry_s - max(0, now_ms - self.published_ms) // 1000
