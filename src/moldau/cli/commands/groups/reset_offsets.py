"""`moldau groups reset`: shows where committed offsets would move, and moves them with --execute."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click
import confluent_kafka
from confluent_kafka import ConsumerGroupTopicPartitions

from moldau.cli.client.connection import Cluster
from moldau.cli.client.group_lag import log_states
from moldau.cli.client.group_queries import (
    Committed,
    Group,
    committed_offsets,
    find_group,
    list_groups,
    unknown_group,
)
from moldau.cli.commands.groups.offset_file import export_text, parse_offsets
from moldau.cli.commands.groups.reset_target import Change, Target, plan
from moldau.cli.failures import Failure
from moldau.cli.options import Duration, Timestamp, complete_group, on_cluster
from moldau.cli.render.output import columns, counted, output_option, print_data
from moldau.cli.topic_partitions import TopicPartitions, choose_partitions
from moldau.core.ids import TopicPartition

MEMBERS_SHOWN_MAX = 5
EXIT_SKIPPED = 1

Topics = Sequence[tuple[str, Sequence[int]]]


@dataclass(frozen=True)
class Reset:
    """The planned changes of one group."""

    group: str
    is_new: bool
    changes: Sequence[Change]


@click.command("reset")
@click.argument("groups", metavar="[GROUP]...", nargs=-1, shell_complete=complete_group)
@click.option("--all-groups", is_flag=True, help="All groups, except the platform's internal ones.")
@click.option(
    "--topic",
    "topics",
    type=TopicPartitions(),
    multiple=True,
    help="A topic, or partitions of it: orders or orders:0,2. Default: all with offsets. Repeatable.",
)
@click.option("--to-earliest", is_flag=True, help="To the log start.")
@click.option("--to-latest", is_flag=True, help="To the log end: skip all existing records.")
@click.option(
    "--to-current",
    is_flag=True,
    help="To the current offsets, for --export or to bring them back into the log's range.",
)
@click.option("--to-offset", type=click.IntRange(min=0), help="To this offset.")
@click.option("--shift-by", type=int, metavar="N", help="Forward by N, or back if N is negative.")
@click.option("--to-datetime", type=Timestamp(), help="To the first record written at this time or later.")
@click.option(
    "--by-duration",
    type=Duration(),
    help="To the first record written within this time span: 15m, 2h, P1DT6H.",
)
@click.option(
    "--from-file",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="To the offsets in a file: lines of TOPIC,PARTITION,OFFSET or GROUP,TOPIC,PARTITION,OFFSET, as --export "
    "prints them, "
    "or the output of `groups offsets -o json`.",
)
@click.option("--execute", is_flag=True, help="Apply the changes. Without this option they are only shown.")
@click.option(
    "--export", is_flag=True, help="Print the new offsets in the format of --from-file, and nothing else."
)
@output_option
@on_cluster
def reset(
    cluster: Cluster,
    groups: Sequence[str],
    all_groups: bool,
    topics: Topics,
    execute: bool,
    export: bool,
    output: str,
    **target_options: Any,
) -> int:
    """Move the committed offsets of each GROUP. Shows the changes; --execute applies them."""
    if bool(groups) == all_groups:
        raise click.UsageError("Pass either groups or --all-groups.")
    if export and (execute or output != "table"):
        raise click.UsageError(
            "--export has its own output format and changes nothing: omit --execute and --output."
        )
    target = Target(**target_options)
    target.check()
    named, busy = _chosen(cluster, groups, all_groups, execute)
    resets = [
        found
        for name, group in named.items()
        if (found := _reset(cluster, name, group, topics, target, all_groups))
    ]
    if export:
        offsets = {
            each.group: {
                TopicPartition(change.topic, change.partition): change.new_offset for change in each.changes
            }
            for each in resets
        }
        click.echo(export_text(offsets), nl=False)
        return 0
    if execute:
        for each in resets:
            _apply(cluster, each.group, each.changes)
    _show(resets, execute, output, many=all_groups or len(groups) > 1)
    if not execute:
        created = "".join(
            f" Group '{each.group}' does not exist yet and would be created."
            for each in resets
            if each.is_new
        )
        click.echo(f"Nothing was changed. Pass --execute to apply.{created}", err=True)
    return EXIT_SKIPPED if busy and execute else 0


def _chosen(
    cluster: Cluster, names: Sequence[str], all_groups: bool, execute: bool
) -> tuple[Mapping[str, Group | None], bool]:
    """The groups to reset, and whether any has live members.

    With --all-groups, groups with live members are skipped. A group named on the command line fails the command.
    """
    if all_groups:
        names = [listed.group for listed in list_groups(cluster) if not listed.is_internal]
    found = {name: find_group(cluster, name) for name in names}
    busy = {name: message for name, group in found.items() if (message := _busy(name, group))}
    for message in busy.values():
        if execute and not all_groups:
            raise Failure(f"the offsets cannot be reset: {message}", "Stop them first; nothing was changed.")
        what = "It is skipped." if execute else "--execute will fail until they stop."
        click.echo(f"{message[0].upper()}{message[1:]} {what}", err=True)
    kept = {name: group for name, group in found.items() if not (execute and name in busy)}
    return kept, bool(busy)


def _busy(name: str, group: Group | None) -> str | None:
    """A live consumer keeps its own position and would overwrite ours with its next commit."""
    if group is None or not group.members:
        return None
    shown = [member.label for member in group.members[:MEMBERS_SHOWN_MAX]]
    more = len(group.members) - len(shown)
    who = ", ".join([*shown, *([f"and {more} more"] if more else [])])
    return f"group '{name}' has {counted(len(group.members), 'live member')}: {who}."


def _reset(
    cluster: Cluster, name: str, group: Group | None, topics: Topics, target: Target, one_of_all: bool
) -> Reset | None:
    """None with --all-groups if the group has no offsets to move."""
    if group is None and not topics and target.from_file is None:
        raise unknown_group(cluster, name)
    committed = committed_offsets(cluster, name)
    changes = _changes(cluster, name, topics, target, committed, one_of_all)
    return Reset(name, group is None, changes) if changes or not one_of_all else None


def _changes(
    cluster: Cluster,
    group: str,
    topics: Topics,
    target: Target,
    committed: Mapping[TopicPartition, Committed],
    one_of_all: bool,
) -> Sequence[Change]:
    if target.from_file is not None:
        if topics:
            raise click.UsageError("--from-file already names the partitions: omit --topic.")
        wanted = parse_offsets(Path(target.from_file).read_text(encoding="utf-8"), group, target.from_file)
        places = choose_partitions(cluster, [(topic, [partition]) for topic, partition in wanted])
        return plan(wanted, committed, log_states(cluster, places))
    if topics:
        places = choose_partitions(cluster, topics)
        if one_of_all:
            # With --all-groups, skip topics this group has not committed to.
            places = [place for place in places if place in committed]
    else:
        # Offsets of deleted topics remain for a while and cannot be moved.
        leaders = cluster.leaders()
        places = [place for place in sorted(committed) if place in leaders]
        if not places and not one_of_all:
            raise Failure(f"group '{group}' has no committed offsets to move.", "Name topics with --topic.")
    logs = log_states(cluster, places)
    return plan(target.resolve(cluster, logs, committed), committed, logs)


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


def _show(resets: Sequence[Reset], executed: bool, output: str, many: bool) -> None:
    if output != "table":
        told = [
            {
                "group": each.group,
                "executed": executed,
                "changes": [asdict(change) for change in each.changes],
            }
            for each in resets
        ]
        rows = [{"group": each.group, **asdict(change)} for each in resets for change in each.changes]
        print_data(output, told if many else told[0], rows)
        return
    rows_shown = [
        (
            each.group if many else None,
            change.topic,
            change.partition,
            change.old_offset,
            change.new_offset,
            None if change.old_offset is None else f"{change.new_offset - change.old_offset:+,}",
            change.note,
        )
        for each in resets
        for change in each.changes
    ]
    headings = ("GROUP", "TOPIC", "PARTITION", "OLD OFFSET", "NEW OFFSET", "MOVES BY", "NOTE")
    if rows_shown:
        click.echo(columns(headings, rows_shown, drop_empty=True))
    else:
        click.echo("No group has offsets to move.", err=True)
    if executed:
        for each in resets:
            click.echo(f"{counted(len(each.changes), 'offset')} of group '{each.group}' set.", err=True)
