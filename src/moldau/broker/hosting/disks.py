"""The log directories of this broker: where new logs go, and what happens when a disk fails.

Logs are created and deleted on a worker thread: a topic of ten thousand partitions must not block the others.
"""

import logging
from collections.abc import Mapping, Sequence

from moldau.core.errors import StorageFault
from moldau.core.ids import TopicPartition
from moldau.storage.directory.log_dir import LogDirectory
from moldau.storage.log.partition_log import PartitionLog

_log = logging.getLogger("moldau.disks")


class Disks:
    def __init__(self, directories: Sequence[LogDirectory], unopened: Mapping[str, str]) -> None:
        self.directories = tuple(directories)
        self.unopened = dict(unopened)
        """Directories that could not be opened at the start, and why. Their logs are not served."""
        self._reported: set[str] = set()

    def find(self, topic_partition: TopicPartition) -> PartitionLog | None:
        for directory in self.directories:
            log = directory.logs.get(topic_partition)
            if log is not None:
                return log
        return None

    def online(self) -> list[LogDirectory]:
        return [directory for directory in self.directories if directory.offline_reason is None]

    def emptiest(self) -> LogDirectory:
        """The directory with the fewest logs, where the next log goes, as in Kafka."""
        online = self.online()
        if not online:
            offline = "; ".join(f"{each.path}: {each.offline_reason}" for each in self.directories)
            raise StorageFault(self.directories[0].path, f"every log directory is offline: {offline}")
        return min(online, key=lambda directory: len(directory.logs))

    def delete(self, topic_partition: TopicPartition) -> None:
        """Runs on a worker thread. The log must not be served any more."""
        for directory in self.directories:
            if topic_partition in directory.logs:
                directory.delete_log(topic_partition).run()

    def fail(self, fault: StorageFault) -> None:
        """Logs one line per directory that goes offline. Its logs answer KAFKA_STORAGE_ERROR by
        themselves."""
        if fault.directory not in self._reported:
            self._reported.add(fault.directory)
            _log.error("%s", fault)
