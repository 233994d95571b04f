"""Derives the configuration of a log from the settings of its topic and its broker."""

from moldau.core.settings.broker_keys import BrokerSettings
from moldau.core.settings.topic_keys import TopicSettings
from moldau.storage.log_config import LogConfig


def log_config_of(topic: TopicSettings, broker: BrokerSettings) -> LogConfig:
    return LogConfig(
        segment_bytes=topic.roll_bytes,
        segment_ms=topic.segment_ms,
        segment_jitter_ms=topic.segment_jitter_ms,
        segment_index_bytes=topic.segment_index_bytes,
        index_interval_bytes=topic.index_interval_bytes,
        retention_ms=topic.retention_ms,
        retention_bytes=topic.retention_bytes,
        max_message_bytes=topic.max_message_bytes,
        delete=topic.delete,
        compact=topic.compact,
        delete_retention_ms=topic.delete_retention_ms,
        min_compaction_lag_ms=topic.min_compaction_lag_ms,
        max_compaction_lag_ms=topic.max_compaction_lag_ms,
        min_cleanable_dirty_ratio=topic.min_cleanable_dirty_ratio,
        compression_type=topic.compression_type,
        compression_gzip_level=topic.compression_gzip_level,
        compression_lz4_level=topic.compression_lz4_level,
        compression_zstd_level=topic.compression_zstd_level,
        log_append_time=topic.message_timestamp_type == "LogAppendTime",
        message_timestamp_before_max_ms=topic.message_timestamp_before_max_ms,
        message_timestamp_after_max_ms=topic.message_timestamp_after_max_ms,
        flush_messages=topic.flush_messages,
        flush_ms=topic.flush_ms,
        file_delete_delay_ms=topic.file_delete_delay_ms,
        preallocate=topic.preallocate,
        producer_id_expiration_ms=broker.producer_id_expiration_ms,
        min_insync_replicas=topic.min_insync_replicas,
        leader_throttled_replicas=topic.leader_replication_throttled_replicas,
        follower_throttled_replicas=topic.follower_replication_throttled_replicas,
    )
