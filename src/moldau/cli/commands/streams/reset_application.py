"""`moldau streams reset`: deletes the checkpoint, group offsets and internal topics of an application."""

import click

from moldau.cli.client.connection import Cluster
from moldau.cli.commands.streams.application_status import checkpoint_option
from moldau.cli.confirmation import confirm
from moldau.cli.failures import Failure
from moldau.cli.options import on_cluster
from moldau.core.errors import ConfigError


@click.command("reset")
@click.argument("application")
@checkpoint_option
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.option(
    "--checkpoint-lost",
    "is_lost",
    is_flag=True,
    help="The checkpoint no longer exists: delete offsets and topics only.",
)
@on_cluster
def reset_command(cluster: Cluster, application: str, checkpoint_dir: str, yes: bool, is_lost: bool) -> None:
    """Delete the state and offsets of APPLICATION. Removes its checkpoint, group offsets and internal topics.

    It then starts from the beginning of its inputs. Stop it first. Its output topics are kept.
    """
    from moldau.pipeline.spark.driver.reset import require_resettable, reset

    folder = f"{checkpoint_dir}/{application}"
    try:
        require_resettable(application, folder, is_lost=is_lost)
        if not yes:
            confirm(f"Delete the state and offsets of {application}?", f"{application} was not reset.")
        removed = reset(cluster.admin, application, folder, is_lost=is_lost)
    except ConfigError as failure:
        raise Failure(str(failure)) from None
    for one in removed:
        click.echo(f"removed {one}")
    if not removed:
        click.echo(f"There was nothing to remove for {application}.", err=True)
