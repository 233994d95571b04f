"""`moldau offsets`: log start and end offsets, and offsets by timestamp."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import click
from click.shell_completion import CompletionItem
from confluent_kafka import IsolationLevel
from confluent_kafka.admin import OffsetSpec

from moldau.cli.client.connection import Cluster
from moldau.cli.client.offset_queries import COMMITTED, UNCOMMITTED, FoundOffset, find_offsets
from moldau.cli.options import Timestamp, on_cluster
from moldau.cli.render.output import Cell, columns, iso_time, output_option, print_data
from moldau.cli.topic_partitions import TopicPartitions, choose_partitions
from moldau.core.ids import TopicPartition

_POSITIONS = {
    "earliest": (OffsetSpec.earliest(), UNCOMMITTED),
    "stable": (OffsetSpec.latest(), COMMITTED),
    "latest": (OffsetSpec.latest(), UNCOMMITTED),
}
MAX_TIMESTAMP = "max-timestamp"


class Question(NamedTuple):
    """With `by_time` the answer is an offset and the timestamp of its record."""

    text: str
    spec: OffsetSpec
    isolation: IsolationLevel
    by_time: bool


class Where(click.ParamType[Question]):
    name = "where"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Question:
        if isinstance(value, Question):
            return value
        text = str(value).strip()
        if text in _POSITIONS:
            return Question(text, *_POSITIONS[text], by_time=False)
        if text == MAX_TIMESTAMP:
            return Question(text, OffsetSpec.max_timestamp(), UNCOMMITTED, by_time=True)
        timestamp_ms = Timestamp().convert(text, param, ctx)
        return Question(text, OffsetSpec.for_timestamp(timestamp_ms), UNCOMMITTED, by_time=True)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        words = [*_POSITIONS, MAX_TIMESTAMP]
        return [CompletionItem(word) for word in words if word.startswith(incomplete)]


@click.command("offsets")
@click.argument("topics", metavar="TOPIC[:PARTITIONS]...", type=TopicPartitions(), nargs=-1, required=True)
@click.option(
    "--at",
    "questions",
    type=Where(),
    multiple=True,
    default=["earliest", "stable", "latest", MAX_TIMESTAMP],
    help="earliest, latest, stable, max-timestamp, or a time. Repeatable. Default: all except a time.",
)
@output_option
@on_cluster
def command(
    cluster: Cluster, topics: Sequence[tuple[str, Sequence[int]]], questions: Sequence[Question], output: str
) -> None:
    """Show offsets of all partitions of TOPIC, or of the partitions TOPIC:0,2.

    \b
    earliest       the oldest record
    latest         the next record to be written
    stable         the end for read_committed consumers: where the first open transaction begins
    max-timestamp  the record with the greatest timestamp
    a time         the first record at or after it: 15m (ago), 2026-01-31T12:00:00Z, or milliseconds since 1970
    """
    places = choose_partitions(cluster, topics)
    answers = [find_offsets(cluster, places, question.spec, question.isolation) for question in questions]
    rows = [(place, [answer[place] for answer in answers]) for place in places]
    if output != "table":
        print_data(output, [_as_json(place, questions, found) for place, found in rows])
        return
    headings = ["TOPIC", "PARTITION"]
    for question in questions:
        headings += [question.text.upper(), "TIMESTAMP"] if question.by_time else [question.text.upper()]
    click.echo(columns(headings, [_as_row(place, questions, found) for place, found in rows]))


def _as_json(
    place: TopicPartition, questions: Sequence[Question], found: Sequence[FoundOffset]
) -> dict[str, object]:
    fields: dict[str, object] = {"topic": place.topic, "partition": place.partition}
    for question, (offset, timestamp_ms, _) in zip(questions, found, strict=True):
        known = offset >= 0
        fields[question.text] = offset if known else None
        if question.by_time:
            fields[question.text] = {"offset": offset, "timestamp": timestamp_ms} if known else None
    return fields


def _as_row(
    place: TopicPartition, questions: Sequence[Question], found: Sequence[FoundOffset]
) -> Sequence[Cell]:
    cells: list[Cell] = [place.topic, place.partition]
    for question, (offset, timestamp_ms, _) in zip(questions, found, strict=True):
        known = offset >= 0
        cells.append(offset if known else None)
        if question.by_time:
            cells.append(iso_time(timestamp_ms) if known else None)
    return cells
