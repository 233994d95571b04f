"""`moldau groups delete-offsets`: deletes committed offsets of some topics (KIP-496)."""

from collections import defaultdict
from collections.abc import Sequence

import click
from confluent_kafka import KafkaError

from moldau.cli.client.connection import Cluster
from moldau.cli.client.group_queries import committed_offsets, describe_group
from moldau.cli.client.wire import GROUP
from moldau.cli.confirmation import confirm
from moldau.cli.failures import Failure, refused
from moldau.cli.options import complete_group, on_cluster
from moldau.cli.render.output import counted
from moldau.cli.topic_partitions import TopicPartitions
from moldau.core.ids import TopicPartition
from moldau.protocol.messages.groups.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
)


@click.command("delete-offsets")
@click.argument("group", shell_complete=complete_group)
@click.argument("topics", metavar="TOPIC[:PARTITIONS]...", nargs=-1, required=True, type=TopicPartitions())
@click.option("--yes", "-y", is_flag=True, help="Do not ask for confirmation.")
@on_cluster
def delete_offsets(
    cluster: Cluster, group: str, topics: Sequence[tuple[str, Sequence[int]]], yes: bool
) -> None:
    """Delete committed offsets of GROUP.

    TOPIC selects all partitions of a topic, TOPIC:0,2 two of them. Fails if a live member of the group is
    subscribed to the topic.
    """
    describe_group(cluster, group)
    places = _places(cluster, group, topics)
    names = ", ".join(f"'{topic}'" for topic in sorted({place.topic for place in places}))
    if not yes:
        question = f"Delete {counted(len(places), 'offset')} of group '{group}' in {names}?"
        confirm(question, "nothing was deleted.")
    _delete(cluster, group, places)
    click.echo(f"Deleted {counted(len(places), 'offset')} of group '{group}' in {names}.")


def _places(
    cluster: Cluster, group: str, topics: Sequence[tuple[str, Sequence[int]]]
) -> Sequence[TopicPartition]:
    """Selects among the committed offsets, because these can outlive their topics."""
    committed = committed_offsets(cluster, group)
    chosen: set[TopicPartition] = set()
    for topic, partitions in topics:
        wanted = (
            [TopicPartition(topic, partition) for partition in partitions]
            if partitions
            else [place for place in committed if place.topic == topic]
        )
        missing = next((place for place in wanted if place not in committed), None)
        if missing is not None or not wanted:
            where = f"topic '{topic}'" if missing is None else f"'{topic}' partition {missing.partition}"
            raise Failure(
                f"group '{group}' has no committed offset for {where}.",
                f"`moldau groups offsets {group}` lists its offsets. Nothing was deleted.",
            )
        chosen.update(wanted)
    return sorted(chosen)


def _delete(cluster: Cluster, group: str, places: Sequence[TopicPartition]) -> None:
    doing = f"delete offsets of group '{group}'"
    by_topic: dict[str, list[OffsetDeleteRequestPartition]] = defaultdict(list)
    for topic, partition in places:
        by_topic[topic].append(OffsetDeleteRequestPartition(partition_index=partition))
    request = OffsetDeleteRequest(
        group_id=group,
        topics=[
            OffsetDeleteRequestTopic(name=topic, partitions=partitions)
            for topic, partitions in by_topic.items()
        ],
    )

    def ask() -> tuple[int, OffsetDeleteResponse]:
        coordinator = cluster.wire.coordinator(group, GROUP, doing)
        answer = cluster.wire.ask(coordinator, request, OffsetDeleteResponse, doing)
        return answer.error_code, answer

    for answered in cluster.wire.settled(ask, doing).topics:
        for part in answered.partitions:
            if part.error_code:
                where = f"{doing} for '{answered.name}' partition {part.partition_index}"
                raise refused(KafkaError(part.error_code), where)
