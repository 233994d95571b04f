"""A topology that is wired manually from sources, processors, stores and sinks: Kafka Streams' `Topology` class."""

from collections.abc import Callable, Mapping
from typing import Any

from moldau.core.errors import ConfigError
from moldau.pipeline.plan.handlers import ErrorHandlers
from moldau.pipeline.plan.location import Location
from moldau.pipeline.plan.nodes import Process, Rule, Sink
from moldau.pipeline.plan.topology import Guarantee, Topology
from moldau.pipeline.serdes.primitives import JSON, STRING
from moldau.pipeline.serdes.serde import Serde
from moldau.pipeline.streams.builder import StreamsBuilder, near


class TopologyBuilder:
    """Each node names its parents, and each method returns the builder. `build()` returns a `Topology` like any
    other."""

    def __init__(self, application_id: str = "app", *, key: Serde = STRING, value: Serde = JSON) -> None:
        self._builder = StreamsBuilder(application_id, key=key, value=value)
        self._draft = self._builder._draft

    def add_source(
        self,
        name: str,
        *topics: Any,
        key: Serde | None = None,
        value: Serde | None = None,
        timestamp: Rule | str | None = None,
        offset_reset: str = "earliest",
    ) -> "TopologyBuilder":
        """Reads topics by name, or those of one pattern."""
        self._builder.stream(
            *topics, key=key, value=value, timestamp=timestamp, offset_reset=offset_reset, name=name
        )
        return self

    def add_processor(self, name: str, supplier: Callable[[], Any], *parents: str) -> "TopologyBuilder":
        """`supplier()` creates a processor for each task."""
        where = self._draft.here()
        self._check_parents(name, parents, where)
        self._draft.add(Process(name=name, parents=parents, where=where, supplier=supplier))
        return self

    def add_sink(
        self,
        name: str,
        topic: str | Callable[[Any, Any, Any], str],
        *parents: str,
        key: Serde | None = None,
        value: Serde | None = None,
        partition_of: Callable[[str, Any, Any], int] | None = None,
    ) -> "TopologyBuilder":
        """`topic` may be a function of (key, value, context); `partition_of(topic, key, value)` chooses partitions."""
        draft, where = self._draft, self._draft.here()
        self._check_parents(name, parents, where)
        draft.add(
            Sink(
                name=name,
                parents=parents,
                where=where,
                topic=None if callable(topic) else topic,
                topic_of=topic if callable(topic) else None,
                key_serde=key or draft.key_serde,
                value_serde=value or draft.value_serde,
                partition_of=partition_of,
            )
        )
        return self

    def add_state_store(
        self,
        name: str,
        *processors: str,
        key: Serde | None = None,
        value: Serde | None = None,
        window_ms: int | None = None,
        retention_ms: int = 0,
        history_ms: int | None = None,
        sessions: bool = False,
    ) -> "TopologyBuilder":
        """Adds a store like `StreamsBuilder.add_store`, and connects the processors that use it."""
        self._builder.add_store(
            name,
            key=key,
            value=value,
            window_ms=window_ms,
            retention_ms=retention_ms,
            history_ms=history_ms,
            sessions=sessions,
        )
        for processor in processors:
            self.connect_processor_and_stores(processor, name)
        return self

    def add_read_only_store(
        self,
        name: str,
        topic: str,
        *processors: str,
        key: Serde | None = None,
        value: Serde | None = None,
        timestamp: Rule | str | None = None,
    ) -> "TopologyBuilder":
        """A store that is filled from a topic (KIP-813), partition by partition. The topic is its changelog."""
        self._builder.table(
            topic, key=key, value=value, timestamp=timestamp, store=name, name=f"{name}-table"
        )
        for processor in processors:
            self.connect_processor_and_stores(processor, name)
        return self

    def add_global_store(
        self,
        name: str,
        topic: str,
        *,
        key: Serde | None = None,
        value: Serde | None = None,
        timestamp: Rule | str | None = None,
    ) -> "TopologyBuilder":
        """A store that is filled from a whole topic. Every processor that has a store can read it."""
        self._builder.global_table(topic, key=key, value=value, timestamp=timestamp, store=name)
        return self

    def connect_processor_and_stores(self, processor: str, *stores: str) -> "TopologyBuilder":
        where, node = self._draft.here(), self._draft.nodes.get(processor)
        if not isinstance(node, Process):
            known = [one.name for one in self._draft.nodes.values() if isinstance(one, Process)]
            hint = near(processor, known, "add it with add_processor() first")
            raise ConfigError(f"{where}: there is no processor {processor!r} to connect a store to; {hint}")
        self._draft.change(processor, uses=tuple(dict.fromkeys((*node.uses, *stores))))
        return self

    def build(
        self,
        partitions: Mapping[str, int] | None = None,
        *,
        guarantee: Guarantee | str = Guarantee.EXACTLY_ONCE,
        error_handlers: ErrorHandlers | None = None,
    ) -> Topology:
        return self._builder.build(partitions, guarantee=guarantee, error_handlers=error_handlers)

    def _check_parents(self, name: str, parents: tuple[str, ...], where: Location) -> None:
        if not parents:
            raise ConfigError(f"{where}: {name!r} has no parents: name the nodes whose records it receives")
        for parent in parents:
            if parent not in self._draft.nodes:
                hint = near(parent, self._draft.nodes, "add it before")
                raise ConfigError(
                    f"{where}: {name!r} has the parent {parent!r}, which does not exist; {hint}"
                )
            if isinstance(self._draft.nodes[parent], Sink):
                raise ConfigError(f"{where}: {name!r} cannot follow {parent!r}: nothing follows a sink")
