"""BranchedStream: a stream that is being split into branches."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Generic

from moldau.core.errors import ConfigError
from moldau.pipeline.plan.expressions import Expression
from moldau.pipeline.plan.nodes import Arm, Node, Rule, Split
from moldau.pipeline.serdes.kinds import K, V

if TYPE_CHECKING:
    from moldau.pipeline.streams.stream import KStream


class BranchedStream(Generic[K, V]):
    """A stream that is being split: each record goes to the first branch whose predicate is true."""

    def __init__(self, stream: "KStream[K, V]", name: str | None) -> None:
        draft = stream._draft
        self._stream = stream
        self._split = draft.add(Split(**stream._next("KSTREAM-BRANCH", name), predicates=()))
        self._branches: dict[str, KStream[K, V]] = {}

    def branch(
        self, predicate: Callable[[K, V], object] | Expression, name: str | None = None
    ) -> "BranchedStream[K, V]":
        """Adds a branch. Without a name, it is named by its number, from 1."""
        self._add(predicate, name or str(len(self._branches) + 1))
        return self

    def rest(self, name: str = "0") -> dict[str, "KStream[K, V]"]:
        """Adds a last branch for the records that matched none. Returns all branches by name."""
        self._add(None, name)
        return self._branches

    def no_rest(self) -> dict[str, "KStream[K, V]"]:
        """Drops the records that matched no branch. Returns all branches by name."""
        return self._branches

    def _add(self, predicate: Rule | None, name: str) -> None:
        draft = self._stream._draft
        where = draft.here()
        if name in self._branches:
            raise ConfigError(f"{where}: the branch {name!r} exists already; give it another name")
        split = draft.nodes[self._split.name]
        assert isinstance(split, Split)
        if any(one is None for one in split.predicates):
            raise ConfigError(f"{where}: branch {name!r} comes after the rest and would get nothing")
        draft.change(split.name, predicates=(*split.predicates, predicate))
        arm: Node = Arm(
            name=f"{split.name}-{name}", parents=(split.name,), where=where, index=len(split.predicates)
        )
        self._branches[name] = self._stream._same(arm)
