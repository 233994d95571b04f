"""Reads a few records of a topic to see in which partitions its keys are."""

import time
from collections.abc import Mapping
from typing import Final

from confluent_kafka import Consumer, TopicPartition

from moldau.pipeline.spark.clients import ClientSettings, shared
from moldau.pipeline.spark.partitioners import Sample

RECORDS_MAX: Final = 500
WAIT_S_MAX: Final = 3.0


def sample_keys(servers: str, settings: ClientSettings, counts: Mapping[str, int]) -> dict[str, Sample]:
    """`topics` maps each topic to its number of partitions. Topics with one partition need no sample."""
    wanted = {topic: count for topic, count in counts.items() if count > 1}
    if not wanted:
        return {}
    consumer = Consumer(
        {
            **shared(servers, settings),
            "group.id": "moldau-key-samples",
            "enable.auto.commit": "false",
            "enable.partition.eof": "true",
            "auto.offset.reset": "earliest",
            "fetch.message.max.bytes": "65536",
            "queued.min.messages": "1",
        }
    )
    try:
        return {topic: _sample(consumer, topic, count) for topic, count in wanted.items()}
    finally:
        consumer.close()


def _sample(consumer: Consumer, topic: str, count: int) -> Sample:
    consumer.assign([TopicPartition(topic, partition, 0) for partition in range(count)])
    keys: dict[bytes, int] = {}
    unread, seen = set(range(count)), 0
    deadline = time.monotonic() + WAIT_S_MAX
    while unread and seen < RECORDS_MAX and time.monotonic() < deadline:
        for message in consumer.consume(RECORDS_MAX // count + 1, 0.2):
            partition, key = message.partition(), message.key()
            if message.error() is not None:
                unread.discard(partition if partition is not None else -1)
                continue
            seen += 1
            if isinstance(key, bytes) and partition is not None:
                keys.setdefault(key, partition)
    return Sample(topic, count, keys)
