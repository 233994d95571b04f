"""Creates, serves and deletes the logs of topics, and passes changed settings on to them.

Implements the ports `LogHost` of `topic_admin` and `ConfigListener` of `config_store`.
"""

from moldau.broker.fetch.parked_fetches import ParkedFetches
from moldau.broker.hosting.disks import Disks
from moldau.broker.hosting.hosted_partitions import HostedPartitions, Partition
from moldau.broker.topics.catalog import TopicEntry
from moldau.core.ids import BrokerId, TopicPartition
from moldau.core.ports import Clock
from moldau.core.settings.broker_keys import BrokerSettings
from moldau.storage.log_config import LogConfig


class LogsByRole:
    """For a broker in a cluster: there the replica roles create and delete logs, whichever broker made the
    topic."""

    def create_logs(self, entry: TopicEntry, first_partition: int, config: LogConfig) -> None: ...

    def delete_logs(self, entry: TopicEntry) -> None: ...

    def serve(self, entry: TopicEntry, first_partition: int) -> None: ...

    def stop_serving(self, entry: TopicEntry) -> None: ...


class HostedLogs:
    def __init__(
        self,
        broker_id: BrokerId,
        clock: Clock,
        disks: Disks,
        partitions: HostedPartitions,
        parked_fetches: ParkedFetches,
    ) -> None:
        self._broker_id = broker_id
        self._clock = clock
        self._disks = disks
        self._partitions = partitions
        self._parked_fetches = parked_fetches

    def create_logs(self, entry: TopicEntry, first_partition: int, config: LogConfig) -> None:
        for topic_partition in self._ours(entry, first_partition):
            if self._disks.find(topic_partition) is None:
                directory = self._disks.emptiest()
                directory.create_log(topic_partition, entry.topic_id, config, now_ms=self._clock.now_ms())

    def delete_logs(self, entry: TopicEntry) -> None:
        for topic_partition in self._ours(entry, 0):
            self._disks.delete(topic_partition)

    def serve(self, entry: TopicEntry, first_partition: int) -> None:
        for topic_partition in self._ours(entry, first_partition):
            log = self._disks.find(topic_partition)
            leader_epoch = entry.partitions[topic_partition.partition].leader_epoch
            if log is not None:
                # This is the only replica: everything in it is committed.
                log.advance_high_watermark(log.end_offset)
            self._partitions.add(
                Partition(entry.name, entry.topic_id, topic_partition.partition, log, leader_epoch)
            )

    def stop_serving(self, entry: TopicEntry) -> None:
        """Fetches that wait for the topic are answered with an error."""
        for partition in self._partitions.remove_topic(entry.name):
            if partition.waiters:
                self._parked_fetches.appended(partition)

    def topic_config_changed(self, topic: str, config: LogConfig) -> None:
        for partition in self._partitions.of_topic(topic):
            if partition.log is not None:
                partition.log.config = config

    def broker_settings_changed(self, settings: BrokerSettings) -> None:
        """Logs get new settings through `topic_config_changed`; all others read the settings when they need
        them."""

    def _ours(self, entry: TopicEntry, first_partition: int) -> list[TopicPartition]:
        return [
            TopicPartition(entry.name, index)
            for index in range(first_partition, len(entry.partitions))
            if self._broker_id in entry.partitions[index].replicas
        ]
