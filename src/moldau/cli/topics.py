"""`moldau topics`: create, list, describe, alter, delete."""

import time
from collections.abc import Sequence
from fnmatch import fnmatchcase

import click
from confluent_kafka import KafkaError
from confluent_kafka.admin import (
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    ResourceType,
    TopicDescription,
)

from moldau.cli.cluster import POLL_S, Cluster
from moldau.cli.confirmation import confirm
from moldau.cli.failures import Failure
from moldau.cli.options import KeyValue, complete_topic, on_cluster
from moldau.cli.output import columns, counted, output_option, print_json
from moldau.cli.topic_report import TopicReport

topic_argument = click.argument("topic", shell_complete=complete_topic)


@click.group("topics")
def command() -> None:
    """Create, list, describe, alter and delete topics."""


@command.command("create")
@click.argument("topic")
@click.option("--partitions", type=click.IntRange(min=1), help="Left out: the brokers' num.partitions.")
@click.option(
    "--replication-factor",
    type=click.IntRange(min=1),
    help="Left out: the brokers' default.replication.factor.",
)
@click.option("--config", "configs", type=KeyValue(), multiple=True, help="A topic setting; may be repeated.")
@click.option("--if-not-exists", is_flag=True, help="Leave an existing topic as it is, and be content.")
@click.option("--dry-run", is_flag=True, help="Let the brokers check the request, create nothing.")
@on_cluster
def create(
    cluster: Cluster,
    topic: str,
    partitions: int | None,
    replication_factor: int | None,
    configs: Sequence[tuple[str, str]],
    if_not_exists: bool,
    dry_run: bool,
) -> None:
    """Create TOPIC."""
    wanted = NewTopic(topic, partitions or -1, replication_factor or -1, config=dict(configs))
    futures = cluster.admin.create_topics([wanted], validate_only=dry_run)
    try:
        cluster.wait(futures[topic], f"create topic '{topic}'")
    except Failure as failure:
        if not (if_not_exists and failure.code == KafkaError.TOPIC_ALREADY_EXISTS):
            raise
        click.echo(f"Topic '{topic}' exists already.")
        return
    if dry_run:
        click.echo(f"Topic '{topic}' can be created.")
        return
    created = _await_topic(cluster, topic)
    replicas = len(created.partitions[0].replicas)
    click.echo(
        f"Created topic '{topic}' with {counted(len(created.partitions), 'partition')}, "
        f"replication factor {replicas}."
    )


def _await_topic(cluster: Cluster, topic: str) -> TopicDescription:
    """Brokers learn of a new topic a moment after the controller made it; a next command may be for them."""
    deadline = time.monotonic() + cluster.timeout_s
    while time.monotonic() < deadline:
        found = cluster.find_topic(topic)
        if found is not None and found.partitions and all(part.leader for part in found.partitions):
            return found
        time.sleep(POLL_S)
    raise Failure(
        f"topic '{topic}' was created, but has no leader for every partition after {cluster.timeout_s:g} s.",
        f"`moldau topics describe {topic}` shows which are missing.",
    )


@command.command("list")
@click.argument("pattern", default="*")
@click.option("--internal", is_flag=True, help="Kafka's own topics too.")
@output_option
@on_cluster
def list_topics(cluster: Cluster, pattern: str, internal: bool, output: str) -> None:
    """List the topics, or those whose name matches PATTERN (`orders-*`)."""
    # Kafka names all its own topics this way, and a pattern that asks for them means it.
    hidden = not internal and not pattern.startswith("__")
    rows = [
        (name, len(replicas), max(map(len, replicas), default=0))
        for name, replicas in cluster.topic_names().items()
        if fnmatchcase(name, pattern) and not (hidden and name.startswith("__"))
    ]
    if output == "json":
        print_json(
            [
                {"topic": name, "partitions": count, "replication_factor": factor}
                for name, count, factor in rows
            ]
        )
    elif rows:
        click.echo(columns(("TOPIC", "PARTITIONS", "REPLICATION FACTOR"), rows))
    else:
        click.echo("No topics." if pattern == "*" else f"No topic matches '{pattern}'.", err=True)


