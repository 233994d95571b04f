"""Which records of a topic a table has: offsets in the properties of snapshots. Pure.

Each snapshot of the sink has the end offset of every topic partition that the connector has written to the table. They
become visible with the rows, or not at all. A task looks them up in the snapshot that it commits behind and leaves out
rows that the table has; the catalog refuses the commit if another snapshot has come in between.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from moldau.pipeline.connect.api import TopicPartition

PREFIX: Final = "moldau.connect.offsets."

Ends = dict[TopicPartition, int]


def property_of(connector: str) -> str:
    return f"{PREFIX}{connector}"


def ends_in(summaries: Iterable[Mapping[str, str]], table: Mapping[str, str], name: str) -> Ends:
    """`summaries` are the properties of the current snapshot and those before it; other writers' have no offsets. The
    table's own properties count when the snapshots with offsets have expired."""
    for one in summaries:
        if name in one:
            return _parsed(one[name])
    return _parsed(table[name]) if name in table else {}


def text_of(ends: Ends) -> str:
    """Sorted, so that equal offsets have equal texts."""
    topics: dict[str, dict[str, int]] = {}
    for place, end in sorted(ends.items()):
        topics.setdefault(place.topic, {})[str(place.partition)] = end
    return json.dumps(topics)


def _parsed(text: str) -> Ends:
    topics: Mapping[str, Mapping[str, Any]] = json.loads(text)
    return {
        TopicPartition(topic, int(partition)): int(end)
        for topic, ends in topics.items()
        for partition, end in ends.items()
    }
