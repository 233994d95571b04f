"""`moldau groups reset`: where the offsets of a group would go, and, with --execute, puts them there."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click
import confluent_kafka
from confluent_kafka import ConsumerGroupTopicPartitions
from confluent_kafka.admin import OffsetSpec

from moldau.cli.cluster import Cluster
from moldau.cli.failures import Failure
from moldau.cli.group_lag import LogState, log_states
from moldau.cli.group_queries import Committed, Group, committed_offsets, find_group, unknown_group
from moldau.cli.offset_file import parse_offsets
from moldau.cli.offset_queries import find_offsets
from moldau.cli.options import Duration, Timestamp, complete_group, on_cluster
from moldau.cli.output import columns, counted, output_option, print_json
from moldau.cli.partitions import TopicPartitions, choose_partitions
from moldau.core.ids import TopicPartition

MEMBERS_SHOWN_MAX = 5


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
    """No offset leaves its log: a consumer would then start wherever its auto.offset.reset says."""
    changes = []
    for place, asked in sorted(wanted.items()):
        log = logs[place]
        new = min(max(asked, log.start_offset), log.end_offset)
        note = None
        if asked < new:
            note = f"asked for {asked:,}: the log starts at {log.start_offset:,}"
        elif asked > new:
            note = f"asked for {asked:,}: the log ends at {log.end_offset:,}"
        old = committed[place].offset if place in committed else None
        changes.append(Change(place.topic, place.partition, old, new, note))
    return changes


@dataclass(frozen=True)
class Target:
    """Where offsets go: exactly one of these is given."""

    to_earliest: bool
    to_latest: bool
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
            said = f"not {' and '.join(given)}" if given else "none was given"
            raise click.UsageError(f"Say where the offsets shall go, with one of {names}; {said}.")

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
            # No record is that young: the group shall read what is still to come.
            return {
                place: at.offset if at.offset >= 0 else logs[place].end_offset for place, at in found.items()
            }
        if self.shift_by is not None:
            missing = [place for place in logs if place not in committed]
            if missing:
                raise Failure(
                    f"cannot shift the offset of '{missing[0].topic}' partition {missing[0].partition}: "
                    "the group has committed none there.",
                    "--to-earliest, --to-latest or --to-offset would set one.",
                )
            return {place: committed[place].offset + self.shift_by for place in logs}
        if self.to_offset is not None:
            return dict.fromkeys(logs, self.to_offset)
        return {
            place: log.start_offset if self.to_earliest else log.end_offset for place, log in logs.items()
        }


@click.command("reset")
@click.argument("group", shell_complete=complete_group)
@click.option(
    "--topic",
    "topics",
    type=TopicPartitions(),
    multiple=True,
    help="A topic, or some partitions of it: orders or orders:0,2. Left out: all the group has offsets for.",
)
@click.option("--to-earliest", is_flag=True, help="To the oldest record.")
@click.option("--to-latest", is_flag=True, help="To the end: only what comes from now on.")
@click.option("--to-offset", type=click.IntRange(min=0), help="To this offset.")
@click.option("--shift-by", type=int, metavar="N", help="N further; back if N is negative.")
@click.option("--to-datetime", type=Timestamp(), help="To the first record written then or later.")
@click.option(
    "--by-duration", type=Duration(), help="To the first record younger than this: 15m, 2h, P1DT6H."
)
@click.option(
    "--from-file",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="To what the file says: lines of TOPIC,PARTITION,OFFSET, or what `groups offsets -o json` printed.",
)
@click.option("--execute", is_flag=True, help="Do it. Without this the offsets are only shown.")
@output_option
@on_cluster
def reset(
    cluster: Cluster,
    group: str,
    topics: Sequence[tuple[str, Sequence[int]]],
    execute: bool,
    output: str,
    **target_options: Any,
) -> None:
    """Move the offsets of GROUP. Shows what would change, unless told to --execute."""
    target = Target(**target_options)
    target.check()
    found = find_group(cluster, group)
    if found is None and not topics and target.from_file is None:
        raise unknown_group(cluster, group)
    _check_members(group, found, execute)
    committed = committed_offsets(cluster, group)
    changes = _changes(cluster, group, topics, target, committed)
    if execute:
        _apply(cluster, group, changes)
    _show(group, changes, execute, output)
    if not execute:
        created = f" There is no group '{group}' yet: it would be made." if found is None else ""
        click.echo(f"Nothing was changed: pass --execute to do it.{created}", err=True)


def _changes(
    cluster: Cluster,
    group: str,
    topics: Sequence[tuple[str, Sequence[int]]],
    target: Target,
    committed: Mapping[TopicPartition, Committed],
) -> Sequence[Change]:
    if target.from_file is not None:
        if topics:
            raise click.UsageError("--from-file names the partitions itself: leave --topic out.")
        wanted = parse_offsets(Path(target.from_file).read_text(encoding="utf-8"), group, target.from_file)
        places = choose_partitions(cluster, [(topic, [partition]) for topic, partition in wanted])
        return plan(wanted, committed, log_states(cluster, places))
    if topics:
        places = choose_partitions(cluster, topics)
    else:
        # Offsets outlive their topics for a while; those have nowhere to go.
        leaders = cluster.leaders()
        places = [place for place in sorted(committed) if place in leaders]
        if not places:
            raise Failure(
                f"group '{group}' has committed nothing that could be moved.", "Name topics with --topic."
            )
    logs = log_states(cluster, places)
    return plan(target.resolve(cluster, logs, committed), committed, logs)


def _check_members(name: str, group: Group | None, execute: bool) -> None:
    """A live consumer keeps its own position, and would commit over what we set."""
    if group is None or not group.members:
        return
    shown = [member.label for member in group.members[:MEMBERS_SHOWN_MAX]]
    more = len(group.members) - len(shown)
    who = ", ".join([*shown, *([f"and {more} more"] if more else [])])
    message = f"group '{name}' has {counted(len(group.members), 'live member')}: {who}."
    if execute:
        raise Failure(f"the offsets cannot be reset: {message}", "Stop them first; nothing was changed.")
    click.echo(f"{message[0].upper()}{message[1:]} --execute will be refused until they stop.", err=True)


def _apply(cluster: Cluster, group: str, changes: Sequence[Change]) -> None:
    doing = f"reset the offsets of group '{group}'"
    parts = [
        confluent_kafka.TopicPartition(change.topic, change.partition, change.new_offset)
        for change in changes
    ]
    [future] = cluster.admin.alter_consumer_group_offsets(
        [ConsumerGroupTopicPartitions(group, parts)]
    ).values()
    for part in cluster.wait(future, doing).topic_partitions or ():
        if part.error is not None:
            raise cluster.failure(part.error, f"{doing} for '{part.topic}' partition {part.partition}")


def _show(group: str, changes: Sequence[Change], executed: bool, output: str) -> None:
    if output == "json":
        print_json({"group": group, "executed": executed, "changes": [asdict(change) for change in changes]})
        return
    rows = [
        (
            change.topic,
            change.partition,
            change.old_offset,
            change.new_offset,
            None if change.old_offset is None else f"{change.new_offset - change.old_offset:+,}",
            change.note,
        )
        for change in changes
    ]
    click.echo(
        columns(("TOPIC", "PARTITION", "OLD OFFSET", "NEW OFFSET", "MOVES BY", "NOTE"), rows, drop_empty=True)
    )
    if executed:
        click.echo(f"{counted(len(changes), 'offset')} of group '{group}' set.", err=True)
