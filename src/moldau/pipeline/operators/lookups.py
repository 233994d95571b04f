"""Joins in which a stream looks into a table: the table of its own partition, or a global one.

A change of the table joins nothing; only what comes later sees it.
"""

from typing import Any

from moldau.pipeline.operators.records import Headers
from moldau.pipeline.operators.stream_joins import with_key
from moldau.pipeline.operators.wiring import Push, Wiring, builds, of_record
from moldau.pipeline.plan.nodes import JoinKind, StreamGlobalJoin, StreamTableJoin


@builds(StreamTableJoin)
def stream_table_join(node: StreamTableJoin, wiring: Wiring) -> list[Push]:
    """A left join keeps a record without a key (KIP-962); nobody joins a null value."""
    forward, lookup = wiring.downstream(node), wiring.getter(node.table)
    joiner, takes_key, left = node.joiner, node.with_key, node.kind is JoinKind.LEFT

    def push(key: Any, value: Any, timestamp_ms: int, headers: Headers) -> None:
        if value is None or (key is None and not left):
            return
        found = None if key is None else lookup(key)
        if found is not None:
            other = found[0]
        elif left:
            other = None
        else:
            return
        result = joiner(key, value, other) if takes_key else joiner(value, other)
        forward(key, result, timestamp_ms, headers)

    return [push]


@builds(StreamGlobalJoin)
def stream_global_join(node: StreamGlobalJoin, wiring: Wiring) -> list[Push]:
    forward, lookup = wiring.downstream(node), wiring.getter(node.table)
    key_of, join, left = (
        of_record(node.selector),
        with_key(node.joiner, node.with_key),
        node.kind is JoinKind.LEFT,
    )

    def push(key: Any, value: Any, timestamp_ms: int, headers: Headers) -> None:
        if value is None:
            return
        foreign = key_of(key, value, timestamp_ms)
        found = None if foreign is None else lookup(foreign)
        if found is None and not left:
            return
        forward(key, join(key, value, None if found is None else found[0]), timestamp_ms, headers)

    return [push]
