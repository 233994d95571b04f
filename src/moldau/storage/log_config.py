"""The settings of one log, with Kafka's defaults. Plain data: the broker makes it from the topic's configuration."""

from dataclasses import dataclass
from typing import Final

INT64_MAX: Final = 2**63 - 1
WEEK_MS: Final = 7 * 24 * 60 * 60 * 1000
DAY_MS: Final = 24 * 60 * 60 * 1000
HOUR_MS: Final = 60 * 60 * 1000

PRODUCER_COMPRESSION: Final = "producer"


@dataclass(frozen=True, slots=True)
class LogConfig:
    segment_bytes: int = 1 << 30
    segment_ms: int = WEEK_MS
    segment_jitter_ms: int = 0
    segment_index_bytes: int = 10 << 20
    index_interval_bytes: int = 4096
    retention_ms: int = WEEK_MS
    retention_bytes: int = -1
    max_message_bytes: int = 1_048_588
    delete: bool = True
    compact: bool = False
    delete_retention_ms: int = DAY_MS
    min_compaction_lag_ms: int = 0
    max_compaction_lag_ms: int = INT64_MAX
    min_cleanable_dirty_ratio: float = 0.5
    compression_type: str = PRODUCER_COMPRESSION
    compression_gzip_level: int = -1
    compression_lz4_level: int = 9
    compression_zstd_level: int = 3
    log_append_time: bool = False
    message_timestamp_before_max_ms: int = INT64_MAX
    message_timestamp_after_max_ms: int = HOUR_MS
    flush_messages: int = INT64_MAX
    flush_ms: int = INT64_MAX
    file_delete_delay_ms: int = 60_000
    preallocate: bool = False
    """Accepted and ignored: preallocated files have zero-filled tails after a crash."""
    producer_id_expiration_ms: int = DAY_MS
    min_insync_replicas: int = 1
    """For the partition's leader, not for the log."""
    leader_throttled_replicas: tuple[str, ...] = ()
    follower_throttled_replicas: tuple[str, ...] = ()

    @property
    def roll_ms(self) -> int:
        """How old a segment may get. `max.compaction.lag.ms` also forces data out of the active segment."""
        if self.compact:
            return min(self.segment_ms, self.max_compaction_lag_ms)
        return self.segment_ms

    @property
    def keeps_batches_as_sent(self) -> bool:
        """Whether a batch can be stored without reading its records."""
        return (
            not self.compact
            and not self.log_append_time
            and self.compression_type == PRODUCER_COMPRESSION
            and self.message_timestamp_before_max_ms == INT64_MAX
        )
