"""Data to the bytes of one packet. What a version does not have is left out."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from moldau.proxies.mqtt.codec.packets import (
    V5,
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
)
from moldau.proxies.mqtt.codec.primitives import binary_bytes, text_bytes, varint_bytes
from moldau.proxies.mqtt.codec.properties import Properties, property_bytes

Body = tuple[int, bytes]
"""The first byte, and what follows the length."""


def encode(packet: Packet, version: int) -> bytes:
    first, body = _WRITERS[type(packet)](packet, version)
    return bytes((first,)) + varint_bytes(len(body)) + body


def publish_parts(
    topic: bytes, payload: bytes, qos: int, *, retain: bool, properties: bytes
) -> tuple[bytes, bytes]:
    """What stands before and after the packet identifier of a PUBLISH, for one that many clients get.

    `properties` are encoded; empty for 3.1.1.
    """
    size = 2 + len(topic) + (2 if qos else 0) + len(properties) + len(payload)
    head = bytes((0x30 | qos << 1 | retain,)) + varint_bytes(size) + len(topic).to_bytes(2, "big") + topic
    return head, properties + payload


def _connect(packet: Connect, version: int) -> Body:
    will = packet.will
    flags = packet.clean_start << 1
    if will is not None:
        flags |= 4 | will.qos << 3 | will.retain << 5
    flags |= (packet.password is not None) << 6 | (packet.username is not None) << 7
    level = packet.version | packet.is_bridge << 7
    parts = [b"\0\4MQTT", bytes((level, flags)), packet.keep_alive_s.to_bytes(2, "big")]
    parts.append(_properties(packet.properties, packet.version))
    parts.append(text_bytes(packet.client_id))
    if will is not None:
        parts.append(_properties(will.properties, packet.version))
        parts.append(text_bytes(will.topic) + binary_bytes(will.payload))
    if packet.username is not None:
        parts.append(text_bytes(packet.username))
    if packet.password is not None:
        parts.append(binary_bytes(packet.password))
    return 0x10, b"".join(parts)


def _connack(packet: ConnAck, version: int) -> Body:
    return 0x20, bytes((packet.session_present, packet.code)) + _properties(packet.properties, version)


def _publish(packet: Publish, version: int) -> Body:
    first = 0x30 | packet.dup << 3 | packet.qos << 1 | packet.retain
    body = text_bytes(packet.topic)
    if packet.qos:
        body += packet.packet_id.to_bytes(2, "big")
    return first, body + _properties(packet.properties, version) + packet.payload


def _acknowledgement(first: int) -> Callable[[Acknowledgement, int], Body]:
    def write(packet: Acknowledgement, version: int) -> Body:
        body = packet.packet_id.to_bytes(2, "big")
        return first, body + _reason(packet.reason, packet.properties, version)

    return write


def _subscribe(packet: Subscribe, version: int) -> Body:
    parts = [packet.packet_id.to_bytes(2, "big"), _properties(packet.properties, version)]
    for one in packet.wanted:
        options = one.qos
        if version == V5:
            options |= one.no_local << 2 | one.retain_as_published << 3 | one.retain_handling << 4
        parts.append(text_bytes(one.filter) + bytes((options,)))
    return 0x82, b"".join(parts)


def _suback(packet: SubAck, version: int) -> Body:
    body = packet.packet_id.to_bytes(2, "big") + _properties(packet.properties, version)
    return 0x90, body + bytes(packet.codes)


def _unsubscribe(packet: Unsubscribe, version: int) -> Body:
    parts = [packet.packet_id.to_bytes(2, "big"), _properties(packet.properties, version)]
    parts += [text_bytes(one) for one in packet.filters]
    return 0xA2, b"".join(parts)


def _unsuback(packet: UnsubAck, version: int) -> Body:
    body = packet.packet_id.to_bytes(2, "big")
    if version == V5:
        body += property_bytes(packet.properties) + bytes(packet.codes)
    return 0xB0, body


def _disconnect(packet: Disconnect, version: int) -> Body:
    return 0xE0, _reason(packet.reason, packet.properties, version)


def _auth(packet: Auth, version: int) -> Body:
    return 0xF0, _reason(packet.reason, packet.properties, version)


def _reason(reason: int, properties: Properties, version: int) -> bytes:
    """Left out where it is the default."""
    if version != V5 or (reason == 0 and not properties):
        return b""
    return bytes((reason,)) + (property_bytes(properties) if properties else b"")


def _properties(properties: Properties, version: int) -> bytes:
    return property_bytes(properties) if version == V5 else b""


_WRITERS: Final[Mapping[type, Callable[[Any, int], Body]]] = {
    Connect: _connect,
    ConnAck: _connack,
    Publish: _publish,
    PubAck: _acknowledgement(PacketType.PUBACK << 4),
    PubRec: _acknowledgement(PacketType.PUBREC << 4),
    PubRel: _acknowledgement(PacketType.PUBREL << 4 | 2),
    PubComp: _acknowledgement(PacketType.PUBCOMP << 4),
    Subscribe: _subscribe,
    SubAck: _suback,
    Unsubscribe: _unsubscribe,
    UnsubAck: _unsuback,
    PingReq: lambda _packet, _version: (0xC0, b""),
    PingResp: lambda _packet, _version: (0xD0, b""),
    Disconnect: _disconnect,
    Auth: _auth,
}
