"""Which replicas this broker hosts: opens, creates and deletes logs as the cluster's image assigns them.

Runs on the owner's thread; logs are created and deleted on a worker thread, one job at a time. Each hosted
partition gets its role from `ReplicaRoles`.
"""

from collections.abc import Iterable, Sequence

from moldau.broker.broker import Broker
from moldau.broker.hosting.hosted_partitions import Partition
from moldau.broker.run_in_order import RunInOrder
from moldau.cluster.replica_roles import NO_ROLE, ReplicaRoles
from moldau.coordination.image import ClusterImage, TopicImage
from moldau.core.errors import StorageFault
from moldau.core.ids import TopicId, TopicPartition


class ReplicaHosting:
    def __init__(self, broker: Broker, roles: ReplicaRoles, run_in_order: RunInOrder) -> None:
        self._broker = broker
        self._roles = roles
        self._run_in_order = run_in_order
        self._image = ClusterImage()
        self._deleting: set[TopicPartition] = set()
        """Partitions whose logs are being deleted: if one is assigned here again, it gets a new log."""
        self._is_closed = False

    def close(self) -> None:
        self._is_closed = True

    def apply(self, image: ClusterImage, topics: Iterable[str]) -> None:
        """Takes over the image. Of these topics, hosts the replicas that it assigns to this broker, and no others."""
        self._image = image
        for name in sorted(topics):
            self._apply_topic(name)

    def _apply_topic(self, name: str) -> None:
        topic = self._image.topics.get(name)
        topic_id = None if topic is None else topic.topic_id
        deleted = [each for each in self._broker.partitions.of_topic(name) if each.topic_id != topic_id]
        for each in deleted:
            self._drop(each)
        if topic is None:
            return
        missing: list[TopicPartition] = []
        for index in range(len(topic)):
            partition = self._broker.partitions.find(topic.topic_id, index)
            if self._broker.broker_id not in topic.replicas[index]:
                if partition is not None:
                    self._drop(partition)
            elif partition is not None or (partition := self._open(topic, index)) is not None:
                self._roles.assign(partition, self._image)
            else:
                missing.append(TopicPartition(name, index))
        if missing:
            self._broker.scheduler.spawn(self._create_logs(topic, missing))

    def _open(self, topic: TopicImage, index: int) -> Partition | None:
        """The partition with its log; None when there is no log of this topic on disk."""
        topic_partition = TopicPartition(topic.name, index)
        log = self._broker.disks.find(topic_partition)
        if log is None or log.topic_id != topic.topic_id or topic_partition in self._deleting:
            return None
        # The topic's settings may have changed while its log was being created.
        log.config = self._broker.configs.log_config(self._image.topic_configs(topic.name))
        partition = Partition(topic.name, topic.topic_id, index, log, NO_ROLE, is_leader=False)
        self._broker.partitions.add(partition)
        return partition

    async def _create_logs(self, topic: TopicImage, missing: Sequence[TopicPartition]) -> None:
        config = self._broker.configs.log_config(self._image.topic_configs(topic.name))
        disks, now_ms = self._broker.disks, self._broker.clock.now_ms()

        def create() -> None:
            for each in missing:
                found = disks.find(each)
                if found is not None and found.topic_id != topic.topic_id:
                    disks.delete(each)  # Of an older topic of this name, deleted while this broker was down.
                    found = None
                if found is None:
                    disks.emptiest().create_log(each, topic.topic_id, config, now_ms=now_ms)

        try:
            await self._run_in_order(create)
        except StorageFault as fault:
            disks.fail(fault)
            return
        if not self._is_closed:
            self._apply_topic(topic.name)

    def _drop(self, partition: Partition) -> None:
        """This broker is no longer a replica of the partition, or the topic was deleted."""
        self._broker.partitions.remove(partition.topic, partition.index)
        self._roles.release(partition)
        topic_partition = TopicPartition(partition.topic, partition.index)
        self._deleting.add(topic_partition)
        self._broker.scheduler.spawn(self._delete_log(topic_partition, partition.topic_id))

    async def _delete_log(self, topic_partition: TopicPartition, topic_id: TopicId) -> None:
        disks = self._broker.disks

        def delete() -> None:
            log = disks.find(topic_partition)
            if log is not None and log.topic_id == topic_id:
                disks.delete(topic_partition)

        try:
            if self._broker.partitions.find(topic_id, topic_partition.partition) is None:
                await self._run_in_order(delete)
        except StorageFault as fault:
            disks.fail(fault)
        finally:
            self._deleting.discard(topic_partition)
