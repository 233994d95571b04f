"""The hash by which a consumer group detects that its topics have changed (KIP-1101).

Computed as in Kafka, so that a group that moves between the two does not rebalance needlessly. Racks are left
out: no assignor here uses them.
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
    """As a signed number, as in Java."""
    digest = xxh3_64_intdigest(data)
    return digest - (1 << 64) if digest >> 63 else digest
