"""The target of `groups reset`: computes the new offsets. Reads the cluster, changes nothing."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import click
from confluent_kafka.admin import OffsetSpec

from moldau.cli.client.connection import Cluster
from moldau.cli.client.group_lag import LogState
from moldau.cli.client.group_queries import Committed
from moldau.cli.client.offset_queries import find_offsets
from moldau.cli.failures import Failure
from moldau.core.ids import TopicPartition


@dataclass(frozen=True)
class Change:
    topic: str
    partition: int
    old_offset: int | None
    new_offset: int
    note: str | None = None


def plan(
    wanted: Mapping[TopicPartition, int],
    committed: Mapping[TopicPartition, Committed],
    logs: Mapping[TopicPartition, LogState],
) -> Sequence[Change]:
    """Keeps each offset within its log. Outside it, consumers would fall back to auto.offset.reset."""
    changes = []
    for place, asked in sorted(wanted.items()):
        log = logs[place]
        new = min(max(asked, log.start_offset), log.end_offset)
        note = None
        if asked < new:
            note = f"requested {asked:,}, but the log starts at {log.start_offset:,}"
        elif asked > new:
            note = f"requested {asked:,}, but the log ends at {log.end_offset:,}"
        old = committed[place].offset if place in committed else None
        changes.append(Change(place.topic, place.partition, old, new, note))
    return changes


@dataclass(frozen=True)
class Target:
    """The target options, of which exactly one is given."""

    to_earliest: bool
    to_latest: bool
    to_current: bool
    to_offset: int | None
    shift_by: int | None
    to_datetime: int | None
    by_duration: int | None
    from_file: str | None

    def check(self) -> None:
        given = [
            f"--{name.replace('_', '-')}"
            for name, value in asdict(self).items()
            if value is not None and value is not False
        ]
        if len(given) != 1:
            names = ", ".join(f"--{name.replace('_', '-')}" for name in asdict(self))
            said = f"got {' and '.join(given)}" if given else "none was given"
            raise click.UsageError(f"Choose the new offsets with exactly one of {names}; {said}.")

    @property
    def timestamp_ms(self) -> int | None:
        if self.by_duration is not None:
            return max(0, int(time.time() * 1000) - self.by_duration)
        return self.to_datetime

    def resolve(
        self,
        cluster: Cluster,
        logs: Mapping[TopicPartition, LogState],
        committed: Mapping[TopicPartition, Committed],
    ) -> dict[TopicPartition, int]:
        if self.timestamp_ms is not None:
            found = find_offsets(cluster, logs, OffsetSpec.for_timestamp(self.timestamp_ms))
            # No record is that recent: continue with future records.
            return {
                place: at.offset if at.offset >= 0 else logs[place].end_offset for place, at in found.items()
            }
        if self.shift_by is not None:
            missing = [place for place in logs if place not in committed]
            if missing:
                raise Failure(
                    f"cannot shift the offset of '{missing[0].topic}' partition {missing[0].partition}: "
                    "the group has not committed one there.",
                    "Use --to-earliest, --to-latest or --to-offset instead.",
                )
            return {place: committed[place].offset + self.shift_by for place in logs}
        if self.to_current:
            # Like Kafka's tool: without a committed offset, use the log end.
            return {
                place: committed[place].offset if place in committed else log.end_offset
                for place, log in logs.items()
            }
        if self.to_offset is not None:
            return dict.fromkeys(logs, self.to_offset)
        return {
            place: log.start_offset if self.to_earliest else log.end_offset for place, log in logs.items()
        }
