"""Replicas of a partition and their leader."""

from moldau.core.settings.inert import NO_FOLLOWERS, NO_MOVES, ONE_CHECKPOINT
from moldau.core.settings.key import Importance, Scope, boolean, integer, long, string
from moldau.core.settings.view import SettingsView

CLUSTER = Scope.CLUSTER
HIGH = Importance.HIGH
LOW = Importance.LOW


class ReplicationKeys(SettingsView):
    min_insync_replicas = integer(
        "min.insync.replicas",
        1,
        "How many replicas must have a record before `acks=all` is answered. With fewer in sync, such a "
        "produce is refused.",
        at_least=1,
        scope=CLUSTER,
        importance=HIGH,
    )
    unclean_leader_election_enable = boolean(
        "unclean.leader.election.enable",
        False,
        "Whether a replica that is behind may become leader when no other is left, losing records.",
        scope=CLUSTER,
        importance=HIGH,
    )
    unclean_leader_election_interval_ms = long(
        "unclean.leader.election.interval.ms",
        300_000,
        "How often partitions without a leader are checked for an unclean election.",
        at_least=1,
        inert=NO_FOLLOWERS,
        internal=True,
    )
    auto_leader_rebalance_enable = boolean(
        "auto.leader.rebalance.enable",
        True,
        "Whether preferred replicas are elected leader automatically.",
        importance=HIGH,
    )
    leader_imbalance_check_interval_seconds = long(
        "leader.imbalance.check.interval.seconds",
        300,
        "How often the balance of leaders is checked.",
        at_least=1,
        importance=HIGH,
    )
    controlled_shutdown_enable = boolean(
        "controlled.shutdown.enable",
        True,
        "Whether a broker hands over its leaderships before it stops.",
    )
    num_replica_fetchers = integer(
        "num.replica.fetchers",
        1,
        "Fetchers per source broker.",
        at_least=1,
        scope=CLUSTER,
        importance=HIGH,
        inert=NO_FOLLOWERS,
    )
    num_replica_alter_log_dirs_threads = integer(
        "num.replica.alter.log.dirs.threads",
        None,
        "Threads that move replicas between log directories.",
        importance=HIGH,
        inert=NO_MOVES,
    )
    replica_fetch_backoff_ms = integer(
        "replica.fetch.backoff.ms",
        1000,
        "Wait after a failed fetch of a partition.",
        at_least=0,
    )
    replica_fetch_max_bytes = integer(
        "replica.fetch.max.bytes",
        1 << 20,
        "Bytes asked for per partition.",
        at_least=0,
    )
    replica_fetch_min_bytes = integer(
        "replica.fetch.min.bytes",
        1,
        "Minimum bytes in the response to a follower; with fewer the leader waits.",
        importance=HIGH,
    )
    replica_fetch_response_max_bytes = integer(
        "replica.fetch.response.max.bytes",
        10 << 20,
        "Bytes asked for per fetch.",
        at_least=0,
    )
    replica_fetch_wait_max_ms = integer(
        "replica.fetch.wait.max.ms",
        500,
        "Longest wait of a follower's fetch.",
        importance=HIGH,
    )
    replica_high_watermark_checkpoint_interval_ms = long(
        "replica.high.watermark.checkpoint.interval.ms",
        5000,
        "How often high watermarks are written to disk.",
        importance=HIGH,
        inert=ONE_CHECKPOINT,
    )
    replica_lag_time_max_ms = long(
        "replica.lag.time.max.ms",
        30_000,
        "A follower that has not caught up for this long leaves the in-sync replicas.",
        importance=HIGH,
    )
    replica_selector_class = string(
        "replica.selector.class",
        None,
        "How the replica a consumer reads from is chosen (KIP-392).",
    )
    replica_socket_receive_buffer_bytes = integer(
        "replica.socket.receive.buffer.bytes",
        64 << 10,
        "Receive buffer of connections to other brokers.",
        importance=HIGH,
        inert=NO_FOLLOWERS,
    )
    replica_socket_timeout_ms = integer(
        "replica.socket.timeout.ms",
        30_000,
        "Socket timeout of connections to other brokers.",
        importance=HIGH,
    )
    replication_quota_window_num = integer(
        "replication.quota.window.num",
        11,
        "Samples kept for the replication quota.",
        at_least=1,
        importance=LOW,
    )
    replication_quota_window_size_seconds = integer(
        "replication.quota.window.size.seconds",
        1,
        "Length of one sample for the replication quota.",
        at_least=1,
        importance=LOW,
    )
    alter_log_dirs_replication_quota_window_num = integer(
        "alter.log.dirs.replication.quota.window.num",
        11,
        "Samples kept for the quota on moves between log directories.",
        at_least=1,
        importance=LOW,
        inert=NO_MOVES,
    )
    alter_log_dirs_replication_quota_window_size_seconds = integer(
        "alter.log.dirs.replication.quota.window.size.seconds",
        1,
        "Length of one such sample.",
        at_least=1,
        importance=LOW,
        inert=NO_MOVES,
    )
