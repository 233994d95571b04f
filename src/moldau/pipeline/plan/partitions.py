"""The partition counts of internal topics, and the check that joined topics have equal ones."""

from collections.abc import Mapping

from moldau.core.errors import ConfigError
from moldau.pipeline.plan.location import NOWHERE, Location
from moldau.pipeline.plan.nodes import Sink
from moldau.pipeline.plan.topology import Topology


def settle_partitions(topology: Topology, known: Mapping[str, int]) -> dict[str, int]:
    """The partition counts of the repartition topics, from those of the source topics, as far as these are known.

    A repartition topic without a count gets the count of the topics that it is joined with, else that of its inputs.
    Raises ConfigError with the user's line if joined topics have different counts.
    """
    fixed = {topic.name: topic.partitions for topic in topology.repartition_topics if topic.partitions}
    counts = {**known, **fixed}
    free = {topic.name for topic in topology.repartition_topics if not topic.partitions}
    for _ in range(len(free) + 1):
        for group, where in _groups(topology):
            _agree(group, where, counts, free)
        for topic in free - counts.keys():
            inflow = _inflow(topology, topic, counts)
            if inflow and not any(topic in group and _known(group, counts) for group, _ in _groups(topology)):
                counts[topic] = inflow
    for group, where in _groups(topology):
        _agree(group, where, counts, free)
    return {topic: count for topic, count in counts.items() if topic in topology.internal_topics}


def _groups(topology: Topology) -> list[tuple[tuple[str, ...], Location]]:
    places = topology.copartitioned_at or (NOWHERE,) * len(topology.copartitioned)
    return list(zip(topology.copartitioned, places, strict=True))


def _known(group: tuple[str, ...], counts: Mapping[str, int]) -> list[str]:
    return [topic for topic in group if topic in counts]


def _agree(group: tuple[str, ...], where: Location, counts: dict[str, int], free: set[str]) -> None:
    given = {topic: counts[topic] for topic in _known(group, counts) if topic not in free}
    if len(set(given.values())) > 1:
        listed = ", ".join(f"{topic} {count}" for topic, count in sorted(given.items()))
        raise ConfigError(
            f"{where}: the joined topics have different numbers of partitions ({listed}), so equal keys do not meet; "
            "repartition one side to the number of the other: repartition(partitions=...)"
        )
    if given:
        count = next(iter(given.values()))
        counts.update({topic: count for topic in group if topic in free})
        return
    found = [counts[topic] for topic in group if topic in counts]
    if found:
        counts.update({topic: max(found) for topic in group if topic in free})


def _inflow(topology: Topology, topic: str, counts: Mapping[str, int]) -> int:
    """The largest partition count among the sources of the sub-topologies that write to this topic."""
    writers = [
        part
        for part in topology.sub_topologies
        if any(isinstance(node, Sink) and node.topic == topic for node in part.nodes)
    ]
    return max((counts.get(source, 0) for part in writers for source in part.source_topics), default=0)
