"""`moldau topics create`."""

import time
from collections.abc import Mapping, Sequence

import click
from confluent_kafka import KafkaError
from confluent_kafka.admin import (
    NewTopic,
    TopicDescription,
)

from moldau.cli.client.connection import POLL_S, Cluster
from moldau.cli.commands.topics.topic_names import clash_warning, parse_assignment
from moldau.cli.failures import Failure
from moldau.cli.options import KeyValue, on_cluster
from moldau.cli.render.output import counted

COLLISION_HINT = (
    "Metric names replace '.' with '_', so both would have the same metrics. Choose another name."
)
ASSIGNMENT_HINT = "Write the brokers of each partition, the preferred leader first: 0:1,1:2,2:0."


@click.command("create")
@click.argument("topic")
@click.option(
    "--partitions",
    type=click.IntRange(min=1),
    help="Number of partitions. Default: num.partitions of the brokers.",
)
@click.option(
    "--replication-factor",
    type=click.IntRange(min=1),
    help="Replicas per partition. Default: default.replication.factor of the brokers.",
)
@click.option(
    "--replica-assignment",
    "assignment",
    metavar="0:1,1:2",
    help="The brokers of each partition, preferred leader first. Replaces the two options above.",
)
@click.option("--config", "configs", type=KeyValue(), multiple=True, help="A topic setting. Repeatable.")
@click.option(
    "--if-not-exists", is_flag=True, help="Succeed if the topic already exists; leave it unchanged."
)
@click.option("--dry-run", is_flag=True, help="Let the brokers validate the request, but create nothing.")
@on_cluster
def create(
    cluster: Cluster,
    topic: str,
    partitions: int | None,
    replication_factor: int | None,
    assignment: str | None,
    configs: Sequence[tuple[str, str]],
    if_not_exists: bool,
    dry_run: bool,
) -> None:
    """Create TOPIC."""
    if assignment is not None and (partitions or replication_factor):
        raise click.UsageError(
            "--replica-assignment already determines partitions and replicas: omit --partitions and "
            "--replication-factor."
        )
    wanted = _new_topic(topic, partitions, replication_factor, assignment, dict(configs))
    futures = cluster.admin.create_topics([wanted], validate_only=dry_run)
    try:
        cluster.wait(futures[topic], f"create topic '{topic}'")
    except Failure as failure:
        if failure.code == KafkaError.TOPIC_EXCEPTION and "collides" in failure.message:
            raise Failure(failure.message, COLLISION_HINT, failure.code) from failure
        if not (if_not_exists and failure.code == KafkaError.TOPIC_ALREADY_EXISTS):
            raise
        click.echo(f"Topic '{topic}' already exists.")
        return
    _warn_of_clash(cluster, topic)
    if dry_run:
        click.echo(f"Topic '{topic}' can be created.")
        return
    created = _await_topic(cluster, topic)
    replicas = len(created.partitions[0].replicas)
    click.echo(
        f"Created topic '{topic}' with {counted(len(created.partitions), 'partition')}, "
        f"replication factor {replicas}."
    )


def _new_topic(
    topic: str,
    partitions: int | None,
    replication_factor: int | None,
    assignment: str | None,
    configs: Mapping[str, str],
) -> NewTopic:
    if assignment is None:
        return NewTopic(topic, partitions or -1, replication_factor or -1, config=dict(configs))
    try:
        replicas = parse_assignment(assignment)
    except ValueError as error:
        raise click.BadParameter(f"{error}. {ASSIGNMENT_HINT}", param_hint="--replica-assignment") from error
    return NewTopic(topic, len(replicas), replica_assignment=replicas, config=dict(configs))


def _warn_of_clash(cluster: Cluster, topic: str) -> None:
    if "." in topic or "_" in topic:
        warning = clash_warning(topic, cluster.topic_names())
        if warning is not None:
            click.echo(warning, err=True)


def _await_topic(cluster: Cluster, topic: str) -> TopicDescription:
    """Waits until the brokers know the new topic, because the next command may ask any of them."""
    deadline = time.monotonic() + cluster.timeout_s
    while time.monotonic() < deadline:
        found = cluster.find_topic(topic)
        if found is not None and found.partitions and all(part.leader for part in found.partitions):
            return found
        time.sleep(POLL_S)
    raise Failure(
        f"topic '{topic}' was created, but some partitions have no leader after {cluster.timeout_s:g} s.",
        f"`moldau topics describe {topic}` shows which.",
    )
