"""The timestamp of the next unread record of each partition: fetches one record of each."""

import time
from collections.abc import Mapping

import confluent_kafka
from confluent_kafka import TIMESTAMP_NOT_AVAILABLE, KafkaError, Message

from moldau.cli.client.connection import POLL_S, Cluster
from moldau.core.ids import TopicPartition

BATCH_MAX = 1000
# Small, because only the first record of each partition matters. Larger batches still arrive whole (KIP-74).
FETCH_BYTES_MAX = 64 * 1024


def next_timestamps(
    cluster: Cluster, starts: Mapping[TopicPartition, int]
) -> dict[TopicPartition, int | None]:
    """Milliseconds since the epoch. None if no committed record follows the offset.

    Partitions that do not answer in time are left out.
    """
    if not starts:
        return {}
    consumer = cluster.consumer(
        {
            # The client library requires a group id, but joins no group with assigned partitions.
            "group.id": "moldau-lag",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "error",
            "isolation.level": "read_committed",
            "fetch.message.max.bytes": FETCH_BYTES_MAX,
            "fetch.wait.max.ms": 100,
        }
    )
    found: dict[TopicPartition, int | None] = {}
    deadline = time.monotonic() + cluster.timeout_s
    try:
        consumer.assign([confluent_kafka.TopicPartition(*place, start) for place, start in starts.items()])
        while len(found) < len(starts) and time.monotonic() < deadline:
            for message in consumer.consume(BATCH_MAX, POLL_S):
                place = TopicPartition(message.topic() or "", message.partition() or 0)
                if place not in found and _is_answer(message):
                    found[place] = _timestamp_ms(message)
                    consumer.pause([confluent_kafka.TopicPartition(*place)])
    finally:
        consumer.close()
    return found


def _is_answer(message: Message) -> bool:
    error = message.error()
    return error is None or error.code() == KafkaError._PARTITION_EOF


def _timestamp_ms(message: Message) -> int | None:
    if message.error() is not None:
        return None
    kind, timestamp_ms = message.timestamp()
    return None if kind == TIMESTAMP_NOT_AVAILABLE else timestamp_ms
