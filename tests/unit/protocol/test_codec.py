"""The codec by example: bytes written out by hand, and what it says when something cannot be."""

from collections.abc import Sequence

import pytest

from moldau.core.errors import PeerError
from moldau.protocol.codec import decode, encode, encode_into
from moldau.protocol.decoding import ELEMENTS_MAX
from moldau.protocol.messages.cluster.api_versions import ApiVersionsRequest, ApiVersionsResponse
from moldau.protocol.messages.log.fetch import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ForgottenTopic,
    ReplicaState,
)
from moldau.protocol.messages.log.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from moldau.protocol.messages.log.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from moldau.protocol.messages.topics.create_topics import CreateTopicsRequest
from moldau.protocol.messages.topics.describe_topic_partitions import Cursor, DescribeTopicPartitionsRequest
from moldau.protocol.messages.topics.metadata import MetadataRequest, MetadataRequestTopic
from moldau.protocol.spec import (
    Message,
    Request,
    array,
    bool8,
    bytestring,
    float64,
    int8,
    int16,
    int32,
    int64,
    message,
    nested,
    request,
    string,
    structure,
    uint16,
    uint32,
    uuid,
)
from moldau.protocol.varints import write_unsigned_varint

FETCH = FetchRequest(
    max_wait_ms=500,
    min_bytes=1,
    topics=[
        FetchTopic(topic="t", partitions=[FetchPartition(partition=3, fetch_offset=7, partition_max_bytes=9)])
    ],
)
FETCH_V4 = bytes.fromhex(
    "ffffffff 000001f4 00000001 7fffffff 0000000001 0001 7400000001 00000003 0000000000000007 00000009"
)
FETCH_V12 = bytes.fromhex(
    "ffffffff 000001f4 00000001 7fffffff 00 00000000 ffffffff"
    "02 02 74"
    "02 00000003 ffffffff 0000000000000007 ffffffff ffffffffffffffff 00000009 00"
    "00 01 01 00"
)


@structure
class Point:
    x: int = int32()
    label: str | None = string(nullable="0+", default=None)


@message(versions="0-2", flexible="1+")
@structure
class Everything(Message):
    flag: bool = bool8()
    tiny: int = int8()
    small: int = int16()
    port: int = uint16()
    number: int = int32()
    unsigned: int = uint32()
    big: int = int64()
    ratio: float = float64()
    identity: bytes = uuid()
    name: str = string()
    data: bytes | None = bytestring(nullable="0+")
    ids: Sequence[bytes] = array("uuid")
    words: Sequence[str] | None = array("string", nullable="0+")
    points: Sequence[Point] = array(Point)
    point: Point | None = nested(Point, nullable="1+", default=Point())
    strict: int = int32(versions="2+", default=5)
    lenient: int = int32(versions="2+", default=5, ignorable=True)


EVERYTHING = Everything(
    flag=True,
    tiny=-1,
    small=-2,
    port=65535,
    number=-3,
    unsigned=2**32 - 1,
    big=-4,
    ratio=1.0,
    identity=bytes(range(16)),
    name="né",
    data=None,
    ids=[bytes(16)],
    words=["a", ""],
    points=[Point(x=1, label=None)],
    point=Point(x=2, label="p"),
)
EVERYTHING_FIXED = bytes.fromhex(
    "01 ff fffe ffff fffffffd ffffffff fffffffffffffffc 3ff0000000000000 000102030405060708090a0b0c0d0e0f"
)


def test_fields_in_an_old_version() -> None:
    assert encode(FETCH, 4) == FETCH_V4
    assert decode(FetchRequest, 4, FETCH_V4) == (FETCH, len(FETCH_V4))


def test_fields_in_a_flexible_version() -> None:
    assert encode(FETCH, 12) == FETCH_V12
    assert decode(FetchRequest, 12, FETCH_V12) == (FETCH, len(FETCH_V12))


def test_every_type_in_an_old_version() -> None:
    expected = EVERYTHING_FIXED + bytes.fromhex(
        "0003 6ec3a9 ffffffff 00000001"
        + "00" * 16
        + "00000002 0001 61 0000 00000001 00000001 ffff 00000002 0001 70"
    )
    assert encode(EVERYTHING, 0) == expected
    assert decode(Everything, 0, expected) == (EVERYTHING, len(expected))


def test_every_type_in_a_flexible_version() -> None:
    expected = EVERYTHING_FIXED + bytes.fromhex(
        "04 6ec3a9 00 02" + "00" * 16 + "03 02 61 01 02 00000001 00 00 01 00000002 02 70 00 00"
    )
    assert encode(EVERYTHING, 1) == expected
    assert decode(Everything, 1, expected) == (EVERYTHING, len(expected))


