"""Everything about one group, as JSON or text."""

from collections.abc import Sequence
from dataclasses import dataclass

from moldau.cli.client.connection import Cluster
from moldau.cli.client.group_lag import PartitionLag, gather_lags
from moldau.cli.client.group_queries import Group, Member, committed_offsets, describe_group
from moldau.cli.render.output import about, bytes_text, columns, seconds_text
from moldau.core.ids import TopicPartition


@dataclass(frozen=True)
class GroupReport:
    group: Group
    lags: Sequence[PartitionLag]

    @classmethod
    def gather(cls, cluster: Cluster, name: str) -> "GroupReport":
        group = describe_group(cluster, name)
        return cls(group, gather_lags(cluster, group, committed_offsets(cluster, name)))

    def as_json(self) -> dict[str, object]:
        group = self.group
        return {
            "group": group.group,
            "type": group.type,
            "protocol": group.protocol,
            "state": group.state,
            "assignor": group.assignor or None,
            "epoch": group.epoch,
            "coordinator": str(group.coordinator),
            "lag": sum(lag.lag or 0 for lag in self.lags),
            "members": members_json(group.members),
            "offsets": offsets_json(self.lags),
        }

    def as_text(self) -> str:
        group = self.group
        facts = [
            ("Group", group.group),
            ("Type", group.type if group.protocol in ("", "consumer") else f"{group.type}, {group.protocol}"),
            ("State", group.state),
            ("Assignor", group.assignor or "-"),
            ("Coordinator", str(group.coordinator)),
            ("Members", str(len(group.members))),
            ("Lag", self._total()),
        ]
        parts = [about(facts)]
        if group.members:
            parts.append(members_table(group.members))
        if self.lags:
            parts.append(offsets_table(self.lags))
        return "\n\n".join(parts)

    def _total(self) -> str:
        if not self.lags:
            return "no committed offsets, no assignment"
        total = f"{sum(lag.lag or 0 for lag in self.lags):,} offsets"
        sizes = [lag.lag_bytes for lag in self.lags if lag.lag_bytes is not None]
        ages = [lag.lag_s for lag in self.lags if lag.lag_s is not None]
        parts = [total, *([f"about {bytes_text(sum(sizes))}"] if sizes else [])]
        return ", ".join([*parts, *([seconds_text(max(ages))] if ages else [])])


def members_json(members: Sequence[Member]) -> list[dict[str, object]]:
    def places(assignment: Sequence[TopicPartition]) -> list[dict[str, object]]:
        return [place._asdict() for place in assignment]

    return [
        {
            "member_id": member.member_id,
            "instance_id": member.instance_id,
            "client_id": member.client_id,
            "host": member.host,
            "epoch": member.epoch,
            "subscription": list(member.subscription),
            "assignment": places(member.assignment),
            "target_assignment": None if member.target is None else places(member.target),
        }
        for member in members
    ]


def members_table(members: Sequence[Member]) -> str:
    """Epoch and target assignment exist in the consumer protocol only, instance ids for static members only."""
    heading = ["CLIENT ID", "HOST", "MEMBER ID", "INSTANCE ID", "EPOCH", "PARTITIONS", "ASSIGNMENT", "WANTED"]
    rows = [
        (
            member.client_id,
            member.host,
            member.member_id,
            member.instance_id,
            member.epoch,
            len(member.assignment),
            assignment_text(member.assignment),
            None if member.target in (None, member.assignment) else assignment_text(member.target or ()),
        )
        for member in sorted(members, key=lambda member: (member.client_id, member.member_id))
    ]
    return columns(heading, rows, drop_empty=True)


def assignment_text(assignment: Sequence[TopicPartition]) -> str:
    """`orders:0-2,5 payments:1`."""
    numbers: dict[str, list[int]] = {}
    for topic, partition in sorted(assignment):
        numbers.setdefault(topic, []).append(partition)
    return " ".join(f"{topic}:{ranges(partitions)}" for topic, partitions in numbers.items()) or "none"


def ranges(numbers: Sequence[int]) -> str:
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in runs)


def offsets_json(lags: Sequence[PartitionLag]) -> list[dict[str, object]]:
    return [lag.as_json() for lag in lags]


def offsets_table(lags: Sequence[PartitionLag]) -> str:
    heading = ("TOPIC", "PARTITION", "OFFSET", "START OFFSET", "STABLE OFFSET", "END OFFSET")
    rows = [
        (
            lag.place.topic,
            lag.place.partition,
            lag.committed.offset if lag.committed else None,
            *((lag.log.start_offset, lag.log.stable_offset, lag.log.end_offset) if lag.log else [None] * 3),
            lag.lag,
            lag.lag_bytes,
            None if lag.lag_s is None else seconds_text(lag.lag_s),
            lag.owner.client_id if lag.owner else None,
            lag.committed.metadata if lag.committed else None,
            lag.note,
        )
        for lag in lags
    ]
    more = ("LAG", "LAG BYTES", "LAG TIME", "CLIENT ID", "METADATA", "NOTE")
    return columns((*heading, *more), rows, drop_empty=True)
