"""Consumer, share and streams groups, and committed offsets."""

from moldau.core.settings.checks import each_of, one_of
from moldau.core.settings.inert import NO_SHARE_GROUPS, NO_STREAMS_GROUPS, ONE_COORDINATOR, ONE_LOOP
from moldau.core.settings.key import INT_MAX, Importance, boolean, integer, long, short, string, strings
from moldau.core.settings.view import SettingsView

HIGH = Importance.HIGH


class GroupCoordinatorKeys(SettingsView):
    group_initial_rebalance_delay_ms = integer(
        "group.initial.rebalance.delay.ms",
        3000,
        "How long the first rebalance of an empty group waits for more members.",
    )
    group_min_session_timeout_ms = integer(
        "group.min.session.timeout.ms",
        6000,
        "Shortest session timeout a classic member may ask for.",
    )
    group_max_session_timeout_ms = integer(
        "group.max.session.timeout.ms",
        1_800_000,
        "Longest session timeout a classic member may ask for.",
    )
    group_max_size = integer("group.max.size", INT_MAX, "Most members of a classic group.", at_least=1)
    group_consumer_assignors = strings(
        "group.consumer.assignors",
        (
            "uniform",
            "range",
        ),
        "Server-side assignors of consumer groups (KIP-848); the first is the default.",
    )
    group_consumer_heartbeat_interval_ms = integer(
        "group.consumer.heartbeat.interval.ms",
        5000,
        "Heartbeat interval given to members of consumer groups.",
        at_least=1,
    )
    group_consumer_max_heartbeat_interval_ms = integer(
        "group.consumer.max.heartbeat.interval.ms",
        15_000,
        "Upper bound of a group's own heartbeat interval.",
        at_least=1,
    )
    group_consumer_min_heartbeat_interval_ms = integer(
        "group.consumer.min.heartbeat.interval.ms",
        5000,
        "Lower bound of a group's own heartbeat interval.",
        at_least=1,
    )
    group_consumer_session_timeout_ms = integer(
        "group.consumer.session.timeout.ms",
        45_000,
        "After this long without a heartbeat a member is removed.",
        at_least=1,
    )
    group_consumer_max_session_timeout_ms = integer(
        "group.consumer.max.session.timeout.ms",
        60_000,
        "Upper bound of a group's own session timeout.",
        at_least=1,
    )
    group_consumer_min_session_timeout_ms = integer(
        "group.consumer.min.session.timeout.ms",
        45_000,
        "Lower bound of a group's own session timeout.",
        at_least=1,
    )
    group_consumer_max_size = integer(
        "group.consumer.max.size", INT_MAX, "Most members of a consumer group.", at_least=1
    )
    group_consumer_migration_policy = string(
        "group.consumer.migration.policy",
        "bidirectional",
        "Whether groups may move between the classic and the consumer protocol.",
        check=one_of("DISABLED", "DOWNGRADE", "UPGRADE", "BIDIRECTIONAL", ignore_case=True),
    )
    group_consumer_regex_refresh_interval_ms = integer(
        "group.consumer.regex.refresh.interval.ms",
        600_000,
        "How often subscribed patterns are resolved again, in addition to each change of topics.",
        at_least=10_000,
        internal=True,
    )
    group_coordinator_append_linger_ms = integer(
        "group.coordinator.append.linger.ms",
        -1,
        "How long the coordinator collects writes; -1 lets it decide.",
        at_least=-1,
        inert=ONE_COORDINATOR,
    )
    group_coordinator_rebalance_protocols = strings(
        "group.coordinator.rebalance.protocols",
        (
            "classic",
            "consumer",
            "streams",
        ),
        "The group protocols on offer.",
        check=each_of("consumer", "classic", "share", "streams"),
        inert=ONE_COORDINATOR,
    )
    group_coordinator_threads = integer(
        "group.coordinator.threads",
        4,
        "Threads of the group coordinator.",
        at_least=1,
        importance=HIGH,
        inert=ONE_LOOP,
    )
    offset_metadata_max_bytes = integer(
        "offset.metadata.max.bytes",
        4096,
        "Longest text a client may attach to a committed offset.",
        importance=HIGH,
    )
    offsets_commit_timeout_ms = integer(
        "offsets.commit.timeout.ms",
        5000,
        "How long a commit waits for its replicas.",
        at_least=1,
        importance=HIGH,
        inert=ONE_COORDINATOR,
    )
    offsets_load_buffer_size = integer(
        "offsets.load.buffer.size",
        5 << 20,
        "Bytes read at a time when committed offsets are loaded.",
        at_least=1,
        importance=HIGH,
        inert=ONE_COORDINATOR,
    )
    offsets_retention_check_interval_ms = long(
        "offsets.retention.check.interval.ms",
        600_000,
        "How often expired offsets are dropped.",
        at_least=1,
        importance=HIGH,
    )
    offsets_retention_minutes = integer(
        "offsets.retention.minutes",
        10_080,
        "How long offsets of an empty group are kept.",
        at_least=1,
        importance=HIGH,
    )
    offsets_topic_compression_codec = integer(
        "offsets.topic.compression.codec",
        0,
        "Codec of `__consumer_offsets`, by number; 0 is none.",
        importance=HIGH,
        inert=ONE_COORDINATOR,
    )
    offsets_topic_num_partitions = integer(
        "offsets.topic.num.partitions",
        50,
        "Partitions of `__consumer_offsets`.",
        at_least=1,
        importance=HIGH,
    )
    offsets_topic_replication_factor = short(
        "offsets.topic.replication.factor",
        3,
        "Replicas of `__consumer_offsets`.",
        at_least=1,
        importance=HIGH,
        inert=ONE_COORDINATOR,
    )
    offsets_topic_segment_bytes = integer(
        "offsets.topic.segment.bytes",
        100 << 20,
        "Segment size of `__consumer_offsets`.",
        at_least=1,
        importance=HIGH,
    )
    group_share_enable = boolean(
        "group.share.enable", False, "Whether share groups are on.", inert=NO_SHARE_GROUPS, internal=True
    )
    group_share_assignors = strings(
        "group.share.assignors", ("simple",), "Server-side assignors of share groups.", inert=NO_SHARE_GROUPS
    )
    group_share_delivery_count_limit = integer(
        "group.share.delivery.count.limit",
        5,
        "How often a record is delivered before it is given up.",
        at_least=2,
        at_most=10,
        inert=NO_SHARE_GROUPS,
    )
    group_share_heartbeat_interval_ms = integer(
        "group.share.heartbeat.interval.ms",
        5000,
        "Heartbeat interval given to members of share groups.",
        at_least=1,
        inert=NO_SHARE_GROUPS,
    )
    group_share_max_heartbeat_interval_ms = integer(
        "group.share.max.heartbeat.interval.ms",
        15_000,
        "Upper bound of a group's own heartbeat interval.",
        at_least=1,
        inert=NO_SHARE_GROUPS,
    )
    group_share_min_heartbeat_interval_ms = integer(
        "group.share.min.heartbeat.interval.ms",
        5000,
        "Lower bound of a group's own heartbeat interval.",
        at_least=1,
        inert=NO_SHARE_GROUPS,
    )
    group_share_session_timeout_ms = integer(
        "group.share.session.timeout.ms",
        45_000,
        "After this long without a heartbeat a member is removed.",
        at_least=1,
        inert=NO_SHARE_GROUPS,
    )
    group_share_max_session_timeout_ms = integer(
        "group.share.max.session.timeout.ms",
        60_000,
        "Upper bound of a group's own session timeout.",
        at_least=1,
        inert=NO_SHARE_GROUPS,
    )
    group_share_min_session_timeout_ms = integer(
        "group.share.min.session.timeout.ms",
        45_000,
        "Lower bound of a group's own session timeout.",
        at_least=1,
        inert=NO_SHARE_GROUPS,
    )
    group_share_max_share_sessions = integer(
        "group.share.max.share.sessions",
        2000,
        "Most share sessions of a broker.",
        at_least=1,
        inert=NO_SHARE_GROUPS,
    )
    group_share_max_size = integer(
        "group.share.max.size",
        200,
        "Most members of a share group.",
        at_least=1,
        at_most=1000,
        inert=NO_SHARE_GROUPS,
    )
    group_share_record_lock_duration_ms = integer(
        "group.share.record.lock.duration.ms",
        30_000,
        "How long a delivered record stays locked.",
        at_least=1000,
        at_most=3_600_000,
        inert=NO_SHARE_GROUPS,
    )
    group_share_max_record_lock_duration_ms = integer(
        "group.share.max.record.lock.duration.ms",
        60_000,
        "Upper bound of a group's own lock duration.",
        at_least=30_000,
        at_most=3_600_000,
        inert=NO_SHARE_GROUPS,
    )
    group_share_min_record_lock_duration_ms = integer(
        "group.share.min.record.lock.duration.ms",
        15_000,
        "Lower bound of a group's own lock duration.",
        at_least=1000,
        at_most=30_000,
        inert=NO_SHARE_GROUPS,
    )
    group_share_partition_max_record_locks = integer(
        "group.share.partition.max.record.locks",
        2000,
        "Most locked records of a partition.",
        at_least=100,
        at_most=10_000,
        inert=NO_SHARE_GROUPS,
    )
    share_coordinator_append_linger_ms = integer(
        "share.coordinator.append.linger.ms",
        -1,
        "How long the share coordinator collects writes; -1 lets it decide.",
        at_least=-1,
        inert=NO_SHARE_GROUPS,
    )
    share_coordinator_load_buffer_size = integer(
        "share.coordinator.load.buffer.size",
        5 << 20,
        "Bytes read at a time when share state is loaded.",
        at_least=1,
        importance=HIGH,
        inert=NO_SHARE_GROUPS,
    )
    share_coordinator_snapshot_update_records_per_snapshot = integer(
        "share.coordinator.snapshot.update.records.per.snapshot",
        500,
        "Updates between two snapshots of share state.",
        at_least=0,
        inert=NO_SHARE_GROUPS,
    )
    share_coordinator_state_topic_compression_codec = integer(
        "share.coordinator.state.topic.compression.codec",
        0,
        "Codec of `__share_group_state`, by number.",
        importance=HIGH,
        inert=NO_SHARE_GROUPS,
    )
    share_coordinator_state_topic_min_isr = short(
        "share.coordinator.state.topic.min.isr",
        2,
        "`min.insync.replicas` of `__share_group_state`.",
        at_least=1,
        importance=HIGH,
        inert=NO_SHARE_GROUPS,
    )
    share_coordinator_state_topic_num_partitions = integer(
        "share.coordinator.state.topic.num.partitions",
        50,
        "Partitions of `__share_group_state`.",
        at_least=1,
        importance=HIGH,
        inert=NO_SHARE_GROUPS,
    )
    share_coordinator_state_topic_replication_factor = short(
        "share.coordinator.state.topic.replication.factor",
        3,
        "Replicas of `__share_group_state`.",
        at_least=1,
        importance=HIGH,
        inert=NO_SHARE_GROUPS,
    )
    share_coordinator_state_topic_segment_bytes = integer(
        "share.coordinator.state.topic.segment.bytes",
        100 << 20,
        "Segment size of `__share_group_state`.",
        at_least=1,
        importance=HIGH,
        inert=NO_SHARE_GROUPS,
    )
    share_coordinator_threads = integer(
        "share.coordinator.threads", 1, "Threads of the share coordinator.", at_least=1, inert=NO_SHARE_GROUPS
    )
    share_coordinator_write_timeout_ms = integer(
        "share.coordinator.write.timeout.ms",
        5000,
        "How long a write of share state waits for its replicas.",
        at_least=1,
        importance=HIGH,
        inert=NO_SHARE_GROUPS,
    )
    group_streams_heartbeat_interval_ms = integer(
        "group.streams.heartbeat.interval.ms",
        5000,
        "Heartbeat interval given to members of streams groups.",
        at_least=1,
        inert=NO_STREAMS_GROUPS,
    )
    group_streams_initial_rebalance_delay_ms = integer(
        "group.streams.initial.rebalance.delay.ms",
        3000,
        "How long the first rebalance of an empty streams group waits for more members.",
        at_least=0,
        inert=NO_STREAMS_GROUPS,
    )
    group_streams_max_heartbeat_interval_ms = integer(
        "group.streams.max.heartbeat.interval.ms",
        15_000,
        "Upper bound of a group's own heartbeat interval.",
        at_least=1,
        inert=NO_STREAMS_GROUPS,
    )
    group_streams_min_heartbeat_interval_ms = integer(
        "group.streams.min.heartbeat.interval.ms",
        5000,
        "Lower bound of a group's own heartbeat interval.",
        at_least=1,
        inert=NO_STREAMS_GROUPS,
    )
    group_streams_session_timeout_ms = integer(
        "group.streams.session.timeout.ms",
        45_000,
        "After this long without a heartbeat a member is removed.",
        at_least=1,
        inert=NO_STREAMS_GROUPS,
    )
    group_streams_max_session_timeout_ms = integer(
        "group.streams.max.session.timeout.ms",
        60_000,
        "Upper bound of a group's own session timeout.",
        at_least=1,
        inert=NO_STREAMS_GROUPS,
    )
    group_streams_min_session_timeout_ms = integer(
        "group.streams.min.session.timeout.ms",
        45_000,
        "Lower bound of a group's own session timeout.",
        at_least=1,
        inert=NO_STREAMS_GROUPS,
    )
    group_streams_max_size = integer(
        "group.streams.max.size",
        INT_MAX,
        "Most members of a streams group.",
        at_least=1,
        inert=NO_STREAMS_GROUPS,
    )
    group_streams_num_standby_replicas = integer(
        "group.streams.num.standby.replicas",
        0,
        "Standby tasks per stateful task.",
        at_least=0,
        inert=NO_STREAMS_GROUPS,
    )
    group_streams_max_standby_replicas = integer(
        "group.streams.max.standby.replicas",
        2,
        "Upper bound of a group's own number of standbys.",
        at_least=0,
        inert=NO_STREAMS_GROUPS,
    )
