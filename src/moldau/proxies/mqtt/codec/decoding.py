"""The body of one packet to data. Raises MalformedPacket, and nothing else."""

from collections.abc import Callable, Mapping
from typing import Final

from moldau.proxies.mqtt.codec.packets import (
    V5,
    V311,
    Acknowledgement,
    Auth,
    ConnAck,
    Connect,
    Disconnect,
    Packet,
    PacketType,
    PingReq,
    PingResp,
    PubAck,
    PubComp,
    Publish,
    PubRec,
    PubRel,
    SubAck,
    Subscribe,
    UnsubAck,
    Unsubscribe,
    Wanted,
    Will,
)
from moldau.proxies.mqtt.codec.primitives import Cursor, MalformedPacket
from moldau.proxies.mqtt.codec.properties import NO_PROPERTIES, WILL, Property, read_properties
from moldau.proxies.mqtt.codec.reason_codes import (
    AUTH_REASONS,
    DISCONNECT_REASONS,
    PUBLISH_ANSWERS,
    RELEASE_ANSWERS,
    SUBACK_FAILURE,
    Reason,
)
from moldau.proxies.mqtt.codec.topics import check_name, filter_problem, name_of, shared

_PUBLISH: Final = int(PacketType.PUBLISH)
"""Compared for every packet, which is slower with a member of an enumeration."""
PROTOCOL_NAME: Final = b"MQTT"
BRIDGE: Final = 0x80
OLD_PROTOCOL_NAME: Final = b"MQIsdp"
_FLAGS_OF_TWO: Final = frozenset({PacketType.PUBREL, PacketType.SUBSCRIBE, PacketType.UNSUBSCRIBE})


def decode(first: int, body: bytes, version: int) -> Packet:
    """The packet with this first byte. A CONNECT says its version itself."""
    number = first >> 4
    if number == _PUBLISH:
        return _publish(first & 0x0F, body, version)
    read = _READERS.get(number)
    if read is None or (number == PacketType.AUTH and version != V5):
        raise MalformedPacket(f"there is no packet of type {number} in this version")
    if first & 0x0F != (2 if number in _FLAGS_OF_TWO else 0):
        # [MQTT-2.2.2-2] of 3.1.1, [MQTT-2.1.3-1] of 5.0
        raise MalformedPacket(f"a {PacketType(number).name} has the wrong flags {first & 0x0F}")
    cursor = Cursor(body)
    packet = read(cursor, version)
    cursor.expect_end()
    return packet


def _publish(flags: int, body: bytes, version: int) -> Publish:
    qos = flags >> 1 & 3
    if qos == 3:
        raise MalformedPacket("a PUBLISH has QoS 3")  # [MQTT-3.3.1-4]
    if flags & 8 and not qos:
        raise MalformedPacket("a PUBLISH of QoS 0 is marked as a duplicate")  # [MQTT-3.3.1-2]
    size = len(body)
    if size < 2 or (position := 2 + (body[0] << 8 | body[1])) + (2 if qos else 0) > size:
        raise MalformedPacket("a PUBLISH ends within its topic name or packet identifier")
    topic = name_of(body[2:position])
    packet_id = 0
    if qos:
        packet_id = body[position] << 8 | body[position + 1]
        position += 2
        if not packet_id:
            raise MalformedPacket("a PUBLISH has the packet identifier 0", Reason.PROTOCOL_ERROR)
    properties = NO_PROPERTIES
    if version == V5:
        if position < size and body[position] == 0:
            position += 1
        else:
            cursor = Cursor(body, position)
            properties = read_properties(cursor, PacketType.PUBLISH)
            position = cursor.position
            _check_message(properties)
    if not topic and Property.TOPIC_ALIAS not in properties:
        raise MalformedPacket("a PUBLISH has no topic name", Reason.PROTOCOL_ERROR)
    return Publish(topic, body[position:], qos, bool(flags & 1), bool(flags & 8), packet_id, properties)


def _check_message(properties: object) -> None:
    response = properties.get(Property.RESPONSE_TOPIC) if isinstance(properties, dict) else None
    if response is not None:
        check_name(response)  # [MQTT-3.3.2-14]


