"""The topology while it is being built: its nodes so far, names, and what other nodes need of a table.

A table gets a store, and sends old values, only if another node needs that. Each need is resolved at once and
propagates to the parents in Kafka Streams' order, because that decides which tombstones are emitted.
"""

from dataclasses import replace
from typing import Any, TypeVar

from moldau.core.errors import ConfigError
from moldau.pipeline.plan.location import Location, callers_location
from moldau.pipeline.plan.nodes import (
    Aggregate,
    Node,
    Process,
    RepartitionTopic,
    Suppress,
    TableAggregate,
    TableFilter,
    TableJoin,
    TableMapValues,
    TableMerge,
    TableNode,
    TableSource,
    TableTransformValues,
)
from moldau.pipeline.plan.stores import StoreKind, StoreSpec
from moldau.pipeline.serdes.serde import Serde
from moldau.pipeline.streams.checks import check_node

N = TypeVar("N", bound=Node)


class Draft:
    def __init__(self, application_id: str, key_serde: Serde, value_serde: Serde) -> None:
        self.application_id = application_id
        self.key_serde = key_serde
        self.value_serde = value_serde
        self.nodes: dict[str, Node] = {}
        self.repartition_topics: list[RepartitionTopic] = []
        self.copartitioned: list[tuple[tuple[str, ...], Location]] = []
        self.user_stores: dict[str, tuple[StoreSpec, Location]] = {}
        self._latent: dict[str, StoreSpec] = {}
        self._numbers = 0

    def name(self, prefix: str, given: str | None = None) -> str:
        """The user's name, or the next generated one, in Kafka's format."""
        if given is not None:
            return given
        self._numbers += 1
        return f"{prefix}-{self._numbers - 1:010d}"

    def add(self, node: N, latent_store: StoreSpec | None = None) -> N:
        """`latent_store` is the store that a table gets once another node needs it."""
        check_node(node)
        if node.name in self.nodes:
            raise ConfigError(
                f"{node.where}: the name {node.name!r} is taken by the {self.nodes[node.name].label} made at "
                f"{self.nodes[node.name].where}; give one of them another"
            )
        for store in node.stores():
            self._check_store_name(store, node)
        self.nodes[node.name] = node
        if latent_store is not None:
            self._latent[node.name] = latent_store
        return node

    def add_topic(self, topic: RepartitionTopic, where: Location) -> None:
        if topic.partitions < 0:
            raise ConfigError(
                f"{where}: a topic cannot have {topic.partitions} partitions; leave partitions= out"
            )
        if any(one.name == topic.name for one in self.repartition_topics):
            raise ConfigError(
                f"{where}: the application has a topic {topic.name} already, named by another operator; "
                "give this one another name="
            )
        self.repartition_topics.append(topic)

    def table_store(
        self,
        given: str | None,
        prefix: str,
        key: Serde,
        value: Serde,
        history_ms: int | None,
        where: Location,
    ) -> StoreSpec:
        """The store of a table, with the user's name (then it can be queried) or the next generated one."""
        if history_ms is not None and history_ms < 0:
            raise ConfigError(f"{where}: history_ms must not be negative, not {history_ms}")
        kind = StoreKind.KEY_VALUE if history_ms is None else StoreKind.VERSIONED
        return StoreSpec(
            self.name(prefix, given), kind, key, value, history_ms or 0, queryable=given is not None
        )

    def change(self, name: str, **fields: Any) -> None:
        changed = replace(self.nodes[name], **fields)
        check_node(changed)
        self.nodes[name] = changed

    def need_values(self, table: str) -> None:
        """Another node looks rows of this table up: it must be readable, with its own store or its parents'."""
        node = self.nodes[table]
        if isinstance(node, TableSource):
            if node.store is None:
                self.change(table, store=self._latent[table])
        elif isinstance(node, TableNode) and node.store is not None:
            return
        elif isinstance(node, TableFilter | TableMapValues | TableTransformValues | TableJoin | Suppress):
            for parent in node.parents:
                self.need_values(parent)

    def need_old_values(self, table: str, *, force: bool = True) -> bool:
        """Makes a table send old values; without `force` only if it needs no new store for that. Returns whether it
        will."""
        node = self.nodes[table]
        match node:
            case TableSource():
                if node.store is None:
                    if not force:
                        return False
                    self.need_values(table)
            case TableJoin() | TableMerge():
                for parent in node.parents:
                    self.need_old_values(parent)
                if isinstance(node, TableMerge):
                    return True
            case Suppress() | TableNode(store=None):
                if not self.need_old_values(node.parents[0], force=force):
                    return False
            case Aggregate() | TableAggregate() | TableNode():
                pass
            case _:
                raise ConfigError(f"{node.name} ({node.label}) is no table")
        self.change(table, send_old_values=True)
        return True

    def check_builder(self, other: object, where: Location) -> None:
        """Streams and tables that are combined must come from one builder."""
        if getattr(other, "_draft", None) is not self:
            raise ConfigError(f"{where}: the two sides come from two builders; create both with one")

    def _check_store_name(self, store: StoreSpec, node: Node) -> None:
        if store.name in self.user_stores and not isinstance(node, Process):
            raise ConfigError(
                f"{node.where}: the store {store.name!r} was added before, at {self.user_stores[store.name][1]}; "
                "give one of them another name"
            )
        for other in self.nodes.values():
            if any(one.name == store.name and one is not store for one in other.stores()):
                raise ConfigError(
                    f"{node.where}: the store {store.name!r} exists already, made at {other.where}; "
                    "give one of them another name"
                )

    @staticmethod
    def here() -> Location:
        """The current line of the user's program."""
        return callers_location()