@command.command("describe")
@click.argument("topics", metavar="TOPIC...", nargs=-1, shell_complete=complete_topic)
@click.option(
    "--under-replicated",
    is_flag=True,
    help="Only partitions that miss a replica; of all topics if none is named.",
)
@output_option
@on_cluster
def describe(cluster: Cluster, topics: Sequence[str], under_replicated: bool, output: str) -> None:
    """Show partitions, replicas, offsets and changed settings of each TOPIC."""
    if under_replicated:
        _show_under_replicated(cluster, topics, output)
        return
    if not topics:
        raise click.UsageError("Name a topic, or pass --under-replicated.")
    reports = [TopicReport.gather(cluster, topic) for topic in topics]
    if output == "json":
        print_json([report.as_json() for report in reports])
    else:
        click.echo("\n\n".join(report.as_text() for report in reports))


def _show_under_replicated(cluster: Cluster, topics: Sequence[str], output: str) -> None:
    # Not above: most commands about topics need none of it.
    from moldau.cli.cluster_queries import picture

    missing = [part for part in picture(cluster, topics or None).partitions if part.is_under_replicated]
    if output == "json":
        print_json(
            [
                {
                    "topic": part.place.topic,
                    "partition": part.place.partition,
                    "leader": part.leader,
                    "replicas": list(part.replicas),
                    "isr": list(part.isr),
                }
                for part in missing
            ]
        )
    elif missing:
        rows = [
            (*part.place, part.leader, ",".join(map(str, part.replicas)), ",".join(map(str, part.isr)))
            for part in missing
        ]
        click.echo(columns(("TOPIC", "PARTITION", "LEADER", "REPLICAS", "ISR"), rows))
    else:
        click.echo("Every partition has all its replicas in sync.", err=True)


@command.command("alter")
@topic_argument
@click.option("--partitions", type=click.IntRange(min=1), help="Grow the topic to this many partitions.")
@click.option("--set", "to_set", type=KeyValue(), multiple=True, help="Change a setting; may be repeated.")
@click.option(
    "--unset", "to_unset", metavar="KEY", multiple=True, help="Back to the default; may be repeated."
)
@on_cluster
def alter(
    cluster: Cluster,
    topic: str,
    partitions: int | None,
    to_set: Sequence[tuple[str, str]],
    to_unset: Sequence[str],
) -> None:
    """Change settings of TOPIC, or grow it. Settings not named stay as they are."""
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
            "Keys may now map to other partitions than before."
        )


def _alter_configs(
    cluster: Cluster, topic: str, to_set: Sequence[tuple[str, str]], to_unset: Sequence[str]
) -> None:
    """KIP-339: only what is named changes."""
    entries = [ConfigEntry(key, value, incremental_operation=AlterConfigOpType.SET) for key, value in to_set]
    entries += [ConfigEntry(key, None, incremental_operation=AlterConfigOpType.DELETE) for key in to_unset]
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=entries)
    futures = cluster.admin.incremental_alter_configs([resource])
    cluster.wait(futures[resource], f"alter topic '{topic}'")


@command.command("delete")
@click.argument("topics", metavar="TOPIC...", nargs=-1, required=True, shell_complete=complete_topic)
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@click.option("--if-exists", is_flag=True, help="A topic that is not there is all right.")
@on_cluster
def delete(cluster: Cluster, topics: Sequence[str], yes: bool, if_exists: bool) -> None:
    """Delete each TOPIC and all its records."""
    found = {topic: cluster.find_topic(topic) for topic in topics}
    missing = [topic for topic, description in found.items() if description is None]
    if missing and not if_exists:
        raise cluster.unknown_topic(missing[0])
    doomed = [topic for topic in found if topic not in missing]
    if doomed and not yes:
        names = ", ".join(f"'{topic}'" for topic in doomed)
        noun = "topic" if len(doomed) == 1 else "topics"
        confirm(f"Delete {noun} {names} with all records?", "nothing was deleted.")
    for topic in missing:
        click.echo(f"There is no topic '{topic}'.")
    for topic, future in cluster.admin.delete_topics(doomed).items() if doomed else ():
        cluster.wait(future, f"delete topic '{topic}'")
        click.echo(f"Deleted topic '{topic}'.")
