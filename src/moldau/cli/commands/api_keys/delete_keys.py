"""`moldau api-keys delete`."""

from collections.abc import Sequence

import click

from moldau.cli.client.connection import Cluster
from moldau.cli.commands.api_keys.kept_keys import complete_key, find_keys, kept_keys, remove_key
from moldau.cli.commands.api_keys.key_notes import read_notes, remove_note
from moldau.cli.confirmation import confirm
from moldau.cli.options import on_cluster
from moldau.cli.render.output import counted


@click.command("delete")
@click.argument("names", metavar="[KEY]...", nargs=-1, shell_complete=complete_key)
@click.option("--expired", is_flag=True, help="All keys whose last day is over.")
@click.option("--yes", is_flag=True, help="Skip the question.")
@on_cluster
def delete(cluster: Cluster, names: Sequence[str], expired: bool, yes: bool) -> None:
    """Delete each KEY, given by its name or its ID.

    Nobody can log in with it any more. At Moldau's brokers open connections that use it end with their next request,
    at others when their login ends.
    """
    if bool(names) == expired:
        raise click.UsageError("Name the keys to delete, or pass --expired.")
    found = [kept for kept in kept_keys(cluster) if kept.is_expired] if expired else find_keys(cluster, names)
    if not found:
        click.echo("No API key has expired.", err=True)
        return
    if not yes:
        listed = ", ".join(kept.key.name for kept in found)
        confirm(f"Delete {counted(len(found), 'API key')}: {listed}?", "nothing was deleted.")
    notes = read_notes(cluster)
    for kept in found:
        remove_key(cluster, kept)
        click.echo(f"API key {kept.key.name} was deleted.")
        if kept.key.name in notes:
            remove_note(cluster, kept.key.name)
