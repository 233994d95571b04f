"""`moldau roles group`: groups of users, to grant roles to."""

from collections.abc import Sequence

import click

from moldau.cli.client.connection import Cluster
from moldau.cli.commands.acls.key_principals import refuse_keys
from moldau.cli.commands.acls.rule_options import NewPrincipal, Principal
from moldau.cli.commands.roles.grant_roles import OPEN_TEXT, report_end
from moldau.cli.commands.roles.role_changes import add, end
from moldau.cli.commands.roles.role_topic import read_roles
from moldau.cli.confirmation import confirm
from moldau.cli.failures import Failure, similar_names
from moldau.cli.options import complete_names, on_cluster
from moldau.cli.render.output import columns, counted, output_option, print_data
from moldau.security.roles.records import Member, make_member
from moldau.security.roles.rights import Rights


def complete_role_group(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """For shell completion."""
    return complete_names(ctx, incomplete, lambda cluster: list(read_roles(cluster).groups()))


@click.group("group")
def groups() -> None:
    """Show and change groups of users. A role of Group:NAME is a role of all members.

    A group exists as long as it has members. These are no consumer groups: see `moldau groups`.
    """


@groups.command("list")
@click.argument("names", metavar="[NAME]...", nargs=-1, shell_complete=complete_role_group)
@output_option
@on_cluster
def list_groups(cluster: Cluster, names: Sequence[str], output: str) -> None:
    """List groups and their members."""
    rows = [
        (group, member)
        for group, members in read_roles(cluster).groups().items()
        if not names or group in names
        for member in sorted(members)
    ]
    if output != "table":
        print_data(output, [{"group": group, "member": member} for group, member in rows])
    elif rows:
        click.echo(columns(("GROUP", "MEMBER"), rows))
    else:
        click.echo("No such groups." if names else "No groups.", err=True)


@groups.command("add")
@click.argument("name", shell_complete=complete_role_group)
@click.option(
    "--member",
    "members",
    type=NewPrincipal(takes_groups=True),
    multiple=True,
    required=True,
    metavar="USER",
    help="Repeatable.",
)
@on_cluster
def add_members(cluster: Cluster, name: str, members: Sequence[str]) -> None:
    """Add users to the group NAME, with all roles that it has.

    \b
    moldau roles group add shop --member alice --member bob
    """
    wanted = _members(name, members)
    refuse_keys(cluster, members)
    done = add(cluster, wanted)
    for principal in members:
        click.echo(f"{principal} is a member of '{name}'.")
    if not done.is_guarded:
        click.echo(OPEN_TEXT, err=True)


@groups.command("remove")
@click.argument("name", shell_complete=complete_role_group)
@click.option(
    "--member", "members", type=Principal(), multiple=True, metavar="USER", help="Repeatable. Default: all."
)
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@on_cluster
def remove_members(cluster: Cluster, name: str, members: Sequence[str], yes: bool) -> None:
    """Remove users from the group NAME, or all of them. What they may do by other grants they keep."""
    rights = read_roles(cluster)
    there = _members_of(rights, name)
    if strangers := sorted(set(members) - there):
        raise Failure(
            f"{' and '.join(strangers)} {'is' if len(strangers) == 1 else 'are'} not in group '{name}'.",
            f"Its members are {', '.join(sorted(there))}. Nothing was removed.",
        )
    gone = sorted(set(members) or there)
    if not yes:
        confirm(f"Remove {', '.join(gone)} from '{name}'?", "nothing was removed.")
    report_end(end(cluster, _members(name, gone)), f"{counted(len(gone), 'member')} removed from '{name}'")


def _members_of(rights: Rights, name: str) -> frozenset[str]:
    known = rights.groups()
    if name not in known:
        similar = " or ".join(f"'{each}'" for each in similar_names(name, known))
        raise Failure(
            f"there is no group '{name}' of users.",
            f"Did you mean {similar}?" if similar else "`moldau roles group list` lists all groups.",
        )
    return known[name]


def _members(name: str, principals: Sequence[str]) -> list[Member]:
    try:
        return [make_member(name, principal) for principal in dict.fromkeys(principals)]
    except ValueError as error:
        raise click.UsageError(f"{error}.") from error
