"""`moldau streams describe`."""

import click

from moldau.cli.failures import Failure
from moldau.core.errors import ConfigError

file_argument = click.argument("file", type=click.Path(exists=True, dir_okay=False))


@click.command("describe")
@file_argument
@click.option("--graph", type=click.Choice(["mermaid", "dot"]), help="Print a graph for a drawing tool.")
def describe(file: str, graph: str | None) -> None:
    """Show the topology of the application in FILE."""
    from moldau.pipeline.spark.driver.app_file import load_application

    try:
        topology = load_application(file, by_value=False)
    except ConfigError as failure:
        raise Failure(str(failure)) from None
    click.echo(topology.graph(graph) if graph else topology.describe())
