"""Plans what is read: a batch query once, a stream batch by batch. Runs in the driver, except `read`, in the tasks."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql.datasource import DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)

from moldau.core.errors import ConfigError, MoldauError
from moldau.pipeline.spark.topic_offsets import TopicFacts
from moldau.spark.columns import RowLayout
from moldau.spark.options import Position, SourceOptions
from moldau.spark.range_rows import OffsetRange, read_range
from moldau.spark.topics import EARLIEST, LATEST, Offsets, Place, TopicView

if TYPE_CHECKING:
    import pyarrow as pa

FROM_EARLIEST: Final = Position(everywhere="earliest")
FROM_LATEST: Final = Position(everywhere="latest")


class TopicChanged(MoldauError):
    """A topic is not the same one as in the query's checkpoint."""


class _Reader:
    def __init__(self, source: SourceOptions, layout: RowLayout) -> None:
        self._source = source
        self._layout = layout

    def read(self, partition: InputPartition) -> "Iterator[pa.RecordBatch]":
        # Spark passes None if there is nothing to read.
        if not isinstance(partition, OffsetRange):
            return iter(())
        return read_range(self._source, self._layout, partition)


class BatchReader(_Reader, DataSourceReader):
    def partitions(self) -> Sequence[InputPartition]:
        source = self._source
        if source.starting is not None and source.starting.everywhere == "latest":
            raise ConfigError("a batch cannot start at latest: there is nothing after it yet")
        view = TopicView(source)
        places = view.places(view.require_topics())
        starts = view.resolve(source.starting or FROM_EARLIEST, places, unnamed=EARLIEST)
        ends = view.resolve(source.ending or FROM_LATEST, places, unnamed=LATEST)
        return ranges(source, starts, ends)


class StreamReader(_Reader, DataSourceStreamReader, SupportsTriggerAvailableNow):
    """An offset is `{"offsets": {topic: {partition: offset}}, "topic_ids": {topic: id}}`."""

    _view: TopicView | None = None
    _target: Offsets | None = None

    def initialOffset(self) -> dict[str, Any]:
        source = self._source
        if source.ending is not None:
            raise ConfigError("a stream has no end: endingOffsets and the like are for batches")
        facts = self._topics().require_topics()
        places = self._topics().places(facts)
        starts = self._topics().resolve(source.starting or FROM_LATEST, places, unnamed=LATEST)
        return _offset(starts, facts)

    def getDefaultReadLimit(self) -> ReadLimit:
        limit = self._source.offsets_per_trigger_max
        return ReadAllAvailable() if limit is None else ReadMaxRows(limit)

    def prepareForTriggerAvailableNow(self) -> None:
        facts = self._topics().facts()
        self._target = self._topics().latest(self._topics().places(facts))

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        facts = self._topics().facts()
        starts = self._confirmed(start, facts)
        places = self._topics().places(facts)
        ends = self._topics().latest(places)
        if self._target is not None:
            ends = {place: min(end, self._target.get(place, 0)) for place, end in ends.items()}
        # Added partitions are read from their beginning.
        starts = {place: starts.get(place, 0) for place in ends}
        ends = {place: self._not_before(starts[place], end, place) for place, end in ends.items()}
        if isinstance(limit, ReadMaxRows):
            ends = limited(starts, ends, limit.max_rows)
        return _offset(ends, facts)

    def reportLatestOffset(self) -> dict[str, Any] | None:
        facts = self._topics().facts()
        return _offset(self._topics().latest(self._topics().places(facts)), facts)

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        ends = _positions(end)
        starts = self._confirmed(start, _facts_of(end))
        # A repeated batch: the brokers must still have the topics that it was planned for.
        self._confirmed(end, self._topics().facts())
        return ranges(self._source, {place: starts.get(place, 0) for place in ends}, ends)

    def _topics(self) -> TopicView:
        if self._view is None:
            self._view = TopicView(self._source)
        return self._view

    def _confirmed(self, offset: dict[str, Any], facts: Mapping[str, TopicFacts]) -> Offsets:
        """The positions in topics that are still the same. Those of other topics are dropped if the user accepts
        that."""
        positions = _positions(offset)
        for topic, known_id in sorted(offset.get("topic_ids", {}).items()):
            found = facts.get(topic)
            if found is not None and found.topic_id == known_id:
                continue
            if self._source.fail_on_data_loss:
                raise TopicChanged(_changed(topic, known_id, found))
            positions = {place: at for place, at in positions.items() if place.topic != topic}
        return positions

    def _not_before(self, start: int, end: int, place: Place) -> int:
        if end >= start or self._target is not None or not self._source.fail_on_data_loss:
            return max(start, end)
        raise TopicChanged(
            f"{place.topic}-{place.partition} ends at offset {end}, but has been read up to {start}: the brokers have "
            "lost records. .option('failOnDataLoss', 'false') continues with later records"
        )


