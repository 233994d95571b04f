"""What one Produce or Fetch costs in the codec: microseconds per call, hand-tuned against general.

python bench/codec_micro.py
"""

import statistics
import timeit
from collections.abc import Callable

from moldau.core.chunks import FileSlice
from moldau.protocol import codec
from moldau.protocol.fast.fetch_codec import decode_fetch, encode_fetch_response
from moldau.protocol.fast.produce_codec import decode_produce, encode_produce_response
from moldau.protocol.messages.log.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from moldau.protocol.messages.log.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from moldau.protocol.records.batch import crc_matches, read_header
from moldau.protocol.records.builder import build_batch
from moldau.protocol.records.record import Record

ROUNDS, CALLS = 7, 20_000
TOPIC = "orders-by-region"
TOPIC_ID = bytes(range(16))


class NoFile:
    """Stands in for an open file: the codec only carries it."""


def microseconds(call: Callable[[], object]) -> float:
    return statistics.median(timeit.repeat(call, repeat=ROUNDS, number=CALLS)) / CALLS * 1e6


def row(name: str, fast: Callable[[], object], general: Callable[[], object] | None = None) -> None:
    other = f"{microseconds(general):10.2f}" if general else " " * 10
    print(f"{name:44}{microseconds(fast):10.2f}{other}")


def produce(version: int, batch: bytes) -> None:
    topic = TopicProduceData(
        name=TOPIC if version < 13 else "",
        topic_id=TOPIC_ID if version >= 13 else bytes(16),
        partition_data=[PartitionProduceData(index=0, records=batch)],
    )
    request = ProduceRequest(transactional_id=None, acks=-1, timeout_ms=30_000, topic_data=[topic])
    frame = memoryview(codec.encode(request, version))
    key = TOPIC if version < 13 else TOPIC_ID
    answer = ProduceResponse(
        responses=[
            TopicProduceResponse(
                name=TOPIC if version < 13 else "",
                topic_id=TOPIC_ID if version >= 13 else bytes(16),
                partition_responses=[PartitionProduceResponse(index=0, base_offset=77, log_start_offset=0)],
            )
        ]
    )
    row(
        f"produce v{version} decode, 1 partition",
        lambda: decode_produce(frame, 0, version),
        lambda: codec.decode(ProduceRequest, version, frame),
    )
    row(
        f"produce v{version} encode, 1 partition",
        lambda: encode_produce_response(version, 0, [(key, [(0, 0, 77, -1, 0, None, None)])]),
        lambda: codec.encode(answer, version),
    )


def fetch(version: int, partitions: int) -> None:
    topic = FetchTopic(
        topic=TOPIC if version < 13 else "",
        topic_id=TOPIC_ID if version >= 13 else bytes(16),
        partitions=[
            FetchPartition(partition=i, fetch_offset=1000 + i, partition_max_bytes=1 << 20)
            for i in range(partitions)
        ],
    )
    request = FetchRequest(max_wait_ms=500, min_bytes=1, max_bytes=50 << 20, topics=[topic])
    frame = memoryview(codec.encode(request, version))
    key = TOPIC if version < 13 else TOPIC_ID
    piece = FileSlice(NoFile(), 0, 1 << 20)  # type: ignore[arg-type]
    fetched = [(i, 0, 2000, 2000, 0, None, -1, piece) for i in range(partitions)]
    row(
        f"fetch v{version} decode, {partitions} partitions",
        lambda: decode_fetch(frame, 0, version),
        lambda: codec.decode(FetchRequest, version, frame),
    )
    row(
        f"fetch v{version} encode, {partitions} file slices",
        lambda: encode_fetch_response(version, 0, 0, 5, [(key, fetched)]),
    )
    row(
        f"fetch v{version} encode, nothing new",
        lambda: encode_fetch_response(version, 0, 0, 5, []),
        lambda: codec.encode(FetchResponse(session_id=5, responses=[]), version),
    )


def main() -> None:
    batch = bytes(build_batch([Record(i, 1_700_000_000_000, b"key", bytes(100)) for i in range(100)]))
    view = memoryview(batch)
    print(f"{'microseconds':44}{'hand-tuned':>10}{'general':>10}")
    for version in (7, 9, 13):
        produce(version, batch)
    for version in (11, 12, 17):
        fetch(version, 1)
        fetch(version, 6)
    row("batch header", lambda: read_header(view))
    row(f"batch CRC, {len(batch)} bytes", lambda: crc_matches(view, 0, len(batch)))


if __name__ == "__main__":
    main()