def test_lengths_that_take_more_than_one_byte() -> None:
    name = "x" * 200
    encoded = encode(MetadataRequest(topics=[MetadataRequestTopic(name=name)] * 300), 12)
    assert encoded[:2] == bytes([301 & 0x7F | 0x80, 301 >> 7])
    decoded, end = decode(MetadataRequest, 12, encoded)
    assert end == len(encoded)
    assert [topic.name for topic in decoded.topics or ()] == [name] * 300


def test_a_field_the_version_lacks_gets_its_default() -> None:
    decoded, _ = decode(FetchRequest, 4, FETCH_V4)
    assert (decoded.session_epoch, decoded.rack_id, decoded.forgotten_topics_data) == (-1, "", [])
    assert decoded.replica_state == ReplicaState()


def test_records_are_a_view_of_the_frame() -> None:
    topic = TopicProduceData(name="t", partition_data=[PartitionProduceData(index=0, records=b"batches")])
    encoded = bytearray(encode(ProduceRequest(acks=1, timeout_ms=10, topic_data=[topic]), 9))
    decoded, _ = decode(ProduceRequest, 9, encoded)
    records = decoded.topic_data[0].partition_data[0].records
    assert isinstance(records, memoryview)
    assert records == b"batches"
    encoded[encoded.index(b"batches")] = ord("B")
    assert records == b"Batches"


@pytest.mark.parametrize("cursor", [None, Cursor(topic_name="t", partition_index=1)])
def test_a_nullable_structure(cursor: Cursor | None) -> None:
    asked = DescribeTopicPartitionsRequest(topics=[], cursor=cursor)
    encoded = encode(asked, 0)
    assert encoded[5] == (0xFF if cursor is None else 1)
    assert decode(DescribeTopicPartitionsRequest, 0, encoded) == (asked, len(encoded))


def test_a_tagged_field_at_its_default_takes_no_room() -> None:
    from_replica = FetchRequest(
        max_wait_ms=0, min_bytes=0, topics=[], replica_state=ReplicaState(replica_id=2)
    )
    from_consumer = FetchRequest(max_wait_ms=0, min_bytes=0, topics=[])
    assert encode(from_consumer, 15)[-1:] == b"\0"
    assert encode(from_replica, 15)[-16:] == bytes.fromhex("01 01 0d 00000002 ffffffffffffffff 00")


def test_unknown_tagged_fields_are_ignored() -> None:
    unknown = bytes.fromhex("02 64 03 616263 e807 00")
    tagged_at_the_end = FETCH_V12[:-1] + unknown
    assert decode(FetchRequest, 12, tagged_at_the_end) == (FETCH, len(tagged_at_the_end))
    in_the_partition = FETCH_V12.index(bytes.fromhex("00000009 00")) + 4
    tagged_inside = FETCH_V12[:in_the_partition] + unknown + FETCH_V12[in_the_partition + 1 :]
    assert decode(FetchRequest, 12, tagged_inside) == (FETCH, len(tagged_inside))


def test_known_and_unknown_tagged_fields_in_any_order() -> None:
    decoded, _ = decode(FetchRequest, 12, FETCH_V12[:-1] + bytes.fromhex("02 64 00 00 03 03 6331"))
    assert decoded.cluster_id == "c1"


def test_a_known_tagged_field_must_have_the_size_it_claims() -> None:
    with pytest.raises(PeerError, match="FetchRequest v12: tagged field cluster_id is 1 bytes off"):
        decode(FetchRequest, 12, FETCH_V12[:-1] + bytes.fromhex("01 00 04 03 6331 00"))


@pytest.mark.parametrize(
    ("cls", "version", "frame", "complaint"),
    [
        (
            MetadataRequest,
            1,
            "7fffffff",
            "topics claims 2147483647 elements, which cannot fit in the 0 bytes left",
        ),
        (MetadataRequest, 9, "ffffffff0f 00", "topics claims 4294967294 elements"),
        (MetadataRequest, 1, "00000001 7fff 61", "topics.name claims 32767 bytes where 1 are left"),
        (MetadataRequest, 9, "02 8080808080 01", "longer than 5 bytes"),
        (MetadataRequest, 1, "00000001 0002 c328", "not UTF-8"),
        (MetadataRequest, 1, "00000001 ffff", "topics.name is null"),
        (MetadataRequest, 0, "ffffffff", "topics is null"),
        (MetadataRequest, 9, "02 00 00", "topics.name is null"),
        (MetadataRequest, 9, "01 01 01 01 8080", "ends in the middle of a field"),
        (MetadataRequest, 9, "01 01 01 01 ffffffff0f", "tags claims 4294967295 elements"),
        (MetadataRequest, 9, "01 01 01 01 01 00 7f 00", "tags claims 127 bytes where 1 are left"),
        (CreateTopicsRequest, 2, "00", "CreateTopicsRequest v2 ends in the middle of a field"),
        (ApiVersionsRequest, 3, "", "ApiVersionsRequest v3 ends in the middle of a field"),
    ],
)
def test_what_is_said_of_a_broken_frame(cls: type[Request], version: int, frame: str, complaint: str) -> None:
    with pytest.raises(PeerError, match=complaint):
        decode(cls, version, bytes.fromhex(frame))


