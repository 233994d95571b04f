"""Keys and values of records: the fields of Confluent's syslog connector. Pure."""

from typing import Final

from moldau.pipeline.connect.connectors.syslog.messages import Message
from moldau.pipeline.connect.data.schema import (
    STRING,
    Schema,
    SchemaType,
    array,
    mapping,
    struct,
    timestamp,
)
from moldau.pipeline.connect.data.struct import Struct

_TEXT: Final = Schema(SchemaType.STRING, optional=True)
_NUMBER: Final = Schema(SchemaType.INT32, optional=True)
_TEXTS: Final = mapping(STRING, STRING)

KEY: Final = struct({"remoteAddress": STRING}, name="moldau.syslog.Key")
"""All messages of a sender are in one partition."""
ELEMENT: Final = struct({"id": STRING, "structuredDataElements": _TEXTS}, name="moldau.syslog.StructuredData")
VALUE: Final = struct(
    {
        "type": STRING,
        "date": timestamp(),
        "facility": _NUMBER,
        "level": _NUMBER,
        "host": _TEXT,
        "message": _TEXT,
        "rawMessage": _TEXT,
        "remoteAddress": _TEXT,
        "hostname": _TEXT,
        "tag": _TEXT,
        "processId": _TEXT,
        "version": _NUMBER,
        "appName": _TEXT,
        "messageId": _TEXT,
        "structuredData": array(ELEMENT, optional=True),
        "deviceVendor": _TEXT,
        "deviceProduct": _TEXT,
        "deviceVersion": _TEXT,
        "deviceEventClassId": _TEXT,
        "name": _TEXT,
        "severity": _TEXT,
        "extension": mapping(STRING, STRING, optional=True),
    },
    name="moldau.syslog.Message",
)


def value_of(message: Message, address: str, hostname: str | None) -> Struct:
    event = message.event
    elements = [Struct(ELEMENT, (one.id, one.parameters)) for one in message.structured_data]
    version = message.version if event is None else event.version
    return Struct(
        VALUE,
        (
            str(message.kind),
            message.date.replace(microsecond=message.date.microsecond // 1000 * 1000),
            message.facility,
            message.level,
            message.host,
            message.message,
            message.raw,
            address,
            hostname,
            message.tag,
            message.process_id,
            version,
            message.app_name,
            message.message_id,
            elements or None,
            *(event[1:7] if event is not None else (None,) * 6),
            None if event is None else event.extension,
        ),
    )
