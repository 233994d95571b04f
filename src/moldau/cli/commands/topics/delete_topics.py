"""`moldau topics delete` and `delete-records`."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import click
import confluent_kafka
from confluent_kafka import KafkaError
from confluent_kafka.admin import OffsetSpec

from moldau.cli.client.connection import Cluster
from moldau.cli.client.offset_queries import find_offsets
from moldau.cli.confirmation import confirm
from moldau.cli.failures import Failure
from moldau.cli.kafka_json import DELETION
from moldau.cli.options import Timestamp, complete_topic, on_cluster
from moldau.cli.render.output import columns, counted, output_option, print_data
from moldau.cli.topic_partitions import TopicPartitions, choose_partitions
from moldau.core.ids import TopicPartition

HIGH_WATERMARK = -1


@click.command("delete")
@click.argument("topics", metavar="TOPIC...", nargs=-1, required=True, shell_complete=complete_topic)
@click.option("--yes", "-y", is_flag=True, help="Do not ask for confirmation.")
@click.option("--if-exists", is_flag=True, help="Succeed if a topic does not exist.")
@on_cluster
def delete(cluster: Cluster, topics: Sequence[str], yes: bool, if_exists: bool) -> None:
    """Delete each TOPIC with all its records."""
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


@click.command("delete-records")
@click.argument("partitions", metavar="[TOPIC[:PARTITIONS]]...", nargs=-1, type=TopicPartitions())
@click.option(
    "--before-offset", type=click.IntRange(min=0), metavar="N", help="Delete records with smaller offsets."
)
@click.option(
    "--before-time",
    type=Timestamp(),
    help="Delete records before the first one written at this time or later.",
)
@click.option("--all", "everything", is_flag=True, help="Delete all records currently in the log.")
@click.option(
    "--from-file",
    "path",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Partitions and offsets, in the JSON of kafka-delete-records --offset-json-file. Offset -1 deletes all.",
)
@click.option("--yes", "-y", is_flag=True, help="Do not ask for confirmation.")
@output_option
@on_cluster
def delete_records(
    cluster: Cluster,
    partitions: Sequence[tuple[str, Sequence[int]]],
    before_offset: int | None,
    before_time: int | None,
    everything: bool,
    path: Path | None,
    yes: bool,
    output: str,
) -> None:
    """Delete the oldest records of topics. This cannot be undone.

    TOPIC selects all partitions of a topic, TOPIC:0,2 two of them."""
    if (before_offset is not None) + (before_time is not None) + everything + (path is not None) != 1:
        raise click.UsageError("Pass one of --before-offset, --before-time, --all and --from-file.")
    if bool(partitions) == (path is not None):
        raise click.UsageError("Pass either topics or --from-file.")
    if path is not None:
        ends = _ends_of(cluster, path)
    else:
        places = choose_partitions(cluster, partitions)
        ends = _ends(cluster, places, before_offset, before_time)
    if not yes:
        confirm(f"Delete records of {_named(ends)}? This cannot be undone.", "nothing was deleted.")
    rows, failures = _delete(cluster, ends)
    if output != "table":
        print_data(output, rows)
    elif rows:
        click.echo(columns(("TOPIC", "PARTITION", "START OFFSET"), [tuple(row.values()) for row in rows]))
    if failures:
        raise failures[0]


def _ends(
    cluster: Cluster, places: Sequence[TopicPartition], before_offset: int | None, before_time: int | None
) -> Mapping[TopicPartition, int]:
    """For each partition the offset before which records are deleted."""
    if before_time is not None:
        found = find_offsets(cluster, places, OffsetSpec.for_timestamp(before_time))
        # No record is that recent: delete all.
        return {place: at.offset if at.offset >= 0 else HIGH_WATERMARK for place, at in found.items()}
    if before_offset is not None and len(places) > 1:
        raise click.UsageError(
            f"Offset {before_offset} is different in each of {len(places)} partitions: name one, for example "
            f"{places[0].topic}:0, or pass --before-time."
        )
    return dict.fromkeys(places, HIGH_WATERMARK if before_offset is None else before_offset)


def _ends_of(cluster: Cluster, path: Path) -> Mapping[TopicPartition, int]:
    entries = DELETION.read(path)
    ends = {TopicPartition(each["topic"], each["partition"]): each["offset"] for each in entries}
    if not ends:
        raise Failure(f"{path} names no partition.", f"Expected format: {DELETION.example}")
    if len(ends) < len(entries):
        raise Failure(
            f"{path} names a partition twice.",
            "List each partition once, with the offset before which to delete.",
        )
    choose_partitions(cluster, [(topic, [partition]) for topic, partition in ends])
    return ends


def _named(ends: Mapping[TopicPartition, int]) -> str:
    topics = sorted({place.topic for place in ends})
    return f"{counted(len(ends), 'partition')} of " + ", ".join(f"'{topic}'" for topic in topics)


def _delete(
    cluster: Cluster, ends: Mapping[TopicPartition, int]
) -> tuple[list[dict[str, str | int]], list[Failure]]:
    """The new log start offsets, and the failures. Partitions succeed or fail independently."""
    wanted = [confluent_kafka.TopicPartition(*place, end) for place, end in sorted(ends.items())]
    rows: list[dict[str, str | int]] = []
    failures: list[Failure] = []
    for place, future in cluster.admin.delete_records(wanted).items():
        doing = f"delete records of '{place.topic}' partition {place.partition} before offset {place.offset}"
        if place.offset == HIGH_WATERMARK:
            doing = f"delete all records of '{place.topic}' partition {place.partition}"
        try:
            done = cluster.wait(future, doing)
        except Failure as failure:
            failures.append(_with_hint(failure, place))
            continue
        rows.append({"topic": place.topic, "partition": place.partition, "start_offset": done.low_watermark})
    return rows, failures


def _with_hint(failure: Failure, place: confluent_kafka.TopicPartition) -> Failure:
    if failure.code == KafkaError.OFFSET_OUT_OF_RANGE:
        hint = f"`moldau offsets {place.topic}` shows the start and end of the log."
    elif failure.code == KafkaError.POLICY_VIOLATION:
        hint = "Records of a compacted topic cannot be deleted by offset. Write tombstones instead."
    else:
        return failure
    return Failure(failure.message, hint, failure.code)
