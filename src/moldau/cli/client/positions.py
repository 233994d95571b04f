"""Where a consumer starts and stops in each partition."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click
from confluent_kafka import OFFSET_BEGINNING, OFFSET_END, IsolationLevel
from confluent_kafka.admin import OffsetSpec

from moldau.cli.client.connection import Cluster
from moldau.cli.client.offset_queries import topic_offsets
from moldau.cli.failures import Failure

_WORDS = {
    "beginning": OFFSET_BEGINNING,
    "earliest": OFFSET_BEGINNING,
    "end": OFFSET_END,
    "latest": OFFSET_END,
}


@dataclass(frozen=True)
class Start:
    """One of: an offset, where -2 is the beginning and -1 the end; a number of records before the end; a time."""

    offset: int | None = None
    before_end: int | None = None
    timestamp_ms: int | None = None


class StartOffset(click.ParamType[Start]):
    name = "offset"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Start:
        if isinstance(value, Start):
            return value
        text = str(value).strip().lower()
        if text in _WORDS:
            return Start(offset=_WORDS[text])
        try:
            number = int(text)
        except ValueError:
            self.fail(
                f"'{value}' is not an offset: use a number, -N for the last N, beginning or end.", param, ctx
            )
        return Start(offset=number) if number >= 0 else Start(before_end=-number)


@dataclass(frozen=True)
class Span:
    """The offsets to read of one partition: from `start` to `end`, exclusive, as it was when requested."""

    start: int
    end: int


def resolve(
    cluster: Cluster, topic: str, partitions: Sequence[int], start: Start, isolation: IsolationLevel
) -> Mapping[int, Span]:
    first = topic_offsets(cluster, topic, partitions, OffsetSpec.earliest(), isolation)
    end = topic_offsets(cluster, topic, partitions, OffsetSpec.latest(), isolation)
    if start.timestamp_ms is not None:
        spec = OffsetSpec.for_timestamp(start.timestamp_ms)
        found = topic_offsets(cluster, topic, partitions, spec, isolation)
        # No record is that recent: only future records qualify.
        return {part: Span(found[part] if found[part] >= 0 else end[part], end[part]) for part in partitions}
    return {
        part: Span(start_offset(topic, part, start, first[part], end[part]), end[part]) for part in partitions
    }


def start_offset(topic: str, partition: int, start: Start, first: int, end: int) -> int:
    if start.before_end is not None:
        return max(first, end - start.before_end)
    if start.offset is None or start.offset == OFFSET_BEGINNING:
        return first
    if start.offset == OFFSET_END:
        return end
    if not first <= start.offset <= end:
        raise Failure(
            f"topic '{topic}' partition {partition} has no offset {start.offset}: "
            + (
                f"it has offsets {first} to {end - 1}."
                if end > first
                else f"it is empty, and its next offset is {end}."
            ),
            "Older records were deleted, and newer ones are not written yet.",
        )
    return start.offset
