"""`moldau topics alter`: topic settings and the number of partitions."""

from collections.abc import Sequence

import click
from confluent_kafka.admin import (
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    ResourceType,
)

from moldau.cli.client.connection import Cluster
from moldau.cli.options import KeyValue, complete_topic, on_cluster
from moldau.cli.render.output import counted

topic_argument = click.argument("topic", shell_complete=complete_topic)


@click.command("alter")
@topic_argument
@click.option("--partitions", type=click.IntRange(min=1), help="Increase the number of partitions to this.")
@click.option("--set", "to_set", type=KeyValue(), multiple=True, help="Change a setting. Repeatable.")
@click.option(
    "--unset", "to_unset", metavar="KEY", multiple=True, help="Reset a setting to its default. Repeatable."
)
@on_cluster
def alter(
    cluster: Cluster,
    topic: str,
    partitions: int | None,
    to_set: Sequence[tuple[str, str]],
    to_unset: Sequence[str],
) -> None:
    """Change settings of TOPIC, or add partitions. Other settings stay unchanged."""
    if not (partitions or to_set or to_unset):
        raise click.UsageError("Nothing to alter: pass --partitions, --set or --unset.")
    current = cluster.describe_topic(topic)
    if to_set or to_unset:
        _alter_configs(cluster, topic, to_set, to_unset)
        changes = [f"set {key}={value}" for key, value in to_set] + [f"unset {key}" for key in to_unset]
        click.echo(f"Topic '{topic}': {', '.join(changes)}.")
    if partitions:
        doing = f"grow topic '{topic}' from {len(current.partitions)} to {counted(partitions, 'partition')}"
        futures = cluster.admin.create_partitions([NewPartitions(topic, partitions)])
        cluster.wait(futures[topic], doing)
        click.echo(
            f"Topic '{topic}': {counted(partitions, 'partition')}, before {len(current.partitions)}. "
            "Keys may now map to different partitions."
        )


def _alter_configs(
    cluster: Cluster, topic: str, to_set: Sequence[tuple[str, str]], to_unset: Sequence[str]
) -> None:
    """KIP-339: changes only the settings named."""
    entries = [ConfigEntry(key, value, incremental_operation=AlterConfigOpType.SET) for key, value in to_set]
    entries += [ConfigEntry(key, None, incremental_operation=AlterConfigOpType.DELETE) for key in to_unset]
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=entries)
    futures = cluster.admin.incremental_alter_configs([resource])
    cluster.wait(futures[resource], f"alter topic '{topic}'")
