"""The argument TOPIC or TOPIC:0,2: parsed, and checked against the cluster."""

from collections.abc import Iterable, Sequence
from typing import Any

import click
from click.shell_completion import CompletionItem

from moldau.cli.client.connection import Cluster
from moldau.cli.failures import Failure
from moldau.cli.options import complete_topic
from moldau.cli.render.output import counted
from moldau.core.ids import TopicPartition


class TopicPartitions(click.ParamType[tuple[str, Sequence[int]]]):
    """`orders` means all its partitions (an empty list), `orders:0,2` two of them."""

    name = "topic[:partitions]"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, Sequence[int]]:
        if isinstance(value, tuple):
            return value
        topic, separator, numbers = str(value).partition(":")
        if separator:
            parts = [number.strip() for number in numbers.split(",")]
            if not all(part.isdecimal() for part in parts):
                self.fail(f"'{value}' is not a list of partitions: write TOPIC:0,2.", param, ctx)
            return topic, [int(part) for part in parts]
        return topic, []

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        return [CompletionItem(name) for name in complete_topic(ctx, param, incomplete)]


def choose_partitions(
    cluster: Cluster, wanted: Iterable[tuple[str, Sequence[int]]]
) -> Sequence[TopicPartition]:
    """The partitions named, or all partitions of a topic named alone. Raises Failure if one does not exist."""
    counts: dict[str, int] = {}
    chosen: set[TopicPartition] = set()
    for topic, partitions in wanted:
        if topic not in counts:
            counts[topic] = len(cluster.describe_topic(topic).partitions)
        for partition in partitions or range(counts[topic]):
            if partition >= counts[topic]:
                raise no_such_partition(topic, partition, counts[topic])
            chosen.add(TopicPartition(topic, partition))
    return sorted(chosen)


def no_such_partition(topic: str, partition: int, count: int, hint: str | None = None) -> Failure:
    return Failure(
        f"topic '{topic}' has no partition {partition}: it has {counted(count, 'partition')}, counted from 0.",
        hint,
    )
