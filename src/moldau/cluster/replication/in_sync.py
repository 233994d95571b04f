"""The leader's view of a partition's replicas: their end offsets, the ISR, the high watermark. Pure.

The followers' positions are soft state and only observed. The ISR is durable: `decide_isr` says what it should become,
a runner writes that by compare-and-set, and `replay` alone changes it here.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from moldau.core.ids import BrokerId, Millis

UNKNOWN_OFFSET = -1
NO_EPOCH = -1
NEVER_MS = -(2**62)


@dataclass(frozen=True, slots=True)
class IsrProposed:
    """A write is in progress. Until its outcome is known, the members of both sets count as in sync (KIP-497)."""

    isr: tuple[BrokerId, ...]


@dataclass(frozen=True, slots=True)
class IsrCommitted:
    """The ISR in the coordination store."""

    isr: tuple[BrokerId, ...]


@dataclass(frozen=True, slots=True)
class IsrRefused:
    """The write failed; the ISR is unchanged."""


IsrFact = IsrProposed | IsrCommitted | IsrRefused


class Follower:
    """The position of one follower, known from its fetches."""

    __slots__ = ("broker_epoch", "caught_up_ms", "end_offset", "fetched_ms", "leader_end_offset")

    def __init__(self, caught_up_ms: int, broker_epoch: int = NO_EPOCH) -> None:
        self.broker_epoch = broker_epoch
        """The broker epoch in its latest fetch."""
        self.end_offset = UNKNOWN_OFFSET
        self.caught_up_ms = caught_up_ms
        self.fetched_ms = NEVER_MS
        self.leader_end_offset = 0

    def fetched(self, offset: int, leader_end_offset: int, now_ms: int) -> None:
        """A fetch from `offset` means that the follower has stored everything before it."""
        if offset >= leader_end_offset:
            self.caught_up_ms = max(self.caught_up_ms, now_ms)
        elif offset >= self.leader_end_offset:
            # It now has everything the log held at its previous fetch: it was caught up at that time.
            self.caught_up_ms = max(self.caught_up_ms, self.fetched_ms)
        self.end_offset = offset
        self.fetched_ms = now_ms
        self.leader_end_offset = leader_end_offset

    def is_caught_up(self, leader_end_offset: int, now_ms: int, lag_ms_max: int) -> bool:
        return self.end_offset == leader_end_offset or now_ms - self.caught_up_ms <= lag_ms_max


class InSyncReplicas:
    """Serves for one leader epoch."""

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
        """The committed ISR."""
        self.alive: frozenset[BrokerId] = frozenset()
        """The live brokers: others cannot join the ISR and are not waited for."""
        self.assign(replicas, now_ms)

    @property
    def is_waiting(self) -> bool:
        """Whether a change of the ISR is in progress."""
        return self._proposed is not None

    @property
    def counted(self) -> frozenset[BrokerId]:
        """Every replica the next leader may take for in sync, whatever the outcome of our last write."""
        return frozenset(self.isr).union(self._proposed or ())

    def end_offset_of(self, replica: BrokerId) -> int:
        follower = self._followers.get(replica)
        return UNKNOWN_OFFSET if follower is None else follower.end_offset

    def assign(self, replicas: Sequence[BrokerId], now_ms: Millis) -> None:
        """Sets the partition's replicas. ISR members count as caught up until they have had time to fetch."""
        before = self._followers
        self._followers = {
            each: before.get(each) or Follower(now_ms if each in self.isr else NEVER_MS)
            for each in replicas
            if each != self._leader
        }

    def broker_epoch_of(self, replica: BrokerId) -> int:
        """The broker epoch in the replica's latest fetch."""
        follower = self._followers.get(replica)
        return NO_EPOCH if follower is None else follower.broker_epoch

    def forget(self, replica: BrokerId, broker_epoch: int) -> None:
        """The broker has registered again, in this epoch or a later one: its earlier fetches do not count (KIP-903)."""
        follower = self._followers.get(replica)
        if follower is not None and follower.broker_epoch < broker_epoch:
            self._followers[replica] = Follower(NEVER_MS, broker_epoch)

    def observe_fetch(
        self, replica: BrokerId, broker_epoch: int, offset: int, leader_end_offset: int, now_ms: Millis
    ) -> bool:
        """False if the broker is not a replica of this partition, or the fetch is from an earlier broker epoch."""
        follower = self._followers.get(replica)
        if follower is None or broker_epoch == NO_EPOCH or broker_epoch < follower.broker_epoch:
            return False
        follower.broker_epoch = broker_epoch
        follower.fetched(offset, leader_end_offset, now_ms)
        return True

    def high_watermark(
        self, leader_end_offset: int, now_ms: Millis, *, lag_ms_max: int, isr_size_min: int
    ) -> int:
        """The offset up to which all replicas that count as in sync have everything; UNKNOWN_OFFSET if unknown.

        A follower that is about to join the ISR counts too, so that it can join. Below `min.insync.replicas` nothing is
        committed (KIP-966).
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
        """What the ISR should be; None if it is right, or if a change is in progress."""
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
