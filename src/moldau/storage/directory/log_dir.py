"""One directory of `log.dirs`: the logs in it, its checkpoints, its lock and its identity.

Owns which logs exist and whether the directory is usable. Does not choose where a log goes.
"""

import logging
import threading
from collections.abc import Callable, Mapping
from os.path import dirname
from typing import Final

from moldau.core.errors import ConfigError
from moldau.core.ids import TopicId, TopicPartition
from moldau.storage.checkpoints import CheckpointError, offsets_text, parse_offsets
from moldau.storage.directory.meta_properties import MetaProperties, check_properties, parse_properties
from moldau.storage.disk import DirectoryHealth, Disk
from moldau.storage.log.partition_log import PartitionLog
from moldau.storage.log.recovery import LastKnown, LogLoader, create_log
from moldau.storage.log_config import LogConfig
from moldau.storage.names import (
    CLEAN_SHUTDOWN,
    HIGH_WATERMARKS,
    LOCK,
    META_PROPERTIES,
    METADATA_TOPIC,
    RECOVERY_POINTS,
    START_OFFSETS,
    deletion_directory,
    is_marked_for_deletion,
    parse_partition_directory,
    stray_directory,
)
from moldau.storage.os_files import open_files_share
from moldau.storage.residency import Residency
from moldau.storage.segments.segment import Shared

LOADED_INDEX_BYTES_MAX: Final = 64 << 20
LOGS_FSYNCED_ONE_BY_ONE: Final = 20
LOGS_PER_SYNC: Final = 500
"""How many logs are closed together. Each may hold several open files until then."""

_log: Final = logging.getLogger("moldau.log_dir")


class DeleteJob:
    """Removes the directory of a deleted log, which was renamed before. For a worker thread."""

    def __init__(self, disk: Disk, path: str) -> None:
        self._disk = disk
        self.path = path

    def run(self) -> None:
        self._disk.remove_tree(self.path)


