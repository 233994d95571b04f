"""`moldau groups list`, `describe`, `members` and `offsets`."""

from collections.abc import Sequence
from dataclasses import asdict
from fnmatch import fnmatchcase

import click

from moldau.cli.client.connection import Cluster
from moldau.cli.client.group_queries import describe_group, list_groups
from moldau.cli.commands.groups.group_report import (
    GroupReport,
    members_json,
    members_table,
    offsets_json,
    offsets_table,
)
from moldau.cli.options import complete_group, on_cluster
from moldau.cli.render.output import columns, output_option, print_data

group_argument = click.argument("group", shell_complete=complete_group)


@click.command("list")
@click.argument("pattern", default="*")
@click.option(
    "--state", "states", multiple=True, help="Only groups in this state (stable, empty, ...). Repeatable."
)
@output_option
@on_cluster
def list_command(cluster: Cluster, pattern: str, states: Sequence[str], output: str) -> None:
    """List groups. PATTERN selects by name (`orders-*`).

    INTERNAL marks groups of platform services, which use the group protocol for election and do not consume topics.
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


@click.command("describe")
@click.argument("groups", metavar="[GROUP]...", nargs=-1, shell_complete=complete_group)
@output_option
@on_cluster
def describe(cluster: Cluster, groups: Sequence[str], output: str) -> None:
    """Describe groups, by default all. Shows state, members, offsets and lag."""
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


@click.command("members")
@group_argument
@output_option
@on_cluster
def members(cluster: Cluster, group: str, output: str) -> None:
    """Show the members of GROUP and their partitions."""
    found = describe_group(cluster, group)
    if output != "table":
        print_data(output, members_json(found.members))
    elif found.members:
        click.echo(members_table(found.members))
    else:
        click.echo(f"Group '{group}' has no members; its state is {found.state}.", err=True)


@click.command("offsets")
@group_argument
@output_option
@on_cluster
def offsets(cluster: Cluster, group: str, output: str) -> None:
    """Show the committed offsets of GROUP and its lag."""
    report = GroupReport.gather(cluster, group)
    if output != "table":
        print_data(output, offsets_json(report.lags))
    elif report.lags:
        click.echo(offsets_table(report.lags))
    else:
        click.echo(f"Group '{group}' has no committed offsets.", err=True)
