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
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option(
    "--checkpoint-lost", "is_lost", is_flag=True, help="There is no checkpoint any more: forget the rest."
)
@on_cluster
def reset_command(cluster: Cluster, application: str, checkpoint_dir: str, yes: bool, is_lost: bool) -> None:
    """Forget all of APPLICATION: its checkpoint, its group's offsets, its own topics.

    It then starts from the beginning of its inputs. Stop it first; what it has written stays.
    """
    from moldau.pipeline.spark.driver.reset import require_resettable, reset

    folder = f"{checkpoint_dir}/{application}"
    try:
        require_resettable(application, folder, is_lost=is_lost)
        if not yes:
            confirm(f"Forget the state and the position of {application}?", f"{application} was not reset.")
        removed = reset(cluster.admin, application, folder, is_lost=is_lost)
    except ConfigError as failure:
        raise Failure(str(failure)) from None
    for one in removed:
        click.echo(f"removed {one}")
    if not removed:
        click.echo(f"There was nothing of {application}.", err=True)
