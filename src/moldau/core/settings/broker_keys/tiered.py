"""Tiered storage."""

from moldau.core.settings.checks import NON_EMPTY
from moldau.core.settings.inert import NO_TIERS
from moldau.core.settings.key import LONG_MAX, Importance, Scope, boolean, integer, long, string
from moldau.core.settings.view import SettingsView

CLUSTER = Scope.CLUSTER
LOW = Importance.LOW


class TieredStorageKeys(SettingsView):
    remote_log_storage_system_enable = boolean(
        "remote.log.storage.system.enable", False, "Whether tiered storage is on.", inert=NO_TIERS
    )
    remote_fetch_max_wait_ms = integer(
        "remote.fetch.max.wait.ms",
        500,
        "Longest wait for a remote read.",
        at_least=1,
        scope=CLUSTER,
        inert=NO_TIERS,
    )
    remote_list_offsets_request_timeout_ms = long(
        "remote.list.offsets.request.timeout.ms",
        30_000,
        "Longest wait for a remote offset lookup.",
        at_least=1,
        scope=CLUSTER,
        inert=NO_TIERS,
    )
    remote_log_index_file_cache_total_size_bytes = long(
        "remote.log.index.file.cache.total.size.bytes",
        1 << 30,
        "Disk space for cached remote indexes.",
        at_least=1,
        scope=CLUSTER,
        importance=LOW,
        inert=NO_TIERS,
    )
    remote_log_manager_copier_thread_pool_size = integer(
        "remote.log.manager.copier.thread.pool.size",
        10,
        "Threads that copy segments.",
        at_least=1,
        scope=CLUSTER,
        inert=NO_TIERS,
    )
    remote_log_manager_copy_max_bytes_per_second = long(
        "remote.log.manager.copy.max.bytes.per.second",
        LONG_MAX,
        "Most bytes per second copied to remote storage.",
        at_least=1,
        scope=CLUSTER,
        inert=NO_TIERS,
    )
    remote_log_manager_copy_quota_window_num = integer(
        "remote.log.manager.copy.quota.window.num",
        11,
        "Samples kept for the copy quota.",
        at_least=1,
        inert=NO_TIERS,
    )
    remote_log_manager_copy_quota_window_size_seconds = integer(
        "remote.log.manager.copy.quota.window.size.seconds",
        1,
        "Length of one sample for the copy quota.",
        at_least=1,
        inert=NO_TIERS,
    )
    remote_log_manager_expiration_thread_pool_size = integer(
        "remote.log.manager.expiration.thread.pool.size",
        10,
        "Threads that delete expired remote segments.",
        at_least=1,
        scope=CLUSTER,
        inert=NO_TIERS,
    )
    remote_log_manager_fetch_max_bytes_per_second = long(
        "remote.log.manager.fetch.max.bytes.per.second",
        LONG_MAX,
        "Most bytes per second read from remote storage.",
        at_least=1,
        scope=CLUSTER,
        inert=NO_TIERS,
    )
    remote_log_manager_fetch_quota_window_num = integer(
        "remote.log.manager.fetch.quota.window.num",
        11,
        "Samples kept for the read quota.",
        at_least=1,
        inert=NO_TIERS,
    )
    remote_log_manager_fetch_quota_window_size_seconds = integer(
        "remote.log.manager.fetch.quota.window.size.seconds",
        1,
        "Length of one sample for the read quota.",
        at_least=1,
        inert=NO_TIERS,
    )
    remote_log_manager_follower_thread_pool_size = integer(
        "remote.log.manager.follower.thread.pool.size",
        2,
        "Threads for followers of tiered partitions.",
        at_least=1,
        scope=CLUSTER,
        inert=NO_TIERS,
    )
    remote_log_manager_task_interval_ms = long(
        "remote.log.manager.task.interval.ms",
        30_000,
        "How often remote tasks run.",
        at_least=1,
        importance=LOW,
        inert=NO_TIERS,
    )
    remote_log_manager_thread_pool_size = integer(
        "remote.log.manager.thread.pool.size", 2, "Threads of the remote log.", at_least=1, inert=NO_TIERS
    )
    remote_log_metadata_custom_metadata_max_bytes = integer(
        "remote.log.metadata.custom.metadata.max.bytes",
        128,
        "Largest custom metadata of a remote segment.",
        at_least=0,
        importance=LOW,
        inert=NO_TIERS,
    )
    remote_log_metadata_manager_class_name = string(
        "remote.log.metadata.manager.class.name",
        "org.apache.kafka.server.log.remote.metadata.storage.TopicBasedRemoteLogMetadataManager",
        "Class that keeps remote metadata.",
        check=NON_EMPTY,
        inert=NO_TIERS,
    )
    remote_log_metadata_manager_class_path = string(
        "remote.log.metadata.manager.class.path", None, "Class path of that class.", inert=NO_TIERS
    )
    remote_log_metadata_manager_impl_prefix = string(
        "remote.log.metadata.manager.impl.prefix",
        "rlmm.config.",
        "Prefix of that class's settings.",
        check=NON_EMPTY,
        inert=NO_TIERS,
    )
    remote_log_metadata_manager_listener_name = string(
        "remote.log.metadata.manager.listener.name",
        None,
        "Listener that class connects to.",
        check=NON_EMPTY,
        inert=NO_TIERS,
    )
    remote_log_reader_max_pending_tasks = integer(
        "remote.log.reader.max.pending.tasks", 100, "Remote reads that may wait.", at_least=1, inert=NO_TIERS
    )
    remote_log_reader_threads = integer(
        "remote.log.reader.threads",
        10,
        "Threads that read remotely.",
        at_least=1,
        scope=CLUSTER,
        inert=NO_TIERS,
    )
    remote_log_storage_manager_class_name = string(
        "remote.log.storage.manager.class.name",
        None,
        "Class that stores remote segments.",
        check=NON_EMPTY,
        inert=NO_TIERS,
    )
    remote_log_storage_manager_class_path = string(
        "remote.log.storage.manager.class.path", None, "Class path of that class.", inert=NO_TIERS
    )
    remote_log_storage_manager_impl_prefix = string(
        "remote.log.storage.manager.impl.prefix",
        "rsm.config.",
        "Prefix of that class's settings.",
        check=NON_EMPTY,
        inert=NO_TIERS,
    )
