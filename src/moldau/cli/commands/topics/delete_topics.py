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


@click.command("delete-records")
@click.argument("partitions", metavar="[TOPIC[:PARTITIONS]]...", nargs=-1, type=TopicPartitions())
@click.option("--before-offset", type=click.IntRange(min=0), metavar="N", help="Those with smaller offsets.")
@click.option(
    "--before-time", type=Timestamp(), help="Those before the first that was written then or later."
)
@click.option("--all", "everything", is_flag=True, help="All that is there now.")
@click.option(
    "--from-file",
    "path",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="What to delete where, in the JSON of kafka-delete-records --offset-json-file; offset -1 is all.",
)
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
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
    """Delete the oldest records of TOPIC, or of TOPIC:0,2; the topic stays. Deleted records cannot be had back."""
    if (before_offset is not None) + (before_time is not None) + everything + (path is not None) != 1:
        raise click.UsageError("Pass one of --before-offset, --before-time, --all and --from-file.")
    if bool(partitions) == (path is not None):
        raise click.UsageError("Name topics, or pass --from-file, which names them itself.")
    if path is not None:
        ends = _ends_of(cluster, path)
    else:
        places = choose_partitions(cluster, partitions)
        ends = _ends(cluster, places, before_offset, before_time)
    if not yes:
        confirm(f"Delete records of {_named(ends)}? They cannot be had back.", "nothing was deleted.")
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
    """Up to where each partition loses its records, not including."""
    if before_time is not None:
        found = find_offsets(cluster, places, OffsetSpec.for_timestamp(before_time))
        # No record is that young: all of them are older.
        return {place: at.offset if at.offset >= 0 else HIGH_WATERMARK for place, at in found.items()}
    if before_offset is not None and len(places) > 1:
        raise click.UsageError(
            f"Offset {before_offset} is a different place in each of {len(places)} partitions: name one, as "
            f"{places[0].topic}:0, or pass --before-time."
        )
    return dict.fromkeys(places, HIGH_WATERMARK if before_offset is None else before_offset)


def _ends_of(cluster: Cluster, path: Path) -> Mapping[TopicPartition, int]:
    entries = DELETION.read(path)
    ends = {TopicPartition(each["topic"], each["partition"]): each["offset"] for each in entries}
    if not ends:
        raise Failure(f"{path} names no partition.", f"It should look like this: {DELETION.example}")
    if len(ends) < len(entries):
        raise Failure(f"{path} names a partition twice.", "Name each once, with the offset to delete up to.")
    choose_partitions(cluster, [(topic, [partition]) for topic, partition in ends])
    return ends


def _named(ends: Mapping[TopicPartition, int]) -> str:
    topics = sorted({place.topic for place in ends})
    return f"{counted(len(ends), 'partition')} of " + ", ".join(f"'{topic}'" for topic in topics)


def _delete(
    cluster: Cluster, ends: Mapping[TopicPartition, int]
) -> tuple[list[dict[str, str | int]], list[Failure]]:
    """Where the logs begin now, and what was refused: each partition has its own answer."""
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
        hint = f"`moldau offsets {place.topic}` shows where the log begins and ends."
    elif failure.code == KafkaError.POLICY_VIOLATION:
        hint = "A topic that is only compacted keeps the last record of each key: write tombstones instead."
    else:
        return failure
    return Failure(failure.message, hint, failure.code)
