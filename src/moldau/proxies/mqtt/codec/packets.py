"""The packets as data, the same for both versions: what 3.1.1 does not have holds its default."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from moldau.proxies.mqtt.codec.properties import NO_PROPERTIES, Properties

V311: Final = 4
V5: Final = 5


class PacketType(IntEnum):
    CONNECT = 1
    CONNACK = 2
    PUBLISH = 3
    PUBACK = 4
    PUBREC = 5
    PUBREL = 6
    PUBCOMP = 7
    SUBSCRIBE = 8
    SUBACK = 9
    UNSUBSCRIBE = 10
    UNSUBACK = 11
    PINGREQ = 12
    PINGRESP = 13
    DISCONNECT = 14
    AUTH = 15


@dataclass(slots=True)
class Will:
    topic: str
    payload: bytes
    qos: int = 0
    retain: bool = False
    properties: Properties = NO_PROPERTIES


@dataclass(slots=True)
class Connect:
    client_id: str
    version: int = V311
    clean_start: bool = True
    keep_alive_s: int = 0
    will: Will | None = None
    username: str | None = None
    password: bytes | None = None
    properties: Properties = NO_PROPERTIES
    is_bridge: bool = False
    """Of another server, which speaks 3.1.1 and has said so as mosquitto does: in bit 7 of the protocol level."""

    def __repr__(self) -> str:
        return f"Connect({self.client_id!r}, version={self.version})"


@dataclass(slots=True)
class ConnAck:
    session_present: bool = False
    code: int = 0
    """A return code of 3.1.1, or a reason code of 5.0."""
    properties: Properties = NO_PROPERTIES


@dataclass(slots=True)
class Publish:
    topic: str
    payload: bytes
    qos: int = 0
    retain: bool = False
    dup: bool = False
    packet_id: int = 0
    properties: Properties = NO_PROPERTIES


@dataclass(slots=True)
class Acknowledgement:
    """Of one of the four steps of a PUBLISH."""

    packet_id: int
    reason: int = 0
    properties: Properties = NO_PROPERTIES


class PubAck(Acknowledgement):
    """QoS 1: the message has arrived."""

    __slots__ = ()


class PubRec(Acknowledgement):
    """QoS 2: the message has arrived."""

    __slots__ = ()


class PubRel(Acknowledgement):
    """QoS 2: the receiver may forget the packet identifier."""

    __slots__ = ()


class PubComp(Acknowledgement):
    """QoS 2: it has."""

    __slots__ = ()


@dataclass(slots=True)
class Wanted:
    """One filter of a SUBSCRIBE, with its options."""

    filter: str
    qos: int = 0
    no_local: bool = False
    retain_as_published: bool = False
    retain_handling: int = 0


@dataclass(slots=True)
class Subscribe:
    packet_id: int
    wanted: Sequence[Wanted]
    properties: Properties = NO_PROPERTIES


@dataclass(slots=True)
class SubAck:
    packet_id: int
    codes: Sequence[int]
    properties: Properties = NO_PROPERTIES


@dataclass(slots=True)
class Unsubscribe:
    packet_id: int
    filters: Sequence[str]
    properties: Properties = NO_PROPERTIES


@dataclass(slots=True)
class UnsubAck:
    packet_id: int
    codes: Sequence[int] = ()
    """3.1.1 has none."""
    properties: Properties = NO_PROPERTIES


@dataclass(slots=True)
class PingReq:
    """Asks whether the server is there."""


@dataclass(slots=True)
class PingResp:
    """It is."""


@dataclass(slots=True)
class Disconnect:
    reason: int = 0
    properties: Properties = NO_PROPERTIES


@dataclass(slots=True)
class Auth:
    reason: int = 0
    properties: Properties = NO_PROPERTIES


Packet = (
    Connect
    | ConnAck
    | Publish
    | Acknowledgement
    | Subscribe
    | SubAck
    | Unsubscribe
    | UnsubAck
    | PingReq
    | PingResp
    | Disconnect
    | Auth
)
