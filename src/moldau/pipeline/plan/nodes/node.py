"""What every node of a topology has, and what functions and choices nodes are made with."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

from moldau.pipeline.plan.expressions import Expression
from moldau.pipeline.plan.location import NOWHERE, Location
from moldau.pipeline.plan.stores import StoreSpec

Function = Callable[..., Any]
Rule = Function | Expression
"""A function of the user, or a column expression over the record."""


class JoinKind(StrEnum):
    INNER = "inner"
    LEFT = "left"
    OUTER = "outer"


@dataclass(frozen=True, kw_only=True)
class Node:
    """`where` is the user's line that made the node: errors name it; it is no part of what the node is."""

    name: str
    parents: tuple[str, ...] = ()
    where: Location = NOWHERE
    label: ClassVar[str] = "node"

    def stores(self) -> tuple[StoreSpec, ...]:
        """Stores this node owns."""
        return ()

    def store_names(self) -> tuple[str, ...]:
        """Stores this node uses, its own and others': nodes that share a store share a task."""
        return tuple(store.name for store in self.stores())


@dataclass(frozen=True, kw_only=True)
class StoringNode(Node):
    """A node with a store of its own."""

    store: StoreSpec

    def stores(self) -> tuple[StoreSpec, ...]:
        return (self.store,)
