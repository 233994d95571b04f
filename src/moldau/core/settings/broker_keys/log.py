"""Logs on disk: directories, size, retention, flushing, compaction."""

from moldau.core.settings.checks import GZIP_LEVEL, NO_LIMIT_OR_POSITIVE, each_of, one_of
from moldau.core.settings.inert import (
    KRAFT,
    NO_PREALLOCATION,
    NO_TIERS,
    ONE_CHECKPOINT,
    ONE_CLEANER,
    ONE_OPENER,
)
from moldau.core.settings.key import (
    DOUBLE_MAX,
    LONG_MAX,
    Importance,
    Scope,
    boolean,
    double,
    integer,
    long,
    string,
    strings,
)
from moldau.core.settings.view import SettingsView

CLUSTER = Scope.CLUSTER
HIGH = Importance.HIGH
LOW = Importance.LOW


class LogKeys(SettingsView):
    log_dirs = strings(
        "log.dirs",
        None,
        "The directories logs are kept in, comma separated. When not given, `log.dir` is used.",
        importance=HIGH,
    )
    log_dir = strings(
        "log.dir",
        ("/tmp/kafka-logs",),  # noqa: S108 Kafka's own default
        "The directory logs are kept in when `log.dirs` is not given.",
        importance=HIGH,
    )
    log_dir_failure_timeout_ms = long(
        "log.dir.failure.timeout.ms",
        30_000,
        "How long a broker may fail to report a broken directory before it stops.",
        at_least=1,
        importance=LOW,
        inert=KRAFT,
    )
    log_segment_bytes = integer(
        "log.segment.bytes",
        1 << 30,
        "Maximum size of a segment; the next one is started before it grows larger.",
        at_least=1 << 20,
        scope=CLUSTER,
        importance=HIGH,
    )
    log_segment_delete_delay_ms = long(
        "log.segment.delete.delay.ms",
        60_000,
        "How long a deleted segment's files stay on disk under the name `.deleted`.",
        at_least=0,
        scope=CLUSTER,
        importance=HIGH,
    )
    log_roll_ms = long(
        "log.roll.ms",
        None,
        "Longest time before a segment is closed even if not full. Overrides `log.roll.hours`.",
        at_least=1,
        scope=CLUSTER,
        importance=HIGH,
    )
    log_roll_hours = integer(
        "log.roll.hours",
        168,
        "Longest time before a segment is closed even if not full, in hours.",
        at_least=1,
        importance=HIGH,
    )
    log_roll_jitter_ms = long(
        "log.roll.jitter.ms",
        None,
        "A random amount up to this is subtracted from `log.roll.ms`, so that segments do not all close together.",
        at_least=0,
        scope=CLUSTER,
        importance=HIGH,
    )
    log_roll_jitter_hours = integer(
        "log.roll.jitter.hours",
        0,
        "A random amount up to this is subtracted from `log.roll.hours`.",
        at_least=0,
        importance=HIGH,
    )
    log_retention_ms = long(
        "log.retention.ms",
        None,
        "How long records are kept; -1 for no limit. Overrides `log.retention.minutes` and `.hours`.",
        check=NO_LIMIT_OR_POSITIVE,
        scope=CLUSTER,
        importance=HIGH,
    )
    log_retention_minutes = integer(
        "log.retention.minutes",
        None,
        "How long records are kept, in minutes. Overrides `log.retention.hours`.",
        check=NO_LIMIT_OR_POSITIVE,
        importance=HIGH,
    )
    log_retention_hours = integer(
        "log.retention.hours",
        168,
        "How long records are kept, in hours; -1 for no limit.",
        check=NO_LIMIT_OR_POSITIVE,
        importance=HIGH,
    )
    log_retention_bytes = long(
        "log.retention.bytes",
        -1,
        "How large each partition may grow before its oldest segments are deleted; -1 for no limit.",
        scope=CLUSTER,
        importance=HIGH,
    )
    log_retention_check_interval_ms = long(
        "log.retention.check.interval.ms",
        300_000,
        "How often retention looks for segments to delete.",
        at_least=1,
    )
    log_cleanup_policy = strings(
        "log.cleanup.policy",
        ("delete",),
        "What happens to old records: `delete` drops them by age and size, `compact` keeps the last of "
        "each key. Both may be given.",
        check=each_of("compact", "delete"),
        scope=CLUSTER,
    )
    log_index_interval_bytes = integer(
        "log.index.interval.bytes",
        4096,
        "About how many bytes of log lie between two index entries.",
        at_least=0,
        scope=CLUSTER,
    )
    log_index_size_max_bytes = integer(
        "log.index.size.max.bytes",
        10 << 20,
        "Largest size of an offset index. A full index closes its segment.",
        at_least=4,
        scope=CLUSTER,
    )
    log_flush_interval_messages = long(
        "log.flush.interval.messages",
        LONG_MAX,
        "The number of messages after which a partition is flushed to disk.",
        at_least=1,
        scope=CLUSTER,
        importance=HIGH,
    )
    log_flush_interval_ms = long(
        "log.flush.interval.ms",
        None,
        "How long a message may stay unflushed. When not given, `log.flush.scheduler.interval.ms` is used.",
        scope=CLUSTER,
        importance=HIGH,
    )
    log_flush_scheduler_interval_ms = long(
        "log.flush.scheduler.interval.ms",
        LONG_MAX,
        "How often partitions are checked for flushing.",
        importance=HIGH,
    )
    log_flush_offset_checkpoint_interval_ms = integer(
        "log.flush.offset.checkpoint.interval.ms",
        60_000,
        "How often the recovery points are written to disk.",
        at_least=0,
        importance=HIGH,
    )
    log_flush_start_offset_checkpoint_interval_ms = integer(
        "log.flush.start.offset.checkpoint.interval.ms",
        60_000,
        "How often the log start offsets are written to disk.",
        at_least=0,
        importance=HIGH,
        inert=ONE_CHECKPOINT,
    )
    log_initial_task_delay_ms = long(
        "log.initial.task.delay.ms",
        30_000,
        "How long background work on logs waits after the start.",
        at_least=0,
        importance=LOW,
        internal=True,
    )
    log_preallocate = boolean(
        "log.preallocate",
        False,
        "Whether new segment files are given their full size at once.",
        scope=CLUSTER,
        inert=NO_PREALLOCATION,
    )
    log_message_timestamp_type = string(
        "log.message.timestamp.type",
        "CreateTime",
        "Whether records carry their producer's time (`CreateTime`) or that of arrival (`LogAppendTime`).",
        check=one_of("CreateTime", "LogAppendTime"),
        scope=CLUSTER,
    )
    log_message_timestamp_before_max_ms = long(
        "log.message.timestamp.before.max.ms",
        LONG_MAX,
        "How far a record's time may lie in the past before it is rejected.",
        at_least=0,
        scope=CLUSTER,
    )
    log_message_timestamp_after_max_ms = long(
        "log.message.timestamp.after.max.ms",
        3_600_000,
        "How far a record's time may lie in the future before it is rejected.",
        at_least=0,
        scope=CLUSTER,
    )
    log_local_retention_bytes = long(
        "log.local.retention.bytes",
        -2,
        "Bytes of a tiered partition kept on local disk; -2 means as `log.retention.bytes`.",
        at_least=-2,
        scope=CLUSTER,
        inert=NO_TIERS,
    )
    log_local_retention_ms = long(
        "log.local.retention.ms",
        -2,
        "How long records of a tiered partition stay on local disk; -2 means as `log.retention.ms`.",
        at_least=-2,
        scope=CLUSTER,
        inert=NO_TIERS,
    )
    log_cleaner_enable = boolean("log.cleaner.enable", True, "Whether compaction is enabled.")
    log_cleaner_threads = integer(
        "log.cleaner.threads",
        1,
        "How many compactions may run at once.",
        at_least=0,
        scope=CLUSTER,
        inert=ONE_CLEANER,
    )
    log_cleaner_backoff_ms = long(
        "log.cleaner.backoff.ms",
        15_000,
        "How long the cleaner waits when there is nothing to clean.",
        at_least=0,
        scope=CLUSTER,
    )
    log_cleaner_dedupe_buffer_size = long(
        "log.cleaner.dedupe.buffer.size",
        128 << 20,
        "Memory for the table of keys, over all cleaner threads.",
        scope=CLUSTER,
    )
    log_cleaner_io_buffer_load_factor = double(
        "log.cleaner.io.buffer.load.factor",
        0.9,
        "How full the table of keys may become before a pass ends.",
        scope=CLUSTER,
    )
    log_cleaner_io_buffer_size = integer(
        "log.cleaner.io.buffer.size",
        512 << 10,
        "Bytes read and written at a time by the cleaner, over all threads.",
        at_least=0,
        scope=CLUSTER,
    )
    log_cleaner_io_max_bytes_per_second = double(
        "log.cleaner.io.max.bytes.per.second",
        DOUBLE_MAX,
        "Most bytes per second the cleaner reads and writes together.",
        scope=CLUSTER,
    )
    log_cleaner_delete_retention_ms = long(
        "log.cleaner.delete.retention.ms",
        84375 << 10,
        "How long a delete marker stays in a compacted topic.",
        at_least=0,
        scope=CLUSTER,
    )
    log_cleaner_max_compaction_lag_ms = long(
        "log.cleaner.max.compaction.lag.ms",
        LONG_MAX,
        "Longest time a record may stay uncompacted.",
        at_least=1,
        scope=CLUSTER,
    )
    log_cleaner_min_compaction_lag_ms = long(
        "log.cleaner.min.compaction.lag.ms",
        0,
        "Shortest time a record stays uncompacted.",
        at_least=0,
        scope=CLUSTER,
    )
    log_cleaner_min_cleanable_ratio = double(
        "log.cleaner.min.cleanable.ratio",
        0.5,
        "Share of a log that must be dirty before it is cleaned.",
        at_least=0,
        at_most=1,
        scope=CLUSTER,
    )
    num_recovery_threads_per_data_dir = integer(
        "num.recovery.threads.per.data.dir",
        2,
        "Threads per directory that open and recover logs at the start and flush them at the end.",
        at_least=1,
        scope=CLUSTER,
        importance=HIGH,
        inert=ONE_OPENER,
    )
    message_max_bytes = integer(
        "message.max.bytes",
        1_048_588,
        "The largest record batch accepted, after compression.",
        at_least=0,
        scope=CLUSTER,
        importance=HIGH,
    )
    compression_type = string(
        "compression.type",
        "producer",
        "How batches are stored: `producer` keeps the producer's codec; `uncompressed` or a codec converts.",
        check=one_of("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"),
        scope=CLUSTER,
        importance=HIGH,
    )
    compression_gzip_level = integer(
        "compression.gzip.level",
        -1,
        "Level when batches are recompressed with gzip; -1 is the library's default.",
        check=GZIP_LEVEL,
        scope=CLUSTER,
    )
    compression_lz4_level = integer(
        "compression.lz4.level",
        9,
        "Level when batches are recompressed with lz4.",
        at_least=1,
        at_most=17,
        scope=CLUSTER,
    )
    compression_zstd_level = integer(
        "compression.zstd.level",
        3,
        "Level when batches are recompressed with zstd.",
        at_least=-131_072,
        at_most=22,
        scope=CLUSTER,
    )
    producer_id_expiration_ms = integer(
        "producer.id.expiration.ms",
        84375 << 10,
        "How long an idle producer's sequence numbers are remembered.",
        at_least=1,
        scope=CLUSTER,
        importance=LOW,
    )
    producer_id_expiration_check_interval_ms = integer(
        "producer.id.expiration.check.interval.ms",
        600_000,
        "How often expired producers are dropped.",
        at_least=1,
        importance=LOW,
        internal=True,
    )
