"""What every node of a topology has, and the types of functions and choices in nodes."""

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
    """`where` is the user's line that created the node, for errors. It is not part of the node's identity."""

    name: str
    parents: tuple[str, ...] = ()
    where: Location = NOWHERE
    label: ClassVar[str] = "node"

    def stores(self) -> tuple[StoreSpec, ...]:
        """The stores that this node owns."""
        return ()

    def store_names(self) -> tuple[str, ...]:
        """The stores that this node uses, its own and others. Nodes that share a store are in one task."""
        return tuple(store.name for store in self.stores())


@dataclass(frozen=True, kw_only=True)
class StoringNode(Node):
    """A node with a store of its own."""

    store: StoreSpec

    def stores(self) -> tuple[StoreSpec, ...]:
        return (self.store,)
