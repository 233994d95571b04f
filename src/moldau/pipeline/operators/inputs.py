"""The sources of a task as its input: which decode what, in which order they come, and how their queues are merged.

Records are taken in Kafka Streams' order: from the queue whose next record is lowest in order time. Among equals tables
go before streams, then sources in the order they were made, then topics, partitions and writers; so the order does not
depend on how the input was cut into batches.
"""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from moldau.pipeline.operators.decoding import Decoded
from moldau.pipeline.operators.wiring import Push, Wiring
from moldau.pipeline.plan.expressions import Expression
from moldau.pipeline.plan.nodes import Source, TableSource

Rank = tuple[int, int]


@dataclass(slots=True)
class Input:
    """Sources of one topic that read it the same way."""

    source: Source
    push: Push
    rank: Rank
    has_siblings: bool
    """Other sources read the same topic in another way."""


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


def merged(queues: Sequence[Queue]) -> Iterator[tuple[Queue, range]]:
    """Runs of records of one queue, as long as its head is the lowest."""
    queues = sorted(queues, key=_rank)
    heap = [(queue.rows.order_ms[0], rank, 0) for rank, queue in enumerate(queues) if queue.rows.order_ms]
    heapq.heapify(heap)
    while heap:
        _, rank, start = heap[0]
        queue = queues[rank]
        order_ms = queue.rows.order_ms
        size = end = len(order_ms)
        if len(heap) > 1:
            next_ms, next_rank, _ = min(heap[1:3])
            bound_ms = next_ms + (rank < next_rank)
            end = start + 1
            while end < size and order_ms[end] < bound_ms:
                end += 1
        yield queue, range(start, end)
        if end < size:
            heapq.heapreplace(heap, (order_ms[end], rank, end))
        else:
            heapq.heappop(heap)


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
