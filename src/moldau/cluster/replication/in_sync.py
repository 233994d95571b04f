"""The leader's view of a partition's other replicas: how far each is, who is in sync, what is committed. Pure.

What followers fetched is soft and only ever observed. The in-sync replicas are durable: `decide_isr` says what
they should become, a runner writes that by compare-and-set, and `replay` alone changes them here.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from moldau.core.ids import BrokerId, Millis

UNKNOWN_OFFSET = -1
NO_EPOCH = -1
NEVER_MS = -(2**62)


@dataclass(frozen=True, slots=True)
class IsrProposed:
    """A write is under way. Until its fate is known both the old and the new set count as in sync (KIP-497)."""

    isr: tuple[BrokerId, ...]


@dataclass(frozen=True, slots=True)
class IsrCommitted:
    """What the coordination store holds."""

    isr: tuple[BrokerId, ...]


@dataclass(frozen=True, slots=True)
class IsrRefused:
    """The write came to nothing; the set is as it was until somebody tells otherwise."""


IsrFact = IsrProposed | IsrCommitted | IsrRefused


class Follower:
    """One other replica, as its fetches show it."""

    __slots__ = ("broker_epoch", "caught_up_ms", "end_offset", "fetched_ms", "leader_end_offset")

    def __init__(self, caught_up_ms: int, broker_epoch: int = NO_EPOCH) -> None:
        self.broker_epoch = broker_epoch
        """Of the registration it spoke under."""
        self.end_offset = UNKNOWN_OFFSET
        self.caught_up_ms = caught_up_ms
        self.fetched_ms = NEVER_MS
        self.leader_end_offset = 0

    def fetched(self, offset: int, leader_end_offset: int, now_ms: int) -> None:
        """A fetch from `offset` says that everything before it is stored there."""
        if offset >= leader_end_offset:
            self.caught_up_ms = max(self.caught_up_ms, now_ms)
        elif offset >= self.leader_end_offset:
            # It has what was there when it last asked: it was level at that time.
            self.caught_up_ms = max(self.caught_up_ms, self.fetched_ms)
        self.end_offset = offset
        self.fetched_ms = now_ms
        self.leader_end_offset = leader_end_offset

    def is_caught_up(self, leader_end_offset: int, now_ms: int, lag_ms_max: int) -> bool:
        return self.end_offset == leader_end_offset or now_ms - self.caught_up_ms <= lag_ms_max


class InSyncReplicas:
    """One leadership: a new leader epoch starts with a new one."""

    __slots__ = ("_followers", "_leader", "_proposed", "alive", "epoch_start_offset", "isr")

    def __init__(
        self,
        leader: BrokerId,
        replicas: Sequence[BrokerId],
        isr: Sequence[BrokerId],
        epoch_start_offset: int,
        now_ms: Millis,
    ) -> None:
        self._leader = leader
        self.epoch_start_offset = epoch_start_offset
        self._followers: dict[BrokerId, Follower] = {}
        self._proposed: tuple[BrokerId, ...] | None = None
        self.isr = tuple(isr)
        """As committed in the store."""
        self.alive: frozenset[BrokerId] = frozenset()
        """The brokers that may join; whoever is gone is not waited for."""
        self.assign(replicas, now_ms)

    @property
    def is_waiting(self) -> bool:
        """Whether a change of the set is under way."""
        return self._proposed is not None

    @property
    def counted(self) -> frozenset[BrokerId]:
        """Everyone who may be taken for in sync by the next leader, whatever became of our last write."""
        return frozenset(self.isr).union(self._proposed or ())

    def end_offset_of(self, replica: BrokerId) -> int:
        follower = self._followers.get(replica)
        return UNKNOWN_OFFSET if follower is None else follower.end_offset

    def assign(self, replicas: Sequence[BrokerId], now_ms: Millis) -> None:
        """The partition's replicas; those in sync get the benefit of the doubt until they had time to fetch."""
        before = self._followers
        self._followers = {
            each: before.get(each) or Follower(now_ms if each in self.isr else NEVER_MS)
            for each in replicas
            if each != self._leader
        }

    def broker_epoch_of(self, replica: BrokerId) -> int:
        """The epoch of the broker that showed how far the replica is."""
        follower = self._followers.get(replica)
        return NO_EPOCH if follower is None else follower.broker_epoch

    def forget(self, replica: BrokerId, broker_epoch: int) -> None:
        """It was registered anew, in this epoch or a later one: what it has is for it to say again (KIP-903)."""
        follower = self._followers.get(replica)
        if follower is not None and follower.broker_epoch < broker_epoch:
            self._followers[replica] = Follower(NEVER_MS, broker_epoch)

    def observe_fetch(
        self, replica: BrokerId, broker_epoch: int, offset: int, leader_end_offset: int, now_ms: Millis
    ) -> bool:
        """False when the broker is no replica of this partition, or this is what it said in an earlier life."""
        follower = self._followers.get(replica)
        if follower is None or broker_epoch == NO_EPOCH or broker_epoch < follower.broker_epoch:
            return False
        follower.broker_epoch = broker_epoch
        follower.fetched(offset, leader_end_offset, now_ms)
        return True

    def high_watermark(
        self, leader_end_offset: int, now_ms: Millis, *, lag_ms_max: int, isr_size_min: int
    ) -> int:
        """Up to where everything is stored by all that count as in sync; UNKNOWN_OFFSET when that cannot be said.

        A follower that is about to join is waited for, so that it can. Below `min.insync.replicas` nothing is
        committed at all (KIP-966).
        """
        if len(self.isr) < min(isr_size_min, len(self._followers) + 1):
            return UNKNOWN_OFFSET
        counted = self.counted
        offset = leader_end_offset
        for replica, follower in self._followers.items():
            if follower.end_offset < offset and (
                replica in counted
                or (replica in self.alive and follower.is_caught_up(leader_end_offset, now_ms, lag_ms_max))
            ):
                offset = follower.end_offset
        return offset

    def decide_isr(
        self, high_watermark: int, leader_end_offset: int, now_ms: Millis, *, lag_ms_max: int
    ) -> tuple[BrokerId, ...] | None:
        """What the in-sync replicas should be; None when they are right, or a change is under way."""
        if self._proposed is not None:
            return None
        wanted = [
            replica
            for replica in self.isr
            if replica == self._leader or self._stays(replica, leader_end_offset, now_ms, lag_ms_max)
        ]
        wanted += [
            replica
            for replica, follower in self._followers.items()
            if replica not in self.isr
            and replica in self.alive
            and follower.end_offset >= max(high_watermark, self.epoch_start_offset)
            and follower.is_caught_up(leader_end_offset, now_ms, lag_ms_max)
        ]
        return None if wanted == list(self.isr) else tuple(wanted)

    def replay(self, fact: IsrFact) -> None:
        match fact:
            case IsrProposed(isr):
                self._proposed = isr
            case IsrCommitted(isr):
                self.isr = isr
                self._proposed = None
            case IsrRefused():
                self._proposed = None

    def _stays(self, replica: BrokerId, leader_end_offset: int, now_ms: Millis, lag_ms_max: int) -> bool:
        follower = self._followers.get(replica)
        return follower is not None and follower.is_caught_up(leader_end_offset, now_ms, lag_ms_max)
