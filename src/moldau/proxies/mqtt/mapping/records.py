"""A message as key, value and headers of a record, and back.

User properties are headers of the same name. What else MQTT has stands in headers that begin with `mqtt.`. A record
without them, written by a Kafka client, is a message of QoS 1: its MQTT topic is its key if that can be one, else the
name of the Kafka topic.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Final

from moldau.proxies.mqtt.codec.properties import NO_PROPERTIES, Property
from moldau.proxies.mqtt.codec.topics import is_name
from moldau.proxies.mqtt.mapping.rules import Route
from moldau.proxies.mqtt.session.messages import Message

PREFIX: Final = "mqtt."
QOS: Final = "mqtt.qos"
RETAIN: Final = "mqtt.retain"
TOPIC: Final = "mqtt.topic"
CLIENT: Final = "mqtt.client"
USER: Final = "mqtt.user."
"""In front of the name of a user property that begins with `mqtt.` itself."""
QOS_DEFAULT: Final = 1
_NAMES: Final = {
    Property.PAYLOAD_FORMAT: "mqtt.payload.format",
    Property.MESSAGE_EXPIRY: "mqtt.expiry",
    Property.CONTENT_TYPE: "mqtt.content.type",
    Property.RESPONSE_TOPIC: "mqtt.response.topic",
    Property.CORRELATION_DATA: "mqtt.correlation.data",
}
_NUMBERS: Final = {name: number for number, name in _NAMES.items()}
_DIGITS: Final = (b"0", b"1", b"2")
Headers = Sequence[tuple[str, str | bytes | None]]
Found = dict[str, str | bytes | None] | list[tuple[str, str | bytes | None]] | None
"""The headers of a record as the consumer declares them."""
NO_HEADERS: Final[Headers] = ()


def headers_of(message: Message, route: Route) -> Headers:
    """The headers of the record. A plain message of QoS 1 has none."""
    if (
        message.qos == QOS_DEFAULT
        and not message.properties
        and route.is_key_topic
        and not message.retain
        and message.publisher is None
    ):
        return NO_HEADERS
    headers: list[tuple[str, str | bytes | None]] = []
    if not route.is_key_topic:
        headers.append((TOPIC, message.topic.encode()))
    if message.qos != QOS_DEFAULT:
        headers.append((QOS, _DIGITS[message.qos]))
    if message.retain:
        headers.append((RETAIN, b"1"))
    if message.publisher is not None:
        headers.append((CLIENT, message.publisher.encode()))
    for number, value in message.properties.items():
        if number == Property.USER_PROPERTY:
            headers += [
                (USER + name if name.startswith(PREFIX) else name, text.encode()) for name, text in value
            ]
        elif number in _NAMES:
            data = value if isinstance(value, bytes) else str(value).encode()
            headers.append((_NAMES[Property(number)], data))
    return headers


def message_of(
    kafka_topic: str,
    key: bytes | None,
    value: bytes | None,
    headers: Found,
    timestamp_ms: int,
    found_topic: str | None = None,
) -> Message:
    """`found_topic` is what `topic_of` has said of it."""
    topic = found_topic or topic_of(kafka_topic, key, headers)
    if not headers:
        return Message(topic, value or b"", QOS_DEFAULT, False, NO_PROPERTIES, timestamp_ms)
    message = Message(topic, value or b"", QOS_DEFAULT, False, NO_PROPERTIES, timestamp_ms)
    properties: dict[int, Any] = {}
    pairs: list[tuple[str, str]] = []
    for name, data in _pairs(headers):
        if name == QOS:
            message.qos = _DIGITS.index(data) if data in _DIGITS else QOS_DEFAULT
        elif name == RETAIN:
            message.retain = data == b"1"
        elif name == CLIENT:
            message.publisher = _text(data)
        elif name in _NUMBERS:
            _put(properties, _NUMBERS[name], data or b"")
        elif name != TOPIC:
            text = _text(data)
            plain = name.removeprefix(USER)
            if text is not None and "\0" not in name and len(plain.encode()) <= 65_535:
                pairs.append((plain, text))
    if pairs:
        properties[Property.USER_PROPERTY] = pairs
    if properties:
        message.properties = properties
    return message


def topic_of(kafka_topic: str, key: bytes | None, headers: Found) -> str:
    """The MQTT topic of a record."""
    for name, data in _pairs(headers) if headers else ():
        if name == TOPIC and data:
            found = _name(data)
            if found is not None:
                return found
    if not key:
        return kafka_topic
    return _name(key) or kafka_topic


def _pairs(headers: Found) -> Iterable[tuple[str, bytes | None]]:
    """A consumer gives pairs with bytes."""
    return headers  # type: ignore[return-value]


@lru_cache(maxsize=16_384)
def _name(data: bytes) -> str | None:
    text = _text(data)
    return text if text is not None and is_name(text) else None


def _text(data: bytes | None) -> str | None:
    """None for what no MQTT string can hold."""
    try:
        text = (data or b"").decode()
    except UnicodeDecodeError:
        return None
    return None if "\0" in text or len(data or b"") > 65_535 else text


def _put(properties: dict[int, Any], number: Property, data: bytes) -> None:
    """Leaves out what another client has written wrongly."""
    if number == Property.CORRELATION_DATA:
        if len(data) <= 65_535:
            properties[number] = data
        return
    text = _text(data)
    if text is None:
        return
    if number in (Property.PAYLOAD_FORMAT, Property.MESSAGE_EXPIRY):
        limit = 1 if number == Property.PAYLOAD_FORMAT else 0xFFFFFFFF
        if text.isascii() and text.isdigit() and len(text) <= 10 and int(text) <= limit:
            properties[number] = int(text)
    elif number != Property.RESPONSE_TOPIC or is_name(text):
        properties[number] = text
