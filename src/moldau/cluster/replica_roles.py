"""Makes this broker be what the cluster's image says: which partitions it hosts, leads and follows.

Runs on the owner's thread; making and deleting logs is handed to a worker, one job at a time. Decides nothing about
the cluster: whoever leads was decided by the controller.
"""

import logging
from collections.abc import Callable, Sequence
from typing import Final

from moldau.broker.broker import Broker
from moldau.broker.hosting.hosted_partitions import Partition
from moldau.broker.run_in_order import RunInOrder
from moldau.cluster.catalog_feed import CatalogFeed
from moldau.cluster.fetcher import ReplicaFetcher
from moldau.cluster.leading import IsrWriter, PartitionLeading
from moldau.cluster.led_shards import LedShards
from moldau.cluster.replication.throttle import ReplicationThrottle
from moldau.coordination.image import ClusterImage, ImageDelta, TopicImage
from moldau.coordination.tree_layout import PartitionState
from moldau.core.errors import StorageFault
from moldau.core.ids import BrokerId, TopicId, TopicPartition
from moldau.core.ports import Cancellable

_log = logging.getLogger("moldau.replication")

NOT_SERVED: Final = -1
"""The leader epoch of a partition that has no role yet."""

MakeFetcher = Callable[[BrokerId], ReplicaFetcher]


