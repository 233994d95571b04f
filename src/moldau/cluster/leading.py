"""Leads one partition with several replicas: advances the high watermark, answers `acks=all`, maintains the ISR.

Implements `Leading` of `broker.hosting.hosted_partitions` over the machines of `replication/`. One object serves for
one leader epoch.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from moldau.broker.fetch.parked_fetches import ParkedFetches
from moldau.broker.hosting.hosted_partitions import Partition
from moldau.cluster.replication.acks import PendingAcks
from moldau.cluster.replication.in_sync import InSyncReplicas, IsrCommitted, IsrProposed, IsrRefused
from moldau.cluster.replication.throttle import ReplicationThrottle, is_throttled
from moldau.coordination.tree_layout import PartitionState
from moldau.core.error_codes import ErrorCode
from moldau.core.ids import BrokerId
from moldau.core.ports import Cancellable, Clock, Scheduler
from moldau.storage.log.partition_log import PartitionLog

Committed = Callable[[ErrorCode], None]


class IsrWriter(Protocol):
    def write(
        self, leading: "PartitionLeading", isr: tuple[BrokerId, ...], isr_epochs: tuple[int, ...]
    ) -> None:
        """Writes the ISR by compare-and-set, then calls `isr_written` or `isr_not_written`."""


class _Waiting:
    __slots__ = ("callback", "timer")

    def __init__(self, callback: Committed) -> None:
        self.callback = callback
        self.timer: Cancellable | None = None


class PartitionLeading:
    def __init__(
        self,
        broker_id: BrokerId,
        partition: Partition,
        log: PartitionLog,
        replicas: Sequence[BrokerId],
        state: PartitionState,
        *,
        alive: frozenset[BrokerId],
        clock: Clock,
        scheduler: Scheduler,
        parked_fetches: ParkedFetches,
        writer: IsrWriter,
        lag_ms_max: Callable[[], int],
        racks: Callable[[], Mapping[int, str | None]],
        throttle: ReplicationThrottle,
    ) -> None:
        self._broker_id = broker_id
        self.partition = partition
        self._log = log
        self._clock = clock
        self._scheduler = scheduler
        self._parked_fetches = parked_fetches
        self._writer = writer
        self._lag_ms_max = lag_ms_max
        self._racks = racks
        self._throttle = throttle
        self._replica_count = len(replicas)
        self._acks: PendingAcks[_Waiting] = PendingAcks()
        self._is_over = False
        self.state = state
        self.in_sync = InSyncReplicas(
            broker_id,
            replicas,
            tuple(map(BrokerId, state.isr)),
            log.end_offset,
            clock.monotonic_ms(),
        )
        self.in_sync.alive = alive

    # --- called by the broker

    @property
    def is_short(self) -> bool:
        return len(self.in_sync.isr) < self._isr_size_min

    @property
    def is_settled(self) -> bool:
        return self._log.high_watermark >= self.in_sync.epoch_start_offset

    def appended(self) -> None:
        for session, key in self.partition.followers.items():
            session.appended(key)
        self.advance()

    def fetched(self, replica: int, broker_epoch: int, offset: int) -> bool:
        now_ms = self._clock.monotonic_ms()
        end_offset = self._log.end_offset
        if not self.in_sync.observe_fetch(BrokerId(replica), broker_epoch, offset, end_offset, now_ms):
            return False
        if self._log.high_watermark < end_offset:
            self.advance()
        if replica not in self.in_sync.isr:
            self.review_isr()
        return True

    def holds_back(self, replica: int) -> bool:
        return (
            self._is_throttled
            and replica not in self.in_sync.isr
            and self._throttle.is_exceeded(self._clock.monotonic_ms())
        )

    def sent(self, size: int) -> None:
        if self._is_throttled:
            self._throttle.record(size, self._clock.monotonic_ms())

    def when_committed(self, end_offset: int, callback: Committed, timeout_ms: int | None = None) -> None:
        if self._is_over:
            self._scheduler.call_soon(lambda: callback(ErrorCode.NOT_LEADER_OR_FOLLOWER))
            return
        if self._log.high_watermark >= end_offset:
            self._scheduler.call_soon(lambda: callback(ErrorCode.NONE))
            return
        waiting = _Waiting(callback)
        handle = self._acks.add(end_offset, waiting)
        if timeout_ms is not None:
            waiting.timer = self._scheduler.call_later(timeout_ms, lambda: self._time_out(handle, waiting))

    def preferred_replica(self, rack: str, offset: int) -> int:
        """Chooses as Kafka's rack-aware selector does: of the replicas in the client's rack that have the offset, the
        leader, or else the one with the highest end offset."""
        racks = self._racks()
        if racks.get(self._broker_id) == rack:
            return -1
        nearby = [
            (self.in_sync.end_offset_of(replica), replica)
            for replica in self.in_sync.isr
            if replica != self._broker_id and racks.get(replica) == rack
        ]
        furthest, replica = max(nearby, default=(-1, BrokerId(-1)))
        return replica if furthest >= offset else -1

    # --- called by the cluster member

    def advance(self) -> None:
        """Advances the high watermark as far as possible, and completes the requests that waited for it."""
        log = self._log
        offset = self.in_sync.high_watermark(
            log.end_offset,
            self._clock.monotonic_ms(),
            lag_ms_max=self._lag_ms_max(),
            isr_size_min=self._isr_size_min,
        )
        if offset <= log.high_watermark:
            return
        log.advance_high_watermark(offset)
        for session, key in self.partition.followers.items():
            session.committed(key)
        if self.partition.waiters:
            self._parked_fetches.appended(self.partition)
        for waiting in self._acks.take_committed(log.high_watermark):
            self._finish(waiting, ErrorCode.NONE)

    def review_isr(self) -> None:
        """Proposes a new ISR if a replica has fallen behind or caught up."""
        isr = self.in_sync.decide_isr(
            self._log.high_watermark,
            self._log.end_offset,
            self._clock.monotonic_ms(),
            lag_ms_max=self._lag_ms_max(),
        )
        if isr is not None and not self._is_over:
            self.in_sync.replay(IsrProposed(isr))
            # The broker epoch in which each joined the ISR: a broker restarted since must join again (KIP-903).
            known = dict(zip(self.state.isr, self.state.isr_epochs, strict=True))
            epochs = tuple(known.get(each, self.in_sync.broker_epoch_of(each)) for each in isr)
            self._writer.write(self, isr, epochs)

    def isr_written(self, state: PartitionState) -> None:
        """The store now holds this state."""
        if not self._is_over and state.version > self.state.version:
            self.state = state
            self.in_sync.replay(IsrCommitted(tuple(map(BrokerId, state.isr))))
            self.advance()

    def isr_not_written(self) -> None:
        """Nothing was changed; a later review may propose the same again."""
        if not self._is_over:
            self.in_sync.replay(IsrRefused())

    def brokers_changed(self, alive: frozenset[BrokerId], epochs: Mapping[BrokerId, int]) -> None:
        """`epochs` has the brokers that registered again or left. Their fetches from earlier epochs no longer count."""
        self.in_sync.alive = alive
        for replica, epoch in epochs.items():
            self.in_sync.forget(replica, epoch)
        self.advance()
        self.review_isr()

    def replicas_changed(self, replicas: Sequence[BrokerId]) -> None:
        self._replica_count = len(replicas)
        self.in_sync.assign(replicas, self._clock.monotonic_ms())
        self.advance()

    def resign(self) -> None:
        """Another broker leads now: whether the waiting records will be committed is unknown."""
        self._is_over = True
        for waiting in self._acks.take_all():
            self._finish(waiting, ErrorCode.NOT_LEADER_OR_FOLLOWER)

    @property
    def _is_throttled(self) -> bool:
        replicas = self._log.config.leader_throttled_replicas
        return is_throttled(replicas, self.partition.index, self._broker_id)

    @property
    def _isr_size_min(self) -> int:
        """`min.insync.replicas`, but not more than the partition has replicas."""
        return min(self._log.config.min_insync_replicas, self._replica_count)

    def _time_out(self, handle: int, waiting: _Waiting) -> None:
        self._acks.cancel(handle)
        waiting.callback(ErrorCode.REQUEST_TIMED_OUT)

    def _finish(self, waiting: _Waiting, code: ErrorCode) -> None:
        if waiting.timer is not None:
            waiting.timer.cancel()
        waiting.callback(code)
