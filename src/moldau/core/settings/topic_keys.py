"""The keys of a topic. A key that is not set for the topic takes the value of a broker key, its fallback."""

from typing import Final

from moldau.core.settings.checks import GZIP_LEVEL, THROTTLED_REPLICAS, each_of, one_of
from moldau.core.settings.inert import NO_PREALLOCATION, NO_TIERS
from moldau.core.settings.key import (
    LONG_MAX,
    Fallback,
    Scope,
    boolean,
    double,
    integer,
    long,
    string,
    strings,
)
from moldau.core.settings.view import SettingsView

TOPIC = Scope.TOPIC
MINUTE_MS: Final = 60_000
HOUR_MS: Final = 3_600_000
WEEK_MS: Final = 7 * 24 * HOUR_MS
SEGMENT_BYTES_MIN: Final = 1 << 20
COMPRESSION_TYPES: Final = ("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer")


def _from(*names: str) -> tuple[Fallback, ...]:
    return tuple(Fallback(name) for name in names)


class TopicSettings(SettingsView):
    """The settings of one topic, as they are in force at one moment."""

    KIND = "topic"

    cleanup_policy = strings(
        "cleanup.policy",
        ("delete",),
        "What happens to old records: `delete` drops them by age and size, `compact` keeps the last of each "
        "key. Both may be given.",
        check=each_of("compact", "delete"),
        scope=TOPIC,
        fallbacks=_from("log.cleanup.policy"),
    )
    retention_ms = long(
        "retention.ms",
        WEEK_MS,
        "How long records are kept under the policy `delete`; -1 for no limit.",
        at_least=-1,
        scope=TOPIC,
        fallbacks=(
            Fallback("log.retention.ms"),
            Fallback("log.retention.minutes", MINUTE_MS),
            Fallback("log.retention.hours", HOUR_MS),
        ),
    )
    retention_bytes = long(
        "retention.bytes",
        -1,
        "How large each partition may grow under the policy `delete`; -1 for no limit.",
        scope=TOPIC,
        fallbacks=_from("log.retention.bytes"),
    )
    segment_bytes = integer(
        "segment.bytes",
        1 << 30,
        "Maximum size of a segment; the next one is started before it grows larger.",
        at_least=SEGMENT_BYTES_MIN,
        scope=TOPIC,
        fallbacks=_from("log.segment.bytes"),
    )
    internal_segment_bytes = integer(
        "internal.segment.bytes",
        None,
        "As `segment.bytes`, without its lower bound. For tests.",
        at_least=1,
        scope=TOPIC,
        internal=True,
    )
    segment_ms = long(
        "segment.ms",
        WEEK_MS,
        "Longest time before a segment is closed even if not full.",
        at_least=1,
        scope=TOPIC,
        fallbacks=(Fallback("log.roll.ms"), Fallback("log.roll.hours", HOUR_MS)),
    )
    segment_jitter_ms = long(
        "segment.jitter.ms",
        0,
        "A random amount up to this is subtracted from `segment.ms`, so that segments do not all close together.",
        at_least=0,
        scope=TOPIC,
        fallbacks=(Fallback("log.roll.jitter.ms"), Fallback("log.roll.jitter.hours", HOUR_MS)),
    )
    segment_index_bytes = integer(
        "segment.index.bytes",
        10 << 20,
        "Largest size of an offset index. A full index closes its segment.",
        at_least=4,
        scope=TOPIC,
        fallbacks=_from("log.index.size.max.bytes"),
    )
    index_interval_bytes = integer(
        "index.interval.bytes",
        4096,
        "About how many bytes of log lie between two index entries.",
        at_least=0,
        scope=TOPIC,
        fallbacks=_from("log.index.interval.bytes"),
    )
    file_delete_delay_ms = long(
        "file.delete.delay.ms",
        MINUTE_MS,
        "How long a deleted segment's files stay on disk under the name `.deleted`.",
        at_least=0,
        scope=TOPIC,
        fallbacks=_from("log.segment.delete.delay.ms"),
    )
    flush_messages = long(
        "flush.messages",
        LONG_MAX,
        "The number of messages after which a partition is flushed to disk. With 1 an acknowledged record "
        "is on disk.",
        at_least=1,
        scope=TOPIC,
        fallbacks=_from("log.flush.interval.messages"),
    )
    flush_ms = long(
        "flush.ms",
        LONG_MAX,
        "How long a message may stay unflushed.",
        at_least=0,
        scope=TOPIC,
        fallbacks=_from("log.flush.interval.ms", "log.flush.scheduler.interval.ms"),
    )
    preallocate = boolean(
        "preallocate",
        False,
        "Whether new segment files are given their full size at once.",
        scope=TOPIC,
        fallbacks=_from("log.preallocate"),
        inert=NO_PREALLOCATION,
    )
    max_message_bytes = integer(
        "max.message.bytes",
        1_048_588,
        "The largest record batch accepted, after compression.",
        at_least=0,
        scope=TOPIC,
        fallbacks=_from("message.max.bytes"),
    )
    min_insync_replicas = integer(
        "min.insync.replicas",
        1,
        "How many replicas must have a record before `acks=all` is answered.",
        at_least=1,
        scope=TOPIC,
        fallbacks=_from("min.insync.replicas"),
    )
    unclean_leader_election_enable = boolean(
        "unclean.leader.election.enable",
        False,
        "Whether a replica that is behind may become leader when no other is left, losing records.",
        scope=TOPIC,
        fallbacks=_from("unclean.leader.election.enable"),
    )
    message_timestamp_type = string(
        "message.timestamp.type",
        "CreateTime",
        "Whether records carry their producer's time (`CreateTime`) or that of arrival (`LogAppendTime`).",
        check=one_of("CreateTime", "LogAppendTime"),
        scope=TOPIC,
        fallbacks=_from("log.message.timestamp.type"),
    )
    message_timestamp_before_max_ms = long(
        "message.timestamp.before.max.ms",
        LONG_MAX,
        "How far a record's time may lie in the past before it is rejected.",
        at_least=0,
        scope=TOPIC,
        fallbacks=_from("log.message.timestamp.before.max.ms"),
    )
    message_timestamp_after_max_ms = long(
        "message.timestamp.after.max.ms",
        HOUR_MS,
        "How far a record's time may lie in the future before it is rejected.",
        at_least=0,
        scope=TOPIC,
        fallbacks=_from("log.message.timestamp.after.max.ms"),
    )
    compression_type = string(
        "compression.type",
        "producer",
        "How batches are stored: `producer` keeps the producer's codec; `uncompressed` or a codec converts.",
        check=one_of(*COMPRESSION_TYPES),
        scope=TOPIC,
        fallbacks=_from("compression.type"),
    )
    compression_gzip_level = integer(
        "compression.gzip.level",
        -1,
        "Level when batches are recompressed with gzip; -1 is the library's default.",
        check=GZIP_LEVEL,
        scope=TOPIC,
        fallbacks=_from("compression.gzip.level"),
    )
    compression_lz4_level = integer(
        "compression.lz4.level",
        9,
        "Level when batches are recompressed with lz4.",
        at_least=1,
        at_most=17,
        scope=TOPIC,
        fallbacks=_from("compression.lz4.level"),
    )
    compression_zstd_level = integer(
        "compression.zstd.level",
        3,
        "Level when batches are recompressed with zstd.",
        at_least=-131_072,
        at_most=22,
        scope=TOPIC,
        fallbacks=_from("compression.zstd.level"),
    )
    delete_retention_ms = long(
        "delete.retention.ms",
        24 * HOUR_MS,
        "How long a delete marker stays in a compacted topic.",
        at_least=0,
        scope=TOPIC,
        fallbacks=_from("log.cleaner.delete.retention.ms"),
    )
    min_compaction_lag_ms = long(
        "min.compaction.lag.ms",
        0,
        "Shortest time a record stays uncompacted.",
        at_least=0,
        scope=TOPIC,
        fallbacks=_from("log.cleaner.min.compaction.lag.ms"),
    )
    max_compaction_lag_ms = long(
        "max.compaction.lag.ms",
        LONG_MAX,
        "Longest time a record may stay uncompacted.",
        at_least=1,
        scope=TOPIC,
        fallbacks=_from("log.cleaner.max.compaction.lag.ms"),
    )
    min_cleanable_dirty_ratio = double(
        "min.cleanable.dirty.ratio",
        0.5,
        "Share of a log that must be dirty before it is compacted.",
        at_least=0,
        at_most=1,
        scope=TOPIC,
        fallbacks=_from("log.cleaner.min.cleanable.ratio"),
    )
    leader_replication_throttled_replicas = strings(
        "leader.replication.throttled.replicas",
        (),
        "Replicas whose traffic is throttled at the leader.",
        check=THROTTLED_REPLICAS,
        scope=TOPIC,
    )
    follower_replication_throttled_replicas = strings(
        "follower.replication.throttled.replicas",
        (),
        "Replicas whose traffic is throttled at the follower.",
        check=THROTTLED_REPLICAS,
        scope=TOPIC,
    )
    remote_storage_enable = boolean(
        "remote.storage.enable",
        False,
        "Whether the topic is tiered.",
        scope=TOPIC,
        inert=NO_TIERS,
    )
    remote_log_copy_disable = boolean(
        "remote.log.copy.disable",
        False,
        "Whether a tiered topic stops copying segments.",
        scope=TOPIC,
        inert=NO_TIERS,
    )
    remote_log_delete_on_disable = boolean(
        "remote.log.delete.on.disable",
        False,
        "Whether remote segments are deleted when a topic stops being tiered.",
        scope=TOPIC,
        inert=NO_TIERS,
    )
    local_retention_ms = long(
        "local.retention.ms",
        -2,
        "How long records of a tiered topic stay on local disk; -2 means as `retention.ms`.",
        at_least=-2,
        scope=TOPIC,
        fallbacks=_from("log.local.retention.ms"),
        inert=NO_TIERS,
    )
    local_retention_bytes = long(
        "local.retention.bytes",
        -2,
        "Bytes of a tiered partition kept on local disk; -2 means as `retention.bytes`.",
        at_least=-2,
        scope=TOPIC,
        fallbacks=_from("log.local.retention.bytes"),
        inert=NO_TIERS,
    )

    @property
    def compact(self) -> bool:
        return "compact" in self.cleanup_policy

    @property
    def delete(self) -> bool:
        return "delete" in self.cleanup_policy

    @property
    def roll_bytes(self) -> int:
        return self.internal_segment_bytes or self.segment_bytes
