"""`moldau groups delete`."""

from collections.abc import Sequence

import click

from moldau.cli.client.connection import Cluster
from moldau.cli.client.group_queries import find_group, unknown_group
from moldau.cli.confirmation import confirm
from moldau.cli.failures import Failure
from moldau.cli.options import complete_group, on_cluster

groups_argument = click.argument(
    "groups", metavar="GROUP...", nargs=-1, required=True, shell_complete=complete_group
)


@click.command("delete")
@groups_argument
@click.option("--yes", "-y", is_flag=True, help="Do not ask for confirmation.")
@click.option("--if-exists", is_flag=True, help="Succeed if a group does not exist.")
@on_cluster
def delete(cluster: Cluster, groups: Sequence[str], yes: bool, if_exists: bool) -> None:
    """Delete each GROUP with its offsets. A group must have no live members."""
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
