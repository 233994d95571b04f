"""Where a stream goes: into another stream, a topic or a table."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from moldau.pipeline.plan.nodes import Merge, Sink, TableSource
from moldau.pipeline.serdes.serde import Serde
from moldau.pipeline.streams.table import KTable

if TYPE_CHECKING:
    from moldau.pipeline.streams.stream import KStream


def merged(stream: "KStream", others: "Sequence[KStream]", name: str | None) -> "KStream":
    where = stream._draft.here()
    for other in others:
        stream._draft.check_builder(other, where)
        other._keys(stream.key_serde if stream._key_sure else None, where)
        other._values(stream.value_serde if stream._value_sure else None, where)
    parents = (stream.node, *(other.node for other in others))
    result = stream._same(Merge(**{**stream._next("KSTREAM-MERGE", name), "parents": parents}))
    result._sources = tuple(dict.fromkeys(topic for one in (stream, *others) for topic in one._sources))
    result._rekeyed = stream._rekeyed or any(other._rekeyed for other in others)
    return result


def write(
    stream: "KStream",
    topic: str | Callable[..., str],
    key: Serde | None,
    value: Serde | None,
    partition_of: Callable[..., int] | None,
    name: str | None,
) -> None:
    fields = stream._next("KSTREAM-SINK", name)
    stream._draft.add(
        Sink(
            **fields,
            topic=topic if isinstance(topic, str) else None,
            topic_of=None if isinstance(topic, str) else topic,
            key_serde=stream._keys(key, fields["where"]),
            value_serde=stream._values(value, fields["where"]),
            partition_of=partition_of,
        )
    )


def to_table(
    stream: "KStream",
    store: str | None,
    key: Serde | None,
    value: Serde | None,
    history_ms: int | None,
    name: str | None,
) -> KTable[Any, Any]:
    draft, where = stream._draft, stream._draft.here()
    keys, values = stream._keys(key, where), stream._values(value, where)
    table_name = draft.name("KSTREAM-TOTABLE", name)
    latent = draft.table_store(store, "KSTREAM-TOTABLE-STATE-STORE", keys, values, history_ms, where)
    parent, sources = stream.node, stream._sources
    if stream._rekeyed:
        parent, topic = stream._through_topic(table_name, keys, values, where)
        sources = (topic,)
    kept = None if store is None and history_ms is None else latent
    draft.add(TableSource(name=table_name, parents=(parent,), where=where, store=kept), latent)
    return KTable(draft, table_name, keys, values, sources)
