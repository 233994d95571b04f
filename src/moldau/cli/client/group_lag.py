"""Lag of a group in offsets, bytes and seconds, up to the last stable offset.

The last stable offset is where the first open transaction begins. A read_committed consumer cannot read past it, so
later records do not count as lag.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from confluent_kafka.admin import OffsetSpec

from moldau.cli.client.connection import Cluster
from moldau.cli.client.group_queries import Committed, Group, Member
from moldau.cli.client.log_sizes import partition_sizes
from moldau.cli.client.next_records import next_timestamps
from moldau.cli.client.offset_queries import COMMITTED, find_offsets
from moldau.core.ids import TopicPartition


@dataclass(frozen=True)
class LogState:
    """The state of a partition's log on its leader. `end_offset` is the high watermark."""

    start_offset: int
    stable_offset: int
    end_offset: int
    size_bytes: int | None = None

    def unread(self, offset: int) -> int:
        """Offsets include compacted records and transaction markers. Deleted records do not count."""
        return max(0, self.stable_offset - max(offset, self.start_offset))

    def unread_bytes(self, offset: int) -> int | None:
        """An estimate: the size on disk times the unread share of offsets."""
        held = self.end_offset - self.start_offset
        if self.size_bytes is None or held <= 0:
            return None if self.size_bytes is None else 0
        return round(self.size_bytes * self.unread(offset) / held)


@dataclass(frozen=True)
class PartitionLag:
    """A partition with a committed offset or an assigned member. None means absent or unknown."""

    place: TopicPartition
    committed: Committed | None
    log: LogState | None
    owner: Member | None
    lag_s: float | None

    @property
    def lag(self) -> int | None:
        return None if self.log is None or self.committed is None else self.log.unread(self.committed.offset)

    @property
    def lag_bytes(self) -> int | None:
        if self.log is None or self.committed is None:
            return None
        return self.log.unread_bytes(self.committed.offset)

    @property
    def note(self) -> str | None:
        if self.log is None:
            return "no leader, or the topic does not exist"
        if self.committed is None:
            return "no committed offset"
        if self.committed.offset < self.log.start_offset:
            return f"{self.log.start_offset - self.committed.offset:,} offsets were deleted unread"
        if self.committed.offset > self.log.end_offset:
            return "committed beyond the log end: the topic may have been recreated"
        if self.log.stable_offset < self.log.end_offset:
            return (
                f"{self.log.end_offset - self.log.stable_offset:,} offsets are blocked by an open transaction"
            )
        return None

    def as_json(self) -> dict[str, object]:
        return {
            "topic": self.place.topic,
            "partition": self.place.partition,
            "offset": self.committed and self.committed.offset,
            "leader_epoch": self.committed and self.committed.leader_epoch,
            "metadata": self.committed and self.committed.metadata,
            "start_offset": self.log and self.log.start_offset,
            "stable_offset": self.log and self.log.stable_offset,
            "end_offset": self.log and self.log.end_offset,
            "lag": self.lag,
            "lag_bytes": self.lag_bytes,
            "lag_seconds": self.lag_s,
            "member_id": self.owner and self.owner.member_id,
            "client_id": self.owner and self.owner.client_id,
            "note": self.note,
        }


def gather_lags(
    cluster: Cluster, group: Group, committed: Mapping[TopicPartition, Committed]
) -> Sequence[PartitionLag]:
    owners = {place: member for member in group.members for place in member.assignment}
    leaders = cluster.leaders()
    places = sorted({*committed, *owners})
    logs = log_states(cluster, [place for place in places if place in leaders])
    behind = {
        place: max(committed[place].offset, log.start_offset)
        for place, log in logs.items()
        if place in committed and log.unread(committed[place].offset)
    }
    timestamps = next_timestamps(cluster, behind)
    now_ms = time.time() * 1000
    lags = []
    for place in places:
        lag_s = None
        if place in timestamps:
            lag_s = seconds_behind(timestamps[place], now_ms)
        elif place in committed and place in logs and place not in behind:
            lag_s = 0.0
        lags.append(PartitionLag(place, committed.get(place), logs.get(place), owners.get(place), lag_s))
    return lags


def log_states(cluster: Cluster, places: Sequence[TopicPartition]) -> dict[TopicPartition, LogState]:
    start = find_offsets(cluster, places, OffsetSpec.earliest())
    stable = find_offsets(cluster, places, OffsetSpec.latest(), COMMITTED)
    end = find_offsets(cluster, places, OffsetSpec.latest())
    leaders = cluster.leaders()
    sizes = partition_sizes(cluster.wire, {place: leaders[place] for place in places if place in leaders})
    return {
        place: LogState(start[place].offset, stable[place].offset, end[place].offset, sizes.get(place))
        for place in places
    }


def seconds_behind(written_ms: int | None, now_ms: float) -> float:
    """How long the next record has been waiting. 0 if there is none: markers and aborted records do not count."""
    return 0.0 if written_ms is None else round(max(0.0, now_ms - written_ms) / 1000, 3)