@pytest.mark.parametrize("version", [1, 12])
def test_more_elements_than_any_request_needs(version: int) -> None:
    """Two bytes of an empty topic name on the wire are a hundred in memory."""
    elements = 2 * ELEMENTS_MAX
    count = bytearray()
    write_unsigned_varint(count, elements + 1)
    frame = (
        bytes(count) + bytes(18 * elements)
        if version == 12
        else elements.to_bytes(4, "big") + bytes(2 * elements)
    )
    with pytest.raises(
        PeerError, match=f"MetadataRequest v{version}: more than 250000 elements in one message"
    ):
        decode(MetadataRequest, version, frame)


def test_elements_are_counted_at_all_depths() -> None:
    topic = ForgottenTopic(topic="t", partitions=[0] * (ELEMENTS_MAX // 100))
    asked = FetchRequest(max_wait_ms=0, min_bytes=0, topics=[], forgotten_topics_data=[topic] * 100)
    with pytest.raises(PeerError, match=r"reached in forgotten_topics_data.partitions"):
        decode(FetchRequest, 7, encode(asked, 7))


def test_a_string_longer_than_kafka_allows() -> None:
    name = "x" * 0x8000
    with pytest.raises(ValueError, match=r"topics.name has 32768 bytes, a string may have 32767"):
        encode(MetadataRequest(topics=[MetadataRequestTopic(name=name)]), 12)
    as_if = bytes.fromhex("02" + "00" * 16 + "818002") + name.encode() + bytes.fromhex("00 01 01 00")
    with pytest.raises(PeerError, match=r"topics.name claims 32768 bytes"):
        decode(MetadataRequest, 12, as_if)


def test_a_value_the_version_cannot_carry() -> None:
    lenient = Everything(**{**_values(EVERYTHING), "lenient": 6})
    assert encode(lenient, 1) == encode(EVERYTHING, 1)
    strict = Everything(**{**_values(EVERYTHING), "strict": 6})
    with pytest.raises(ValueError, match="Everything v1 has no field strict; leave it at its default"):
        encode(strict, 1)
    assert decode(Everything, 2, encode(strict, 2))[0] == strict


def test_an_answer_leaves_out_what_the_version_lacks() -> None:
    partition = ListOffsetsPartitionResponse(
        partition_index=0, error_code=0, timestamp=5, offset=7, leader_epoch=3
    )
    answer = ListOffsetsResponse(topics=[ListOffsetsTopicResponse(name="t", partitions=[partition])])
    back, _ = decode(ListOffsetsResponse, 2, encode(answer, 2))
    assert back.topics[0].partitions[0].leader_epoch == -1
    assert back.topics[0].partitions[0].offset == 7


def test_none_where_the_version_has_no_null() -> None:
    with pytest.raises(ValueError, match="MetadataRequest v0: topics must not be None"):
        encode(MetadataRequest(topics=None), 0)
    with pytest.raises(ValueError, match=r"MetadataRequest v9: topics.name must not be None"):
        encode(MetadataRequest(topics=[MetadataRequestTopic(name=None)]), 9)


def test_a_failed_encoding_leaves_the_buffer_as_it_was() -> None:
    out = bytearray(b"before")
    with pytest.raises(ValueError, match="MetadataRequest v12 cannot be encoded"):
        encode_into(
            MetadataRequest(topics=[MetadataRequestTopic(name="x"), MetadataRequestTopic(name="x" * 40000)]),
            12,
            out,
        )
    assert out == b"before"
    encode_into(MetadataRequest(topics=None), 12, out)
    assert out == b"before" + encode(MetadataRequest(topics=None), 12)


def test_a_number_that_does_not_fit() -> None:
    with pytest.raises(ValueError, match="ApiVersionsResponse v0 cannot be encoded"):
        encode(ApiVersionsResponse(error_code=2**15, api_keys=[]), 0)


def test_a_version_that_does_not_exist() -> None:
    with pytest.raises(ValueError, match="MetadataRequest has versions 0-13, not 14"):
        encode(MetadataRequest(topics=None), 14)
    with pytest.raises(ValueError, match="MetadataRequest has versions 0-13, not -1"):
        decode(MetadataRequest, -1, b"")


def test_arrays_may_be_given_as_tuples() -> None:
    @request(99, versions="0", flexible="none")
    @structure
    class Numbers(Request):
        numbers: Sequence[int] = array("int16")
        absent: Sequence[int] = array("int16", versions="1+", default=())

    assert encode(Numbers(numbers=(1, 2), absent=()), 0) == bytes.fromhex("00000002 0001 0002")


def _values(source: Everything) -> dict[str, object]:
    return {name: getattr(source, name) for name in Everything.__slots__}
