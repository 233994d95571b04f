"""The input of a task: which source decodes which topic, and how the queues are merged.

Records are processed in Kafka Streams' order: from the queue whose next record has the lowest order time. Ties go to
tables before streams, then to sources in the order of their creation, then by topic, partition and writer. So the order
does not depend on how the input is divided into batches.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from moldau.pipeline.operators.decoding import Decoded
from moldau.pipeline.operators.wiring import Push, Wiring
from moldau.pipeline.plan.expressions import Expression
from moldau.pipeline.plan.nodes import Source, TableSource

Rank = tuple[int, int]


@dataclass(slots=True)
class Input:
    """Sources that decode one topic in the same way."""

    source: Source
    push: Push
    rank: Rank
    has_siblings: bool
    """Whether other sources decode the same topic in another way."""


@dataclass(slots=True)
class Queue:
    input: Input
    rows: Decoded


def inputs_of(wiring: Wiring) -> dict[str, list[Input]]:
    """By topic."""
    readers: dict[str, list[list[tuple[int, Source]]]] = {}
    for position, source in enumerate(wiring.part.sources()):
        for topic in source.topics:
            alike = readers.setdefault(topic, [])
            same = next((group for group in alike if _read_alike(group[0][1], source)), None)
            if same is None:
                alike.append([(position, source)])
            else:
                same.append((position, source))
    return {
        topic: [_input(group, wiring, has_siblings=len(groups) > 1) for group in groups]
        for topic, groups in readers.items()
    }


def merged(queues: Sequence[Queue]) -> Iterator[tuple[Queue, int, int]]:
    """Runs of records from one queue, as (queue, first index, end index), for as long as its head is the lowest.

    A record behind a higher one in its own queue has to wait for it, so its order time counts as the highest before it.
    The merge is then one sort, by the highest order time so far and the rank of the queue, combined in one number.
    """
    queues = sorted(queues, key=_rank)
    count = len(queues)
    places: list[int] = []
    for rank, queue in enumerate(queues):
        places += [highest_ms * count + rank for highest_ms in accumulate(queue.rows.order_ms, max)]
    places.sort()
    ranks = [place % count for place in places]
    positions = [0] * count
    at, size = 0, len(ranks)
    while at < size:
        rank, end = ranks[at], at + 1
        while end < size and ranks[end] == rank:
            end += 1
        start = positions[rank]
        positions[rank] = start + end - at
        yield queues[rank], start, positions[rank]
        at = end


def _rank(queue: Queue) -> tuple[Rank, str, int, str]:
    columns = queue.rows.columns
    return queue.input.rank, columns.topic, columns.partition, columns.writer


def _input(group: list[tuple[int, Source]], wiring: Wiring, *, has_siblings: bool) -> Input:
    is_table = any(isinstance(child, TableSource) for _, source in group for child in wiring.children(source))
    pushes = [wiring.inputs(source.name)[0] for _, source in group]
    position, source = group[0]
    return Input(source, _to_all(pushes), (not is_table, position), has_siblings)


def _read_alike(one: Source, other: Source) -> bool:
    if one.key_serde != other.key_serde or one.value_serde != other.value_serde:
        return False
    if isinstance(one.timestamp, Expression) and isinstance(other.timestamp, Expression):
        return str(one.timestamp) == str(other.timestamp)
    return one.timestamp is other.timestamp


def _to_all(pushes: list[Push]) -> Push:
    if len(pushes) == 1:
        return pushes[0]

    def to_all(*record: object) -> None:
        for push in pushes:
            push(*record)

    return to_all
