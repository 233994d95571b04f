"""`moldau streams plan`: what a run would keep and drop of the checkpoint of a changed application."""

import click

from moldau.cli.client.connection import Cluster
from moldau.cli.commands.streams.application_status import checkpoint_option
from moldau.cli.failures import Failure
from moldau.cli.options import on_cluster
from moldau.cli.render.output import columns, output_option, print_json
from moldau.core.errors import ConfigError

on_change_option = click.option(
    "--on-change",
    type=click.Choice(["refuse", "drop", "keep"]),
    default="refuse",
    show_default=True,
    help="What to do with state that no longer fits a changed FILE: refuse to start, drop it, or keep the contents of "
    "changed stores.",
)


@click.command("plan")
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@checkpoint_option
@on_change_option
@output_option
@on_cluster
def plan_command(cluster: Cluster, file: str, checkpoint_dir: str, on_change: str, output: str) -> None:
    """Show the effect of a changed FILE on its checkpoint. Lists what a run would keep, add and drop.

    Changes nothing, and may be used while the application is running. Exit code 1: `run` with the same --on-change
    would refuse to start.
    """
    from moldau.pipeline.spark.driver.app_file import load_application
    from moldau.pipeline.spark.settings import AppSettings
    from moldau.pipeline.spark.upgrades.preview import preview

    try:
        topology = load_application(file, by_value=False)
        settings = AppSettings(
            topology.application_id,
            cluster.bootstrap_servers,
            checkpoint_dir,
            client_settings=cluster.properties,
            on_change=on_change,  # type: ignore[arg-type]
        )
        found = preview(cluster.admin, settings, topology)
    except (ConfigError, TimeoutError) as failure:
        raise Failure(str(failure)) from None
    if output == "json":
        print_json(found.as_json())
    else:
        rows = [(one.kind, one.name, str(one.fate), one.outcome(found.choice)) for one in found.changes]
        click.echo(columns(("KIND", "NAME", "CHANGE", "EFFECT"), rows))
        click.echo(found.summary)
    if found.refused is not None:
        raise Failure(found.refused)