class CheckpointTurns:
    """Orders the checkpoint jobs of one directory, which may run on several threads: one runs at a time, and an older
    one never overwrites what a newer one has written."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.begun = 0
        self.written = 0


class CheckpointJob:
    """Replaces checkpoint files. For a worker thread."""

    def __init__(
        self, disk: Disk, health: DirectoryHealth, files: Mapping[str, bytes], turns: CheckpointTurns
    ) -> None:
        self._disk = disk
        self._health = health
        self._files = files
        self._turns = turns
        turns.begun += 1
        self._number = turns.begun

    def run(self) -> None:
        with self._turns.lock, self._health.guard("Writing checkpoints"):
            if self._number < self._turns.written:
                return
            for name, data in self._files.items():
                self._disk.write_atomically(f"{self._health.directory}/{name}", data)
            self._turns.written = self._number


class LogDirectory:
    def __init__(self, disk: Disk, path: str, identity: MetaProperties, lock: object, shared: Shared) -> None:
        self.path = path
        self.cluster_id = identity.cluster_id
        self.directory_id = identity.directory_id
        self.logs: dict[TopicPartition, PartitionLog] = {}
        self.was_clean = False
        self.health = DirectoryHealth(path)
        self._checkpoint_turns = CheckpointTurns()
        self._disk = disk
        self._lock: object | None = lock
        self._shared = shared

    @classmethod
    def open(
        cls,
        disk: Disk,
        path: str,
        *,
        cluster_id: str | None,
        node_id: int,
        config_for: Callable[[str], LogConfig],
        now_ms: int,
        open_files_max: int | None = None,
        loaded_index_bytes_max: int = LOADED_INDEX_BYTES_MAX,
    ) -> "LogDirectory":
        """Locks the directory, creating it if needed, and opens every log in it. Raises ConfigError when it belongs
        to another broker, StorageFault when it cannot be used."""
        path = path.rstrip("/") or "/"
        shared = Shared(
            disk, Residency(open_files_max or open_files_share()), Residency(loaded_index_bytes_max)
        )
        with DirectoryHealth(path).guard("Opening the directory"):
            _make_durable_directory(disk, path)
            try:
                lock = disk.lock(f"{path}/{LOCK}")
            except BlockingIOError:
                raise ConfigError(
                    f"log directory {path} is in use by another broker: stop that one, or give each its own log.dirs"
                ) from None
            identity = _identify(disk, path, cluster_id, node_id)
        directory = cls(disk, path, identity, lock, shared)
        with directory.health.guard("Loading logs"):
            directory._load(config_for, now_ms)
        return directory

    def _load(self, config_for: Callable[[str], LogConfig], now_ms: int) -> None:
        mark = f"{self.path}/{CLEAN_SHUTDOWN}"
        self.was_clean = self._disk.exists(mark)
        if self.was_clean:
            # Removed before anything changes: a crash while loading must not look like a clean stop.
            self._disk.remove(mark)
            self._disk.sync_directory(self.path)
        recovery_points = self.read_offsets(RECOVERY_POINTS)
        start_offsets = self.read_offsets(START_OFFSETS)
        high_watermarks = self.read_offsets(HIGH_WATERMARKS)
        files = {name for name, _ in self._disk.entries(self.path)}
        for name in sorted(self._disk.list(self.path)):
            if name in files:
                continue
            if is_marked_for_deletion(name):
                self._disk.remove_tree(f"{self.path}/{name}")
                continue
            topic_partition = parse_partition_directory(name)
            if topic_partition is None or topic_partition.topic == METADATA_TOPIC:
                continue
            known = LastKnown(
                start_offsets.get(topic_partition, 0),
                recovery_points.get(topic_partition, 0),
                high_watermarks.get(topic_partition, 0),
                self.was_clean,
            )
            config = config_for(topic_partition.topic)
            loader = LogLoader(
                self._shared, self.health, f"{self.path}/{name}", topic_partition, config, known, now_ms
            )
            self.logs[topic_partition] = loader.load()
        if any(log.flush_state.checkpoint < recovery_points.get(each, 0) for each, log in self.logs.items()):
            # A recovery point past the end would hide later writes from recovery, once the log has grown.
            self.write_checkpoints()

    @property
    def offline_reason(self) -> str | None:
        return self.health.offline_reason

    @property
    def size_bytes(self) -> int:
        return sum(log.size_bytes for log in self.logs.values())

    def create_log(
        self, topic_partition: TopicPartition, topic_id: TopicId | None, config: LogConfig, *, now_ms: int
    ) -> PartitionLog:
        """Safe on a worker thread: the log is added only when it is complete."""
        if self.health.offline_reason is not None:
            self.health.refuse()
        assert topic_partition not in self.logs
        path = f"{self.path}/{topic_partition}"
        with self.health.guard(f"Creating the log of {topic_partition}"):
            log = create_log(self._shared, self.health, path, topic_partition, topic_id, config, now_ms)
        self.logs[topic_partition] = log
        return log

    def delete_log(self, topic_partition: TopicPartition) -> DeleteJob:
        """Removes the log at once and frees its name. The returned job removes the files."""
        log = self.logs.pop(topic_partition)
        log.close(clean=False)
        path = f"{self.path}/{deletion_directory(topic_partition)}"
        with self.health.guard(f"Deleting the log of {topic_partition}"):
            self._disk.rename(log.directory, path)
        return DeleteJob(self._disk, path)

    def set_aside_log(self, topic_partition: TopicPartition) -> str:
        """For a log of an unknown topic: renames it and keeps it, for an operator to decide. Returns its path."""
        log = self.logs.pop(topic_partition)
        log.close(clean=True)
        path = f"{self.path}/{stray_directory(topic_partition)}"
        with self.health.guard(f"Setting aside the log of {topic_partition}"):
            self._disk.rename(log.directory, path)
        return path

    # --- checkpoints

    def read_offsets(self, name: str) -> dict[TopicPartition, int]:
        """Returns a checkpoint's content, or nothing when it is missing or damaged, which only makes recovery
        longer."""
        try:
            return parse_offsets(self._disk.read_bytes(f"{self.path}/{name}"), name)
        except FileNotFoundError:
            return {}
        except CheckpointError as error:
            _log.warning("%s: %s; continuing without it", self.path, error)
            return {}

    def begin_checkpoints(self) -> CheckpointJob:
        """Recovery points, start offsets and high watermarks as they are now."""
        logs = list(self.logs.items())  # A worker may add a log in the meantime.
        starts = {
            each: log.start_offset for each, log in logs if log.start_offset > log.segments.first_offset
        }
        files = {
            RECOVERY_POINTS: offsets_text({each: log.flush_state.checkpoint for each, log in logs}),
            START_OFFSETS: offsets_text(starts),
            HIGH_WATERMARKS: offsets_text({each: log.high_watermark for each, log in logs}),
        }
        return CheckpointJob(self._disk, self.health, files, self._checkpoint_turns)

    def write_checkpoints(self) -> None:
        self.begin_checkpoints().run()

    def close(self, clean: bool = True) -> None:
        """After a clean close the next start skips recovery: the clean shutdown file is written last."""
        if self._lock is None:
            return
        try:
            if clean and self.health.offline_reason is None and len(self.logs) > LOGS_FSYNCED_ONE_BY_ONE:
                self._flush_all()
            for log in self.logs.values():
                log.close(clean=clean)
            if clean and self.health.offline_reason is None:
                self.write_checkpoints()
                with self.health.guard("Writing the clean shutdown file"):
                    mark = b'{"version":0,"brokerEpoch":-1}'
                    self._disk.write_atomically(f"{self.path}/{CLEAN_SHUTDOWN}", mark)
        finally:
            self._lock = None

    def _flush_all(self) -> None:
        """Flushes all logs with one sync for many of them: a journal commit per file would take minutes for ten
        thousand logs."""
        logs = list(self.logs.values())
        for start in range(0, len(logs), LOGS_PER_SYNC):
            slice_ = logs[start : start + LOGS_PER_SYNC]
            jobs = [(log, job) for log in slice_ if not (job := log.begin_close()).is_empty]
            for _, job in jobs:
                job.write(durable=False)
            if jobs:
                with self.health.guard("Flushing before shutdown"):
                    self._disk.sync_all(self.path)
            for log, job in jobs:
                job.sync()
                log.finish_flush(job)


def _identify(disk: Disk, path: str, cluster_id: str | None, node_id: int) -> MetaProperties:
    file = f"{path}/{META_PROPERTIES}"
    try:
        found = parse_properties(disk.read_bytes(file).decode(errors="replace")) or {"": ""}
    except FileNotFoundError:
        found = {}
    identity = check_properties(file, found, cluster_id, node_id)
    if not {"cluster.id", "node.id", "directory.id"} <= found.keys():
        disk.write_atomically(file, identity.text())
    return identity


def _make_durable_directory(disk: Disk, path: str) -> None:
    """A file in a directory is safe only when the directory itself is."""
    if not disk.exists(path):
        parent = dirname(path)
        _make_durable_directory(disk, parent)
        disk.make_directory(path)
        disk.sync_directory(parent)
