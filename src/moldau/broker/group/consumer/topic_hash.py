"""The number by which a consumer group knows that the topics it reads have changed (KIP-1101).

Computed as Kafka does, so that a group that moves between the two is not rebalanced for nothing. Racks are left out:
no assignor here looks at them.
"""

from collections.abc import Mapping
from functools import lru_cache
from struct import pack
from typing import Final

from xxhash import xxh3_64_intdigest

from moldau.broker.group.consumer.topic_view import TopicInfo

_LAYOUT: Final = 0


def topics_hash(topics: Mapping[str, TopicInfo]) -> int:
    """Of the topics that exist; 0 for none."""
    if not topics:
        return 0
    return _hash(b"".join(pack("<q", _topic_hash(name, topics[name])) for name in sorted(topics)))


@lru_cache(maxsize=10_000)
def _topic_hash(name: str, topic: TopicInfo) -> int:
    characters = name.encode("utf-16-le")
    most, least = (int.from_bytes(half, "big") for half in (topic.topic_id[:8], topic.topic_id[8:]))
    count = topic.partition_count
    head = pack("<BQQ", _LAYOUT, most, least) + characters + pack("<ii", len(characters) // 2, count)
    return _hash(head + pack(f"<{count}i", *range(count)))


def _hash(data: bytes) -> int:
    """As a signed number, which is how Java has it."""
    digest = xxh3_64_intdigest(data)
    return digest - (1 << 64) if digest >> 63 else digest
