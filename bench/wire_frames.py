"""Requests as they go over the wire, for programs that speak to a broker without a client library."""

import struct

from moldau.protocol import codec
from moldau.protocol.messages.log.fetch import FetchPartition, FetchRequest, FetchTopic
from moldau.protocol.messages.log.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from moldau.protocol.records.builder import build_batch
from moldau.protocol.records.record import Record
from moldau.protocol.spec import Request

PRODUCE_VERSION, FETCH_VERSION = 9, 12
CORRELATION_ID = 1
_HEADER = struct.Struct(">ihhih")
_TIMESTAMP_MS = 1_700_000_000_000


def produce_frame(topic: str, records: int, record_bytes: int = 100, partition: int = 0) -> bytes:
    """One batch to one partition, acknowledged by the leader."""
    batch = build_batch([Record(i, _TIMESTAMP_MS, None, bytes(record_bytes)) for i in range(records)])
    data = PartitionProduceData(index=partition, records=bytes(batch))
    topics = [TopicProduceData(name=topic, partition_data=[data])]
    request = ProduceRequest(transactional_id=None, acks=1, timeout_ms=30_000, topic_data=topics)
    return framed(request, PRODUCE_VERSION)


def fetch_frame(topic: str, partitions: int, bytes_max: int, offset: int = 0) -> bytes:
    wanted = [
        FetchPartition(partition=index, fetch_offset=offset, partition_max_bytes=bytes_max)
        for index in range(partitions)
    ]
    topics = [FetchTopic(topic=topic, partitions=wanted)]
    request = FetchRequest(max_wait_ms=500, min_bytes=1, max_bytes=50 << 20, topics=topics)
    return framed(request, FETCH_VERSION)


def framed(request: Request, version: int) -> bytes:
    """With length and a flexible header, from a client that does not say its name."""
    body = codec.encode(request, version)
    return _HEADER.pack(len(body) + 11, request.API_KEY, version, CORRELATION_ID, -1) + b"\0" + body
