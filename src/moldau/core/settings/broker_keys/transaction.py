"""Transactions."""

from moldau.core.settings.inert import ONE_COORDINATOR
from moldau.core.settings.key import Importance, Scope, boolean, integer, short
from moldau.core.settings.view import SettingsView

CLUSTER = Scope.CLUSTER
HIGH = Importance.HIGH
LOW = Importance.LOW


class TransactionKeys(SettingsView):
    transaction_max_timeout_ms = integer(
        "transaction.max.timeout.ms",
        900_000,
        "Longest transaction timeout a producer may ask for.",
        at_least=1,
        importance=HIGH,
    )
    transactional_id_expiration_ms = integer(
        "transactional.id.expiration.ms",
        590625 << 10,
        "How long an idle transactional id is remembered.",
        at_least=1,
        importance=HIGH,
    )
    transaction_abort_timed_out_transaction_cleanup_interval_ms = integer(
        "transaction.abort.timed.out.transaction.cleanup.interval.ms",
        10_000,
        "How often transactions past their timeout are found and aborted.",
        at_least=1,
        importance=LOW,
        inert=ONE_COORDINATOR,
    )
    transaction_remove_expired_transaction_cleanup_interval_ms = integer(
        "transaction.remove.expired.transaction.cleanup.interval.ms",
        3_600_000,
        "How often expired transactional ids are dropped.",
        at_least=1,
        importance=LOW,
    )
    transaction_partition_verification_enable = boolean(
        "transaction.partition.verification.enable",
        True,
        "Whether a transactional write is checked against the coordinator (KIP-890).",
        scope=CLUSTER,
        importance=LOW,
        inert=ONE_COORDINATOR,
    )
    transaction_two_phase_commit_enable = boolean(
        "transaction.two.phase.commit.enable",
        False,
        "Whether transactions without a timeout are allowed (KIP-939).",
        importance=LOW,
        inert=ONE_COORDINATOR,
    )
    transaction_state_log_load_buffer_size = integer(
        "transaction.state.log.load.buffer.size",
        5 << 20,
        "Bytes read at a time when transaction state is loaded.",
        at_least=1,
        importance=HIGH,
        inert=ONE_COORDINATOR,
    )
    transaction_state_log_min_isr = integer(
        "transaction.state.log.min.isr",
        2,
        "`min.insync.replicas` of `__transaction_state`.",
        at_least=1,
        importance=HIGH,
        inert=ONE_COORDINATOR,
    )
    transaction_state_log_num_partitions = integer(
        "transaction.state.log.num.partitions",
        50,
        "Partitions of `__transaction_state`.",
        at_least=1,
        importance=HIGH,
    )
    transaction_state_log_replication_factor = short(
        "transaction.state.log.replication.factor",
        3,
        "Replicas of `__transaction_state`.",
        at_least=1,
        importance=HIGH,
        inert=ONE_COORDINATOR,
    )
    transaction_state_log_segment_bytes = integer(
        "transaction.state.log.segment.bytes",
        100 << 20,
        "Segment size of `__transaction_state`.",
        at_least=1,
        importance=HIGH,
    )
    add_partitions_to_txn_retry_backoff_max_ms = integer(
        "add.partitions.to.txn.retry.backoff.max.ms",
        100,
        "Longest wait before adding a partition to a transaction is retried.",
        at_least=0,
        importance=HIGH,
        inert=ONE_COORDINATOR,
    )
    add_partitions_to_txn_retry_backoff_ms = integer(
        "add.partitions.to.txn.retry.backoff.ms",
        20,
        "First wait before adding a partition to a transaction is retried.",
        at_least=1,
        importance=HIGH,
        inert=ONE_COORDINATOR,
    )