def ranges(source: SourceOptions, starts: Offsets, ends: Offsets) -> list[InputPartition]:
    """One range for each partition with records, or more if the user wants more tasks."""
    sizes = {place: end - starts[place] for place, end in ends.items() if end > starts[place]}
    total = sum(sizes.values())
    planned: list[InputPartition] = []
    for place, size in sorted(sizes.items()):
        pieces = 1
        if source.partitions_min is not None and source.partitions_min > len(sizes):
            pieces = max(1, round(size / total * source.partitions_min))
        if source.records_per_partition_max is not None:
            pieces = max(pieces, -(-size // source.records_per_partition_max))
        bounds = [starts[place] + size * number // pieces for number in range(pieces + 1)]
        planned += [OffsetRange(place, *pair) for pair in pairwise(bounds) if pair[0] < pair[1]]
    return planned


def limited(starts: Offsets, ends: Offsets, records_max: int) -> Offsets:
    """Limits the number of offsets, divided among partitions in proportion to their records."""
    sizes = {place: end - starts[place] for place, end in ends.items()}
    total = sum(sizes.values())
    if total <= records_max:
        return ends
    shares = {place: size * records_max // total for place, size in sizes.items()}
    rest = records_max - sum(shares.values())
    for place in sorted(sizes, key=lambda one: shares[one] - sizes[one]):
        if rest and shares[place] < sizes[place]:
            shares[place] += 1
            rest -= 1
    return {place: starts[place] + share for place, share in shares.items()}


def _offset(positions: Offsets, facts: Mapping[str, TopicFacts]) -> dict[str, Any]:
    """Always in the same order, because Spark compares the text."""
    by_topic: dict[str, dict[str, int]] = {}
    for place, offset in sorted(positions.items()):
        by_topic.setdefault(place.topic, {})[str(place.partition)] = offset
    return {"offsets": by_topic, "topic_ids": {topic: facts[topic].topic_id for topic in by_topic}}


def _positions(offset: Mapping[str, Any]) -> Offsets:
    """Also parses a checkpoint of Spark's own connector, which has no topic ids."""
    by_topic = offset["offsets"] if "topic_ids" in offset else offset
    return {
        Place(topic, int(partition)): at
        for topic, partitions in by_topic.items()
        for partition, at in partitions.items()
    }


def _facts_of(offset: Mapping[str, Any]) -> dict[str, TopicFacts]:
    positions = _positions(offset)
    return {
        topic: TopicFacts(known_id, sum(place.topic == topic for place in positions))
        for topic, known_id in offset.get("topic_ids", {}).items()
    }


def _changed(topic: str, known_id: str, found: TopicFacts | None) -> str:
    what = (
        "was deleted"
        if found is None
        else f"was deleted and created again (its id is {found.topic_id}, was {known_id})"
    )
    return (
        f"topic {topic} {what}: the offsets in the query's checkpoint are not of this topic. Start with a new "
        "checkpoint, or let .option('failOnDataLoss', 'false') read the new topic from its beginning"
    )
