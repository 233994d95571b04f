"""The properties of MQTT 5.0 (2.2.2): their types, the packets they may stand in, and their encoding.

In memory they are a mapping from `Property` to a value. The user property holds a list of pairs, and the subscription
identifier of a PUBLISH a list of numbers, because these two may be repeated.
"""

from collections.abc import Mapping
from enum import Enum, IntEnum
from typing import Any, Final, NamedTuple

from moldau.proxies.mqtt.codec.primitives import (
    Cursor,
    MalformedPacket,
    binary_bytes,
    text_bytes,
    varint_bytes,
)
from moldau.proxies.mqtt.codec.reason_codes import Reason

Properties = Mapping[int, Any]


class _NoProperties(dict[int, Any]):
    """Empty and hashable, so that it may be a default in dataclasses; nobody changes it."""

    __hash__ = object.__hash__  # type: ignore[assignment]


NO_PROPERTIES: Final[Properties] = _NoProperties()


class Property(IntEnum):
    PAYLOAD_FORMAT = 0x01
    MESSAGE_EXPIRY = 0x02
    CONTENT_TYPE = 0x03
    RESPONSE_TOPIC = 0x08
    CORRELATION_DATA = 0x09
    SUBSCRIPTION_IDENTIFIER = 0x0B
    SESSION_EXPIRY = 0x11
    ASSIGNED_CLIENT_IDENTIFIER = 0x12
    SERVER_KEEP_ALIVE = 0x13
    AUTHENTICATION_METHOD = 0x15
    AUTHENTICATION_DATA = 0x16
    REQUEST_PROBLEM_INFORMATION = 0x17
    WILL_DELAY = 0x18
    REQUEST_RESPONSE_INFORMATION = 0x19
    RESPONSE_INFORMATION = 0x1A
    SERVER_REFERENCE = 0x1C
    REASON_STRING = 0x1F
    RECEIVE_MAXIMUM = 0x21
    TOPIC_ALIAS_MAXIMUM = 0x22
    TOPIC_ALIAS = 0x23
    MAXIMUM_QOS = 0x24
    RETAIN_AVAILABLE = 0x25
    USER_PROPERTY = 0x26
    MAXIMUM_PACKET_SIZE = 0x27
    WILDCARD_AVAILABLE = 0x28
    SUBSCRIPTION_IDENTIFIERS_AVAILABLE = 0x29
    SHARED_AVAILABLE = 0x2A


class Kind(Enum):
    FLAG = "zero or one"
    U16 = "two bytes"
    U32 = "four bytes"
    VARINT = "variable byte integer"
    TEXT = "string"
    BINARY = "binary data"
    PAIR = "pair of strings"


WILL: Final = 0
"""The will of a CONNECT stands among the packet types, as 0, which is none."""
_CONNECT, _CONNACK, _PUBLISH, _PUBACK, _PUBREC, _PUBREL, _PUBCOMP = 1, 2, 3, 4, 5, 6, 7
_SUBSCRIBE, _SUBACK, _UNSUBSCRIBE, _UNSUBACK, _DISCONNECT, _AUTH = 8, 9, 10, 11, 14, 15
_ANSWERS: Final = (_CONNACK, _PUBACK, _PUBREC, _PUBREL, _PUBCOMP, _SUBACK, _UNSUBACK, _DISCONNECT, _AUTH)


class _Form(NamedTuple):
    kind: Kind
    packets: frozenset[int]
    is_positive: bool = False


def _form(kind: Kind, *packets: int, is_positive: bool = False) -> _Form:
    return _Form(kind, frozenset(packets), is_positive)


