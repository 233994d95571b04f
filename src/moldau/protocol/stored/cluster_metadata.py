"""The records of KRaft's metadata log, `__cluster_metadata`, about topics and their settings. Read, never
written.

A value is three unsigned varints (the version of this framing, the record type, the record version) and the
fields of the record. There are no keys.
"""

from collections.abc import Mapping
from typing import ClassVar, Final

from moldau.core.errors import PeerError
from moldau.core.ids import TopicId
from moldau.core.ports import Buffer
from moldau.protocol.codec import decode
from moldau.protocol.spec import Message, int8, message, string, structure, uuid
from moldau.protocol.varints import read_unsigned_varint

FRAMING: Final = 1
TOPIC_RESOURCE: Final = 2


class MetadataRecord(Message):
    __slots__ = ()
    RECORD_TYPE: ClassVar[int]


@message(versions="0", flexible="0+")
@structure
class TopicRecord(MetadataRecord):
    RECORD_TYPE: ClassVar[int] = 2
    name: str = string()
    topic_id: TopicId = uuid()


@message(versions="0", flexible="0+")
@structure
class ConfigRecord(MetadataRecord):
    RECORD_TYPE: ClassVar[int] = 4
    resource_type: int = int8()
    resource_name: str = string()
    name: str = string()
    value: str | None = string(nullable="0+")


@message(versions="0", flexible="0+")
@structure
class RemoveTopicRecord(MetadataRecord):
    RECORD_TYPE: ClassVar[int] = 9
    topic_id: TopicId = uuid()


_KNOWN: Final[Mapping[int, type[MetadataRecord]]] = {
    each.RECORD_TYPE: each for each in (TopicRecord, ConfigRecord, RemoveTopicRecord)
}


def decode_metadata_record(value: Buffer) -> MetadataRecord | None:
    """None for other types of records. PeerError if the record cannot be decoded."""
    try:
        framing, position = read_unsigned_varint(value, 0)
        if framing != FRAMING:
            raise PeerError(f"a metadata record has framing {framing}, only {FRAMING} is supported")
        record_type, position = read_unsigned_varint(value, position)
        version, position = read_unsigned_varint(value, position)
    except IndexError:
        raise PeerError(f"a metadata record of {len(value)} bytes is too short") from None
    declared = _KNOWN.get(record_type)
    if declared is None:
        return None
    if version not in declared.VERSIONS:
        raise PeerError(f"{declared.__name__} v{version} is not supported, only v{declared.VERSIONS}")
    return decode(declared, version, value, position)[0]
