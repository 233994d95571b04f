"""Offsets of partitions: earliest, latest, by timestamp or by greatest timestamp."""

from collections.abc import Iterable
from typing import NamedTuple

import confluent_kafka
from confluent_kafka import IsolationLevel
from confluent_kafka.admin import OffsetSpec

from moldau.cli.client.connection import Cluster
from moldau.core.ids import TopicPartition

UNCOMMITTED = IsolationLevel.READ_UNCOMMITTED
COMMITTED = IsolationLevel.READ_COMMITTED


class FoundOffset(NamedTuple):
    """Offset -1: no such record. Timestamp -1: not a query by time."""

    offset: int
    timestamp_ms: int
    leader_epoch: int | None


def find_offsets(
    cluster: Cluster,
    places: Iterable[TopicPartition],
    spec: OffsetSpec,
    isolation: IsolationLevel = UNCOMMITTED,
) -> dict[TopicPartition, FoundOffset]:
    """With COMMITTED, the latest offset is the last stable offset, where the first open transaction begins."""
    wanted = {confluent_kafka.TopicPartition(*place): spec for place in places}
    if not wanted:
        return {}
    futures = cluster.admin.list_offsets(wanted, isolation_level=isolation, request_timeout=cluster.timeout_s)
    found = {}
    for place, future in futures.items():
        answer = cluster.wait(future, f"list the offsets of '{place.topic}' partition {place.partition}")
        found[TopicPartition(place.topic, place.partition)] = FoundOffset(
            answer.offset, answer.timestamp, answer.leader_epoch
        )
    return found


def topic_offsets(
    cluster: Cluster,
    topic: str,
    partitions: Iterable[int],
    spec: OffsetSpec,
    isolation: IsolationLevel = UNCOMMITTED,
) -> dict[int, int]:
    places = [TopicPartition(topic, partition) for partition in partitions]
    found = find_offsets(cluster, places, spec, isolation)
    return {place.partition: answer.offset for place, answer in found.items()}