class ReplicaRoles:
    """Implements `coordination.image_updater.ImageListener`."""

    def __init__(
        self,
        broker: Broker,
        writer: IsrWriter,
        make_fetcher: MakeFetcher,
        run_in_order: RunInOrder,
        broker_epoch: Callable[[], int],
    ) -> None:
        """`broker_epoch` is that of this process's own registration; before it is registered: of none."""
        self._broker = broker
        self._broker_id = broker.broker_id
        self._writer = writer
        self._make_fetcher = make_fetcher
        self._run_in_order = run_in_order
        self._broker_epoch = broker_epoch
        settings = broker.configs.broker
        self._throttle = ReplicationThrottle(
            lambda: broker.configs.broker.leader_replication_throttled_rate,
            settings.replication_quota_window_num,
            settings.replication_quota_window_size_seconds * 1000,
        )
        self._feed = CatalogFeed(broker)
        self._shards = LedShards(broker)
        self._image = ClusterImage()
        self._fetchers: dict[BrokerId, ReplicaFetcher] = {}
        self._leader_of: dict[Partition, int] = {}
        self._leading: dict[Partition, PartitionLeading] = {}
        self._deleting: set[TopicPartition] = set()
        """Whose logs are about to go: what is made a replica again meanwhile gets a new one."""
        self._timer: Cancellable | None = None
        self._is_closed = False

    # --- what the image tells

    def start(self, image: ClusterImage) -> None:
        """Takes up everything there is."""
        self.image_changed(image, ClusterImage().difference(image))
        self._review_later()

    def image_changed(self, image: ClusterImage, delta: ImageDelta) -> None:
        if self._is_closed:
            return
        before, self._image = self._image, image
        self._feed.take(image, delta)
        configured = {name for kind, name in delta.configs if kind == "topics"}
        for name in sorted(delta.topics | configured):
            self._apply_topic(name)
        if delta.brokers:
            self._brokers_changed(before, delta.brokers)

    def disconnected(self) -> None:
        """What we lead we go on leading: without the tree nobody can shrink an ISR, so nothing is lost by it."""

    def connected(self, *, new_session: bool) -> None:
        """The image follows."""

    def coordinating_partitions(self) -> list[Partition]:
        """Those we lead whose records are a coordinator's state."""
        return [each for each in self._broker.partitions if each.is_leader and self._shards.is_one(each)]

    def stop_coordinating(self) -> None:
        for partition in self.coordinating_partitions():
            self._shards.resign(partition)

    def coordinate_again(self, partition: Partition) -> None:
        if partition.is_leader and not self._is_closed:
            self._shards.elect(partition)

    def close(self) -> None:
        self._is_closed = True
        if self._timer is not None:
            self._timer.cancel()
        for fetcher in self._fetchers.values():
            fetcher.close()
        for leading in self._leading.values():
            leading.resign()

    # --- topics

    def _apply_topic(self, name: str) -> None:
        topic = self._image.topics.get(name)
        topic_id = None if topic is None else topic.topic_id
        gone = [each for each in self._broker.partitions.of_topic(name) if each.topic_id != topic_id]
        for each in gone:
            self._drop(each)
        if topic is None:
            return
        missing: list[TopicPartition] = []
        for index, state in topic.states():
            place = TopicPartition(name, index)
            partition = self._broker.partitions.find(topic.topic_id, index)
            if self._broker_id not in topic.replicas[index]:
                if partition is not None:
                    self._drop(partition)
            elif partition is not None or (partition := self._host(topic, place)) is not None:
                self._set_role(partition, topic.replicas[index], state)
            else:
                missing.append(place)
        if missing:
            self._broker.scheduler.spawn(self._create_logs(topic, missing))

    def _host(self, topic: TopicImage, place: TopicPartition) -> Partition | None:
        """The partition as found on disk; None when there is no log of this topic."""
        log = self._broker.disks.find(place)
        if log is None or log.topic_id != topic.topic_id or place in self._deleting:
            return None
        # The topic's settings may have come while its log was being made.
        log.config = self._broker.configs.log_config(self._image.topic_configs(topic.name))
        partition = Partition(topic.name, topic.topic_id, place.partition, log, NOT_SERVED, is_leader=False)
        self._broker.partitions.add(partition)
        return partition

    async def _create_logs(self, topic: TopicImage, places: Sequence[TopicPartition]) -> None:
        config = self._broker.configs.log_config(self._image.topic_configs(topic.name))
        disks, now_ms = self._broker.disks, self._broker.clock.now_ms()

        def create() -> None:
            for place in places:
                found = disks.find(place)
                if found is not None and found.topic_id != topic.topic_id:
                    disks.delete(place)  # Of an older topic of this name, deleted while we were away.
                    found = None
                if found is None:
                    disks.emptiest().create_log(place, topic.topic_id, config, now_ms=now_ms)

        try:
            await self._run_in_order(create)
        except StorageFault as fault:
            disks.fail(fault)
            return
        if not self._is_closed:
            self._apply_topic(topic.name)

    def _drop(self, partition: Partition) -> None:
        """We are no replica of it any more, or it is gone altogether."""
        self._stop_leading(partition)
        self._unfollow(partition)
        self._broker.partitions.remove(partition.topic, partition.index)
        partition.leader_epoch = NOT_SERVED
        self._wake(partition)
        place = TopicPartition(partition.topic, partition.index)
        self._deleting.add(place)
        self._broker.scheduler.spawn(self._delete_log(place, partition.topic_id))

    async def _delete_log(self, place: TopicPartition, topic_id: TopicId) -> None:
        disks = self._broker.disks

        def delete() -> None:
            log = disks.find(place)
            if log is not None and log.topic_id == topic_id:
                disks.delete(place)

        try:
            if self._broker.partitions.find(topic_id, place.partition) is None:
                await self._run_in_order(delete)
        except StorageFault as fault:
            disks.fail(fault)
        finally:
            self._deleting.discard(place)

    # --- roles

    def _set_role(self, partition: Partition, replicas: Sequence[int], state: PartitionState) -> None:
        if state.leader_epoch < partition.leader_epoch:
            return
        is_same_epoch = state.leader_epoch == partition.leader_epoch
        # Whoever leads goes on until there is a later epoch, whatever became of its registration.
        leads = is_same_epoch and partition.is_leader and state.leader == self._broker_id
        if leads or self._may_lead(state):
            leading = self._leading.get(partition)
            if not is_same_epoch or not partition.is_leader or (leading is None) != (len(replicas) == 1):
                self._lead(partition, replicas, state)
            elif leading is not None:
                leading.isr_written(state)
                leading.replicas_changed(tuple(map(BrokerId, replicas)))
        elif not is_same_epoch or partition.is_leader or self._leader_of.get(partition) != state.leader:
            self._follow(partition, state)

    def _may_lead(self, state: PartitionState) -> bool:
        """By this process's own registration: one that a dead process left behind vouches for logs that may have
        lost their end since."""
        registered = self._image.brokers.get(self._broker_id)
        is_own = registered is not None and registered.epoch == self._broker_epoch()
        return is_own and self._image.may_lead(state, self._broker_id)

    def _lead(self, partition: Partition, replicas: Sequence[int], state: PartitionState) -> None:
        log, broker = partition.log, self._broker
        assert log is not None
        self._unfollow(partition)
        is_new_epoch = partition.leader_epoch != state.leader_epoch or not partition.is_leader
        old = self._leading.pop(partition, None)
        partition.leader_epoch = state.leader_epoch
        partition.is_leader = True
        if len(replicas) == 1:
            partition.leading = None
            log.advance_high_watermark(log.end_offset)
        else:
            # Even if nothing is ever written in it: followers are cut by epochs (KIP-101).
            log.epochs.assign(state.leader_epoch, log.end_offset)
            leading = PartitionLeading(
                self._broker_id,
                partition,
                log,
                tuple(map(BrokerId, replicas)),
                state,
                clock=broker.clock,
                scheduler=broker.scheduler,
                parked_fetches=broker.parked_fetches,
                writer=self._writer,
                lag_ms_max=lambda: broker.configs.broker.replica_lag_time_max_ms,
                racks=lambda: {each.broker_id: each.rack for each in broker.members},
                throttle=self._throttle,
            )
            leading.in_sync.alive = broker.members.alive
            partition.leading = self._leading[partition] = leading
            leading.advance()
        if old is not None:
            old.resign()
        self._wake(partition)
        if is_new_epoch:
            self._shards.elect(partition)

    def _follow(self, partition: Partition, state: PartitionState) -> None:
        self._stop_leading(partition)
        self._unfollow(partition)
        partition.leader_epoch = state.leader_epoch
        self._leader_of[partition] = state.leader
        if state.leader >= 0 and state.leader != self._broker_id and partition.log is not None:
            leader = BrokerId(state.leader)
            fetcher = self._fetchers.get(leader)
            if fetcher is None:
                fetcher = self._fetchers[leader] = self._make_fetcher(leader)
            fetcher.follow(partition)
        self._wake(partition)

    def _stop_leading(self, partition: Partition) -> None:
        partition.is_leader = False
        partition.leading = None
        partition.verifying.led_elsewhere()
        leading = self._leading.pop(partition, None)
        if leading is not None:
            leading.resign()
        self._shards.resign(partition)

    def _unfollow(self, partition: Partition) -> None:
        leader = self._leader_of.pop(partition, None)
        if leader is not None and (fetcher := self._fetchers.get(BrokerId(leader))) is not None:
            fetcher.unfollow(partition)

    def _wake(self, partition: Partition) -> None:
        """Whoever waits here learns that the leader is another one, or another epoch's."""
        if partition.waiters:
            self._broker.parked_fetches.appended(partition)
        for follower, place in partition.followers.items():
            follower.appended(place)

    # --- brokers

    def _brokers_changed(self, before: ClusterImage, changed: frozenset[int]) -> None:
        after = self._image.brokers
        # Whoever is gone comes back in a later epoch, if at all.
        epochs = [
            (BrokerId(each), after[each].epoch if each in after else before.brokers[each].epoch + 1)
            for each in sorted(changed)
        ]
        for leading in list(self._leading.values()):
            leading.in_sync.alive = self._broker.members.alive
            for replica, epoch in epochs:
                leading.in_sync.forget(replica, epoch)
            leading.advance()
            leading.review_isr()
        for each in sorted(changed):
            fetcher = self._fetchers.get(BrokerId(each))
            if fetcher is not None and each in self._image.brokers:
                fetcher.reconnect()
        # Whether we may lead what we are named leader of depends on our own registration.
        if self._broker_id in changed:
            for name in sorted(self._image.topics):
                self._apply_topic(name)

    def _review_later(self) -> None:
        delay_ms = max(1, self._broker.configs.broker.replica_lag_time_max_ms // 2)
        self._timer = self._broker.scheduler.call_later(delay_ms, self._review)

    def _review(self) -> None:
        """Followers that fall behind say nothing: somebody must look."""
        for leading in list(self._leading.values()):
            leading.review_isr()
            leading.advance()
        self._review_later()
