"""The topics that coordinators keep their state in. Created when first needed, with Kafka's names and
settings.
"""

from collections.abc import Sequence
from typing import Final

from moldau.broker.configs.config_store import ConfigStore
from moldau.broker.topics.catalog import TopicCatalog, TopicEntry
from moldau.broker.topics.topic_admin import TopicAdmin
from moldau.broker.topics.topic_rules import NewTopic
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError

OFFSETS_TOPIC: Final = "__consumer_offsets"
TRANSACTIONS_TOPIC: Final = "__transaction_state"
_HASH_BITS: Final = 0xFFFFFFFF


class InternalTopics:
    def __init__(
        self, catalog: TopicCatalog, configs: ConfigStore, topics: TopicAdmin, *, is_alone: bool = True
    ) -> None:
        self._catalog = catalog
        self._configs = configs
        self._topics = topics
        self._is_alone = is_alone

    async def ensure_offsets(self) -> TopicEntry:
        settings = self._configs.broker
        return await self._ensure(
            OFFSETS_TOPIC,
            settings.offsets_topic_num_partitions,
            settings.offsets_topic_replication_factor,
            [
                ("cleanup.policy", "compact"),
                ("compression.type", "producer"),
                ("segment.bytes", str(settings.offsets_topic_segment_bytes)),
            ],
        )

    async def ensure_transactions(self) -> TopicEntry:
        settings = self._configs.broker
        return await self._ensure(
            TRANSACTIONS_TOPIC,
            settings.transaction_state_log_num_partitions,
            settings.transaction_state_log_replication_factor,
            [
                ("cleanup.policy", "compact"),
                ("compression.type", "uncompressed"),
                ("unclean.leader.election.enable", "false"),
                ("segment.bytes", str(settings.transaction_state_log_segment_bytes)),
                *self._in_sync_min(settings.transaction_state_log_min_isr),
            ],
        )

    def _in_sync_min(self, count: int) -> list[tuple[str, str | None]]:
        return [] if self._is_alone else [("min.insync.replicas", str(count))]

    async def _ensure(
        self, name: str, partitions: int, replication_factor: int, configs: Sequence[tuple[str, str | None]]
    ) -> TopicEntry:
        """A standalone broker creates it with one replica, whatever the replication factor; Kafka would
        reject that."""
        found = self._catalog.find(name)
        if found is not None:
            return found
        factor = 1 if self._is_alone else replication_factor
        try:
            return await self._topics.create(NewTopic(name, partitions, factor, configs=configs))
        except ApiError as error:
            found = self._catalog.find(name)
            if error.code is not ErrorCode.TOPIC_ALREADY_EXISTS or found is None:
                raise
            return found


def java_hash(text: str) -> int:
    """Java's `String.hashCode`, made non-negative as Kafka does: it selects the partition for a key."""
    value = 0
    units = text.encode("utf-16-be", "surrogatepass")
    for high, low in zip(units[::2], units[1::2], strict=True):
        value = (31 * value + (high << 8 | low)) & _HASH_BITS
    return value & 0x7FFFFFFF
