"""Consumer groups and their offsets, asked for in ways that survive a broker's death.

librdkafka's own admin requests to a group's coordinator (DescribeConsumerGroups, ListConsumerGroupOffsets,
DeleteConsumerGroups) abort the whole process when the connection breaks at the wrong moment (librdkafka, pull request
5397). The older `list_groups` and a consumer's `committed` do not.
"""

import struct
import warnings
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient

ASK_S: Final = 10.0


class Member(NamedTuple):
    client_id: str
    topics: frozenset[str]
    """Of which partitions are assigned to it."""


def members_of(admin: AdminClient, group: str | None = None) -> dict[str, list[Member]]:
    """Of one group, or of all of them. Raises KafkaException where the brokers do not answer."""
    # Deprecated for the requests that abort the process. Said again each time: a test resets the filters.
    warnings.filterwarnings("ignore", r"list_groups\(\) is deprecated", DeprecationWarning)
    found = admin.list_groups(group, timeout=ASK_S) if group is not None else admin.list_groups(timeout=ASK_S)
    return {
        one.id or "": [
            Member(member.client_id or "", assigned_topics(member.assignment)) for member in one.members
        ]
        for one in found
    }


def committed(
    client: Mapping[str, str], group: str, places: Iterable[tuple[str, int]]
) -> dict[tuple[str, int], int]:
    """Raises KafkaException where the brokers do not answer."""
    consumer = Consumer({**client, "group.id": group, "enable.auto.commit": False})
    try:
        asked = [TopicPartition(topic, partition) for topic, partition in places]
        answered = consumer.committed(asked, timeout=ASK_S) if asked else []
    finally:
        consumer.close()
    return {(one.topic, one.partition): one.offset for one in answered if one.offset >= 0}


def assigned_topics(assignment: bytes | None) -> frozenset[str]:
    """The topics in a member's assignment, as Kafka's consumer protocol writes it. Empty for another protocol's."""
    data = assignment or b""
    found = set()
    try:
        (count,) = struct.unpack_from(">i", data, 2)
        offset = 6
        for _ in range(count):
            (size,) = struct.unpack_from(">h", data, offset)
            name = data[offset + 2 : offset + 2 + size].decode()
            (partitions,) = struct.unpack_from(">i", data, offset + 2 + size)
            offset += 6 + size + 4 * partitions
            if partitions:
                found.add(name)
    except (struct.error, UnicodeDecodeError):
        return frozenset()
    return frozenset(found)