def _connect(cursor: Cursor, _version: int) -> Connect:
    name = cursor.binary()
    level = cursor.u8()
    is_bridge = level == V311 | BRIDGE
    if is_bridge:
        level = V311
    if name == OLD_PROTOCOL_NAME or (name == PROTOCOL_NAME and level not in (V311, V5)):
        raise MalformedPacket(
            f"the protocol level {level} is not served, only {V311} (3.1.1) and {V5} (5.0)",
            Reason.UNSUPPORTED_PROTOCOL_VERSION,
            V5 if level > V5 else V311,
        )
    if name != PROTOCOL_NAME:
        raise MalformedPacket("a CONNECT does not begin with the protocol name MQTT")
    try:
        found = _rest_of_connect(cursor, level)
    except MalformedPacket as failure:
        failure.version = level
        raise
    found.is_bridge = is_bridge
    return found


def _rest_of_connect(cursor: Cursor, version: int) -> Connect:
    flags = cursor.u8()
    if flags & 1:
        raise MalformedPacket("the reserved flag of a CONNECT is set")  # [MQTT-3.1.2-3]
    keep_alive_s = cursor.u16()
    properties = NO_PROPERTIES
    if version == V5:
        properties = read_properties(cursor, PacketType.CONNECT)
        if Property.AUTHENTICATION_DATA in properties and Property.AUTHENTICATION_METHOD not in properties:
            raise MalformedPacket("authentication data without a method", Reason.PROTOCOL_ERROR)
    client_id = cursor.text()
    will = _will(cursor, flags, version)
    has_username, has_password = bool(flags & 0x80), bool(flags & 0x40)
    if has_password and not has_username and version == V311:
        raise MalformedPacket("a CONNECT has a password and no user name")  # [MQTT-3.1.2-22]
    username = cursor.text() if has_username else None
    password = cursor.binary() if has_password else None
    return Connect(client_id, version, bool(flags & 2), keep_alive_s, will, username, password, properties)


def _will(cursor: Cursor, flags: int, version: int) -> Will | None:
    qos = flags >> 3 & 3
    if not flags & 4:
        if flags & 0x38:
            raise MalformedPacket("a CONNECT without a will has a QoS or a retain flag for it")
        return None
    if qos == 3:
        raise MalformedPacket("a will has QoS 3")  # [MQTT-3.1.2-14]
    properties = read_properties(cursor, WILL) if version == V5 else NO_PROPERTIES
    _check_message(properties)
    topic = check_name(cursor.text())
    return Will(topic, cursor.binary(), qos, bool(flags & 0x20), properties)


def _connack(cursor: Cursor, version: int) -> ConnAck:
    flags = cursor.u8()
    if flags > 1:
        raise MalformedPacket("a CONNACK has reserved flags set")
    code = cursor.u8()
    return ConnAck(bool(flags), code, _properties(cursor, PacketType.CONNACK, version))


def _acknowledgement(
    kind: type[Acknowledgement], number: PacketType, reasons: frozenset[int]
) -> Callable[[Cursor, int], Packet]:
    def read(cursor: Cursor, version: int) -> Packet:
        packet_id = _packet_id(cursor)
        return kind(packet_id, *_reason(cursor, version, number, reasons))

    return read


def _subscribe(cursor: Cursor, version: int) -> Subscribe:
    packet_id = _packet_id(cursor)
    properties = _properties(cursor, PacketType.SUBSCRIBE, version)
    wanted = []
    while cursor.has_more():
        text = _filter(cursor)
        options = cursor.u8()
        qos, handling = options & 3, options >> 4 & 3
        if qos == 3 or handling == 3 or options & (0xC0 if version == V5 else 0xFC):
            raise MalformedPacket(f"a subscription has the invalid options {options}")  # [MQTT-3.8.3-4]
        no_local = bool(options & 4)
        if no_local and shared(text).group:
            raise MalformedPacket("a shared subscription with No Local", Reason.PROTOCOL_ERROR)
        wanted.append(Wanted(text, qos, no_local, bool(options & 8), handling))
    if not wanted:
        raise MalformedPacket("a SUBSCRIBE without a topic filter", Reason.PROTOCOL_ERROR)  # [MQTT-3.8.3-3]
    return Subscribe(packet_id, wanted, properties)


