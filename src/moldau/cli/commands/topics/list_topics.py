"""`moldau topics list`."""

from fnmatch import fnmatchcase

import click

from moldau.cli.client.connection import Cluster
from moldau.cli.options import on_cluster
from moldau.cli.render.output import columns, output_option, print_data


@click.command("list")
@click.argument("pattern", default="*")
@click.option("--internal", is_flag=True, help="Include Kafka's internal topics.")
@output_option
@on_cluster
def list_topics(cluster: Cluster, pattern: str, internal: bool, output: str) -> None:
    """List topics. PATTERN selects by name (`orders-*`)."""
    # Internal topics start with two underscores. A pattern that does so asks for them.
    hidden = not internal and not pattern.startswith("__")
    rows = [
        (name, len(replicas), max(map(len, replicas), default=0))
        for name, replicas in cluster.topic_names().items()
        if fnmatchcase(name, pattern) and not (hidden and name.startswith("__"))
    ]
    if output != "table":
        print_data(
            output,
            [
                {"topic": name, "partitions": count, "replication_factor": factor}
                for name, count, factor in rows
            ],
        )
    elif rows:
        click.echo(columns(("TOPIC", "PARTITIONS", "REPLICATION FACTOR"), rows))
    else:
        click.echo("No topics." if pattern == "*" else f"No topic matches '{pattern}'.", err=True)