FORMS: Final[Mapping[int, _Form]] = {
    Property.PAYLOAD_FORMAT: _form(Kind.FLAG, _PUBLISH, WILL),
    Property.MESSAGE_EXPIRY: _form(Kind.U32, _PUBLISH, WILL),
    Property.CONTENT_TYPE: _form(Kind.TEXT, _PUBLISH, WILL),
    Property.RESPONSE_TOPIC: _form(Kind.TEXT, _PUBLISH, WILL),
    Property.CORRELATION_DATA: _form(Kind.BINARY, _PUBLISH, WILL),
    Property.SUBSCRIPTION_IDENTIFIER: _form(Kind.VARINT, _PUBLISH, _SUBSCRIBE, is_positive=True),
    Property.SESSION_EXPIRY: _form(Kind.U32, _CONNECT, _CONNACK, _DISCONNECT),
    Property.ASSIGNED_CLIENT_IDENTIFIER: _form(Kind.TEXT, _CONNACK),
    Property.SERVER_KEEP_ALIVE: _form(Kind.U16, _CONNACK),
    Property.AUTHENTICATION_METHOD: _form(Kind.TEXT, _CONNECT, _CONNACK, _AUTH),
    Property.AUTHENTICATION_DATA: _form(Kind.BINARY, _CONNECT, _CONNACK, _AUTH),
    Property.REQUEST_PROBLEM_INFORMATION: _form(Kind.FLAG, _CONNECT),
    Property.WILL_DELAY: _form(Kind.U32, WILL),
    Property.REQUEST_RESPONSE_INFORMATION: _form(Kind.FLAG, _CONNECT),
    Property.RESPONSE_INFORMATION: _form(Kind.TEXT, _CONNACK),
    Property.SERVER_REFERENCE: _form(Kind.TEXT, _CONNACK, _DISCONNECT),
    Property.REASON_STRING: _form(Kind.TEXT, *_ANSWERS),
    Property.RECEIVE_MAXIMUM: _form(Kind.U16, _CONNECT, _CONNACK, is_positive=True),
    Property.TOPIC_ALIAS_MAXIMUM: _form(Kind.U16, _CONNECT, _CONNACK),
    Property.TOPIC_ALIAS: _form(Kind.U16, _PUBLISH),
    Property.MAXIMUM_QOS: _form(Kind.FLAG, _CONNACK),
    Property.RETAIN_AVAILABLE: _form(Kind.FLAG, _CONNACK),
    Property.USER_PROPERTY: _form(Kind.PAIR, WILL, _CONNECT, _PUBLISH, _SUBSCRIBE, _UNSUBSCRIBE, *_ANSWERS),
    Property.MAXIMUM_PACKET_SIZE: _form(Kind.U32, _CONNECT, _CONNACK, is_positive=True),
    Property.WILDCARD_AVAILABLE: _form(Kind.FLAG, _CONNACK),
    Property.SUBSCRIPTION_IDENTIFIERS_AVAILABLE: _form(Kind.FLAG, _CONNACK),
    Property.SHARED_AVAILABLE: _form(Kind.FLAG, _CONNACK),
}


def read_properties(cursor: Cursor, packet: int) -> Properties:
    """The properties of a packet, or of a will. Raises MalformedPacket."""
    size = cursor.varint()
    if size == 0:
        return NO_PROPERTIES
    end = cursor.position + size
    if end > cursor.end:
        raise MalformedPacket(f"the properties end {end - cursor.end} bytes after the packet")
    inner = Cursor(cursor.data, cursor.position, end)
    cursor.position = end
    found: dict[int, Any] = {}
    while inner.has_more():
        number = inner.varint()
        form = FORMS.get(number)
        if form is None:
            raise MalformedPacket(f"there is no property {number}")
        if packet not in form.packets:
            raise MalformedPacket(f"the property {Property(number).name} may not stand in this packet")
        _put(found, number, _value(inner, form, number), packet)
    return found


def _put(found: dict[int, Any], number: int, value: Any, packet: int) -> None:
    if number == Property.USER_PROPERTY or (
        number == Property.SUBSCRIPTION_IDENTIFIER and packet == _PUBLISH
    ):
        found.setdefault(number, []).append(value)
    elif number in found:
        raise MalformedPacket(f"the property {Property(number).name} stands twice", Reason.PROTOCOL_ERROR)
    else:
        found[number] = value


def _value(cursor: Cursor, form: _Form, number: int) -> Any:
    match form.kind:
        case Kind.FLAG:
            value: Any = cursor.u8()
            if value > 1:
                raise MalformedPacket(
                    f"the property {Property(number).name} is {value}, not 0 or 1", Reason.PROTOCOL_ERROR
                )
        case Kind.U16:
            value = cursor.u16()
        case Kind.U32:
            value = cursor.u32()
        case Kind.VARINT:
            value = cursor.varint()
        case Kind.TEXT:
            value = cursor.text()
        case Kind.BINARY:
            value = cursor.binary()
        case Kind.PAIR:
            value = (cursor.text(), cursor.text())
    if form.is_positive and value == 0:
        raise MalformedPacket(f"the property {Property(number).name} is zero", Reason.PROTOCOL_ERROR)
    return value


def property_bytes(properties: Properties) -> bytes:
    """With their length in front."""
    if not properties:
        return b"\0"
    parts = []
    for number, value in properties.items():
        kind = FORMS[number].kind
        for one in value if isinstance(value, list) else (value,):
            parts.append(bytes((number,)))
            match kind:
                case Kind.FLAG:
                    parts.append(bytes((one,)))
                case Kind.U16:
                    parts.append(one.to_bytes(2, "big"))
                case Kind.U32:
                    parts.append(one.to_bytes(4, "big"))
                case Kind.VARINT:
                    parts.append(varint_bytes(one))
                case Kind.TEXT:
                    parts.append(text_bytes(one))
                case Kind.BINARY:
                    parts.append(binary_bytes(one))
                case Kind.PAIR:
                    parts.append(text_bytes(one[0]) + text_bytes(one[1]))
    body = b"".join(parts)
    return varint_bytes(len(body)) + body