def _filter(cursor: Cursor) -> str:
    text = cursor.text()
    problem = filter_problem(shared(text).filter)
    if problem is not None:
        raise MalformedPacket(problem, Reason.TOPIC_FILTER_INVALID)
    return text


def _suback(cursor: Cursor, version: int) -> SubAck:
    packet_id = _packet_id(cursor)
    properties = _properties(cursor, PacketType.SUBACK, version)
    codes = list(cursor.rest())
    if version != V5 and any(code > 2 and code != SUBACK_FAILURE for code in codes):
        raise MalformedPacket("a SUBACK has a reserved return code")  # [MQTT-3.9.3-2]
    return SubAck(packet_id, codes, properties)


def _unsubscribe(cursor: Cursor, version: int) -> Unsubscribe:
    packet_id = _packet_id(cursor)
    properties = _properties(cursor, PacketType.UNSUBSCRIBE, version)
    filters = []
    while cursor.has_more():
        filters.append(_filter(cursor))
    if not filters:
        raise MalformedPacket("an UNSUBSCRIBE without a topic filter", Reason.PROTOCOL_ERROR)
    return Unsubscribe(packet_id, filters, properties)


def _unsuback(cursor: Cursor, version: int) -> UnsubAck:
    packet_id = _packet_id(cursor)
    if version != V5:
        return UnsubAck(packet_id)
    properties = read_properties(cursor, PacketType.UNSUBACK)
    return UnsubAck(packet_id, list(cursor.rest()), properties)


def _disconnect(cursor: Cursor, version: int) -> Disconnect:
    reason, properties = _reason(cursor, version, PacketType.DISCONNECT, DISCONNECT_REASONS)
    return Disconnect(reason, properties)


def _auth(cursor: Cursor, version: int) -> Auth:
    reason, properties = _reason(cursor, version, PacketType.AUTH, AUTH_REASONS)
    return Auth(reason, properties)


def _reason(
    cursor: Cursor, version: int, packet: PacketType, reasons: frozenset[int]
) -> tuple[int, Mapping[int, object]]:
    if version != V5 or not cursor.has_more():
        return 0, NO_PROPERTIES
    reason = cursor.u8()
    if reason not in reasons:
        raise MalformedPacket(
            f"a {packet.name} has the reason code {reason}, which it may not have", Reason.PROTOCOL_ERROR
        )
    return reason, read_properties(cursor, packet) if cursor.has_more() else NO_PROPERTIES


def _properties(cursor: Cursor, packet: PacketType, version: int) -> Mapping[int, object]:
    return read_properties(cursor, packet) if version == V5 else NO_PROPERTIES


def _packet_id(cursor: Cursor) -> int:
    packet_id = cursor.u16()
    if packet_id == 0:
        raise MalformedPacket("the packet identifier is 0", Reason.PROTOCOL_ERROR)  # [MQTT-2.3.1-1]
    return packet_id


_READERS: Final[Mapping[int, Callable[[Cursor, int], Packet]]] = {
    PacketType.CONNECT: _connect,
    PacketType.CONNACK: _connack,
    PacketType.PUBACK: _acknowledgement(PubAck, PacketType.PUBACK, PUBLISH_ANSWERS),
    PacketType.PUBREC: _acknowledgement(PubRec, PacketType.PUBREC, PUBLISH_ANSWERS),
    PacketType.PUBREL: _acknowledgement(PubRel, PacketType.PUBREL, RELEASE_ANSWERS),
    PacketType.PUBCOMP: _acknowledgement(PubComp, PacketType.PUBCOMP, RELEASE_ANSWERS),
    PacketType.SUBSCRIBE: _subscribe,
    PacketType.SUBACK: _suback,
    PacketType.UNSUBSCRIBE: _unsubscribe,
    PacketType.UNSUBACK: _unsuback,
    PacketType.PINGREQ: lambda _cursor, _version: PingReq(),
    PacketType.PINGRESP: lambda _cursor, _version: PingResp(),
    PacketType.DISCONNECT: _disconnect,
    PacketType.AUTH: _auth,
}
