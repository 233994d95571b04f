"""Whether this broker leads or follows each partition it hosts, as the cluster's image says.

Runs on the owner's thread. Decides nothing about the cluster: the controller elects the leaders.
"""

from collections.abc import Callable, Sequence
from typing import Final

from moldau.broker.broker import Broker
from moldau.broker.hosting.hosted_partitions import Partition
from moldau.cluster.fetcher import ReplicaFetcher
from moldau.cluster.leading import IsrWriter, PartitionLeading
from moldau.cluster.local_coordinators import LocalCoordinators
from moldau.cluster.replication.throttle import ReplicationThrottle
from moldau.coordination.image import ClusterImage
from moldau.coordination.tree_layout import PartitionState
from moldau.core.ids import BrokerId
from moldau.core.ports import Cancellable
from moldau.storage.log.partition_log import PartitionLog

NO_ROLE: Final = -1
"""The leader epoch of a partition that has no role yet, or no longer has one."""

MakeFetcher = Callable[[BrokerId], ReplicaFetcher]


class ReplicaRoles:
    def __init__(
        self,
        broker: Broker,
        coordinators: LocalCoordinators,
        writer: IsrWriter,
        make_fetcher: MakeFetcher,
        broker_epoch: Callable[[], int],
    ) -> None:
        """`broker_epoch` is the epoch of this process's own registration; it matches none before it registers."""
        self._broker = broker
        self._broker_id = broker.broker_id
        self._coordinators = coordinators
        self._writer = writer
        self._make_fetcher = make_fetcher
        self._broker_epoch = broker_epoch
        settings = broker.configs.broker
        self._throttle = ReplicationThrottle(
            lambda: broker.configs.broker.leader_replication_throttled_rate,
            settings.replication_quota_window_num,
            settings.replication_quota_window_size_seconds * 1000,
        )
        self._fetchers: dict[BrokerId, ReplicaFetcher] = {}
        self._leader_of: dict[Partition, int] = {}
        self._leading: dict[Partition, PartitionLeading] = {}
        self._timer: Cancellable | None = None

    def start(self) -> None:
        self._review_later()

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        for fetcher in self._fetchers.values():
            fetcher.close()
        for leading in self._leading.values():
            leading.resign()

    def assign(self, partition: Partition, image: ClusterImage) -> None:
        """Gives a hosted partition the role it has in `image`."""
        topic = image.topics[partition.topic]
        replicas, state = topic.replicas[partition.index], topic.state(partition.index)
        if state.leader_epoch < partition.leader_epoch:
            return
        is_same_epoch = state.leader_epoch == partition.leader_epoch
        # A leader stays the leader until there is a later epoch, whatever happens to its registration.
        still_leads = is_same_epoch and partition.is_leader and state.leader == self._broker_id
        if still_leads or self._may_lead(image, state):
            leading = self._leading.get(partition)
            if not is_same_epoch or not partition.is_leader or (leading is None) != (len(replicas) == 1):
                self._lead(partition, replicas, state)
            elif leading is not None:
                leading.isr_written(state)
                leading.replicas_changed(tuple(map(BrokerId, replicas)))
        elif not is_same_epoch or partition.is_leader or self._leader_of.get(partition) != state.leader:
            self._follow(partition, state)

    def release(self, partition: Partition) -> None:
        """The partition is no longer hosted here."""
        self._stop_leading(partition)
        self._unfollow(partition)
        partition.leader_epoch = NO_ROLE
        self._wake(partition)

    def brokers_changed(self, before: ClusterImage, after: ClusterImage, changed: frozenset[int]) -> None:
        # A broker that is gone can only come back in a later epoch.
        epochs = {
            BrokerId(each): after.brokers[each].epoch
            if each in after.brokers
            else before.brokers[each].epoch + 1
            for each in sorted(changed)
        }
        for leading in list(self._leading.values()):
            leading.brokers_changed(self._broker.members.alive, epochs)
        for broker_id in epochs:
            fetcher = self._fetchers.get(broker_id)
            if fetcher is not None and broker_id in after.brokers:
                fetcher.reconnect()

    def _may_lead(self, image: ClusterImage, state: PartitionState) -> bool:
        """Judged by this process's own registration. One that an earlier process left behind vouches for logs that
        may have lost their end since."""
        registered = image.brokers.get(self._broker_id)
        is_own = registered is not None and registered.epoch == self._broker_epoch()
        return is_own and image.may_lead(state, self._broker_id)

    def _lead(self, partition: Partition, replicas: Sequence[int], state: PartitionState) -> None:
        log = partition.log
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
            # Also if nothing is ever written in this epoch: followers truncate by epochs (KIP-101).
            log.epochs.assign(state.leader_epoch, log.end_offset)
            leading = self._new_leading(partition, log, replicas, state)
            partition.leading = self._leading[partition] = leading
            leading.advance()
        if old is not None:
            old.resign()
        self._wake(partition)
        if is_new_epoch:
            self._coordinators.elect(partition)

    def _new_leading(
        self, partition: Partition, log: PartitionLog, replicas: Sequence[int], state: PartitionState
    ) -> PartitionLeading:
        broker = self._broker
        return PartitionLeading(
            self._broker_id,
            partition,
            log,
            tuple(map(BrokerId, replicas)),
            state,
            alive=broker.members.alive,
            clock=broker.clock,
            scheduler=broker.scheduler,
            parked_fetches=broker.parked_fetches,
            writer=self._writer,
            lag_ms_max=lambda: broker.configs.broker.replica_lag_time_max_ms,
            racks=lambda: {each.broker_id: each.rack for each in broker.members},
            throttle=self._throttle,
        )

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
        self._coordinators.resign(partition)

    def _unfollow(self, partition: Partition) -> None:
        leader = self._leader_of.pop(partition, None)
        if leader is not None and (fetcher := self._fetchers.get(BrokerId(leader))) is not None:
            fetcher.unfollow(partition)

    def _wake(self, partition: Partition) -> None:
        """Parked fetches are answered with the new leader or leader epoch."""
        if partition.waiters:
            self._broker.parked_fetches.appended(partition)
        for session, key in partition.followers.items():
            session.appended(key)

    def _review_later(self) -> None:
        delay_ms = max(1, self._broker.configs.broker.replica_lag_time_max_ms // 2)
        self._timer = self._broker.scheduler.call_later(delay_ms, self._review)

    def _review(self) -> None:
        """A follower that falls behind causes no event, so the ISRs are checked by time."""
        for leading in list(self._leading.values()):
            leading.review_isr()
            leading.advance()
        self._review_later()
