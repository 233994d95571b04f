"""`moldau groups`: list, describe, members, offsets, reset, delete, delete-offsets."""

from collections.abc import Sequence
from dataclasses import asdict
from fnmatch import fnmatchcase

import click

from moldau.cli.client.connection import Cluster
from moldau.cli.client.group_queries import describe_group, find_group, list_groups, unknown_group
from moldau.cli.commands.groups.delete_offsets import delete_offsets
from moldau.cli.commands.groups.group_report import (
    GroupReport,
    members_json,
    members_table,
    offsets_json,
    offsets_table,
)
from moldau.cli.commands.groups.reset_offsets import reset
from moldau.cli.confirmation import confirm
from moldau.cli.failures import Failure
from moldau.cli.options import complete_group, on_cluster
from moldau.cli.render.output import columns, output_option, print_data

group_argument = click.argument("group", shell_complete=complete_group)
groups_argument = click.argument(
    "groups", metavar="GROUP...", nargs=-1, required=True, shell_complete=complete_group
)


@click.group("groups")
def command() -> None:
    """List, describe, reset and delete consumer groups.

    Lag is counted up to the last stable offset: what an open transaction holds back, no consumer can read.
    Lag bytes are an estimate: the log's size on disk times the share of its offsets that is unread. Lag time
    is how long the next record to read has been waiting.
    """


command.add_command(reset)
command.add_command(delete_offsets)


@command.command("list")
@click.argument("pattern", default="*")
@click.option("--state", "states", multiple=True, help="Only groups in this state (stable, empty, ...).")
@output_option
@on_cluster
def list_command(cluster: Cluster, pattern: str, states: Sequence[str], output: str) -> None:
    """List the groups, or those whose name matches PATTERN (`orders-*`).

    INTERNAL marks groups of the platform itself: members that elect one among them and read nobody's records.
    """
    lowered = {state.lower() for state in states}
    found = [
        listed
        for listed in list_groups(cluster)
        if fnmatchcase(listed.group, pattern) and (not lowered or listed.state.lower() in lowered)
    ]
    if output != "table":
        print_data(output, [{**asdict(listed), "internal": listed.is_internal} for listed in found])
    elif found:
        rows = [
            (
                listed.group,
                listed.type,
                listed.protocol or None,
                listed.state,
                "yes" if listed.is_internal else None,
            )
            for listed in found
        ]
        click.echo(columns(("GROUP", "TYPE", "PROTOCOL", "STATE", "INTERNAL"), rows, drop_empty=True))
    else:
        click.echo("No groups." if pattern == "*" and not states else "No group matches.", err=True)


@command.command("describe")
@click.argument("groups", metavar="[GROUP]...", nargs=-1, shell_complete=complete_group)
@output_option
@on_cluster
def describe(cluster: Cluster, groups: Sequence[str], output: str) -> None:
    """Show state, members, offsets and lag of each GROUP; of all groups if none is named."""
    names = groups or [listed.group for listed in list_groups(cluster)]
    reports = [GroupReport.gather(cluster, group) for group in names]
    if output != "table":
        print_data(
            output,
            [report.as_json() for report in reports],
            [{"group": report.group.group, **row} for report in reports for row in offsets_json(report.lags)],
        )
    elif reports:
        click.echo("\n\n".join(report.as_text() for report in reports))
    else:
        click.echo("No groups.", err=True)


@command.command("members")
@group_argument
@output_option
@on_cluster
def members(cluster: Cluster, group: str, output: str) -> None:
    """Show who is in GROUP, and which partitions each has."""
    found = describe_group(cluster, group)
    if output != "table":
        print_data(output, members_json(found.members))
    elif found.members:
        click.echo(members_table(found.members))
    else:
        click.echo(f"Group '{group}' has no members; its state is {found.state}.", err=True)


@command.command("offsets")
@group_argument
@output_option
@on_cluster
def offsets(cluster: Cluster, group: str, output: str) -> None:
    """Show what GROUP has committed, and how far behind it is."""
    report = GroupReport.gather(cluster, group)
    if output != "table":
        print_data(output, offsets_json(report.lags))
    elif report.lags:
        click.echo(offsets_table(report.lags))
    else:
        click.echo(f"Group '{group}' has committed nothing.", err=True)


@command.command("delete")
@groups_argument
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@click.option("--if-exists", is_flag=True, help="A group that is not there is all right.")
@on_cluster
def delete(cluster: Cluster, groups: Sequence[str], yes: bool, if_exists: bool) -> None:
    """Delete each GROUP with its offsets. A group with live members is refused."""
    found = {group: find_group(cluster, group) for group in groups}
    missing = [group for group, description in found.items() if description is None]
    if missing and not if_exists:
        raise unknown_group(cluster, missing[0])
    for group in filter(None, found.values()):
        if group.members:
            who = ", ".join(member.label for member in group.members)
            raise Failure(
                f"group '{group.group}' has live members: {who}.", "Stop them first; nothing was deleted."
            )
    doomed = [name for name in found if name not in missing]
    if doomed and not yes:
        names = ", ".join(f"'{name}'" for name in doomed)
        noun = "group" if len(doomed) == 1 else "groups"
        confirm(f"Delete {noun} {names} with all offsets?", "nothing was deleted.")
    for name in missing:
        click.echo(f"There is no group '{name}'.")
    for name, future in cluster.admin.delete_consumer_groups(doomed).items() if doomed else ():
        cluster.wait(future, f"delete group '{name}'")
        click.echo(f"Deleted group '{name}'.")
