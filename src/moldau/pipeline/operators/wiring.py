"""Turns the nodes of a sub-topology into functions that call each other.

A *stream* function takes (key, value, timestamp_ms, headers), a *table* function (key, new, old, timestamp_ms,
headers). Each operator module registers how its nodes are built: `build(node, wiring)` gives one function per parent.
Children are called in the order they were made, depth first, as Kafka Streams forwards.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from moldau.core.errors import ConfigError
from moldau.pipeline.operators.context import RecordContext
from moldau.pipeline.operators.records import Columns
from moldau.pipeline.operators.state import TaskState
from moldau.pipeline.operators.timers import Timers
from moldau.pipeline.plan.expressions import Expression
from moldau.pipeline.plan.nodes import Node, Rule
from moldau.pipeline.plan.stores import StoreSpec
from moldau.pipeline.plan.topology import SubTopology, Topology
from moldau.pipeline.serdes.serde import Decoder, Encoder

Push = Callable[..., None]
Getter = Callable[[Any], "tuple[Any, int] | None"]
"""The present value of a key in a table, with its timestamp."""
OnFailure = Callable[[Columns, int, Exception], None]
"""(columns, index of the record in them, why)"""
N = TypeVar("N", bound=Node)

_BUILDERS: dict[type[Node], Callable[[Any, "Wiring"], list[Push]]] = {}
_GETTERS: dict[type[Node], Callable[[Any, "Wiring"], Getter]] = {}


def builds(
    kind: type[N],
) -> Callable[[Callable[[N, "Wiring"], list[Push]]], Callable[[N, "Wiring"], list[Push]]]:
    """Registers how nodes of one kind become functions."""

    def register(build: Callable[[N, "Wiring"], list[Push]]) -> Callable[[N, "Wiring"], list[Push]]:
        _BUILDERS[kind] = build
        return build

    return register


def looks_up(kind: type[N]) -> Callable[[Callable[[N, "Wiring"], Getter]], Callable[[N, "Wiring"], Getter]]:
    """Registers how a table of one kind is read."""

    def register(getter: Callable[[N, "Wiring"], Getter]) -> Callable[[N, "Wiring"], Getter]:
        _GETTERS[kind] = getter
        return getter

    return register


class Wiring:
    def __init__(
        self,
        topology: Topology,
        part: SubTopology,
        state: TaskState,
        context: RecordContext,
        *,
        collapse: bool = False,
        failed: "OnFailure | None" = None,
    ) -> None:
        """`failed` hears of records that break after the task has gone on from them; without it they raise."""
        self.topology = topology
        self.part = part
        self.state = state
        self.context = context
        self.collapse = collapse
        self.failed = failed or _raise
        self.timers = Timers(state.times)
        self._held: dict[str, dict[Any, Any]] = {}
        self._ends: dict[str, Callable[[], None]] = {}
        self._children: dict[str, list[tuple[Node, int]]] = {}
        self._inputs: dict[str, list[Push]] = {}
        self._starts: dict[str, list[Callable[[], None]]] = {}
        for node in part.nodes:
            for port, parent in enumerate(node.parents):
                self._children.setdefault(parent, []).append((node, port))
        for node in reversed(part.nodes):
            self._inputs[node.name] = _BUILDERS[type(node)](node, self)
        for node in part.nodes:
            for start in self._starts.get(node.name, ()):
                start()
        self._ends_in_order = [self._ends[node.name] for node in part.nodes if node.name in self._ends]

    def at_start(self, node: Node, start: Callable[[], None]) -> None:
        """Calls `start` when all is connected; those of parents before those of their children."""
        self._starts.setdefault(node.name, []).append(start)

    def at_end(self, node: Node, end: Callable[[], None]) -> None:
        """Calls `end` at the end of each batch; those of parents before those of their children."""
        self._ends[node.name] = end

    def end_batch(self) -> None:
        for end in self._ends_in_order:
            end()

    def held(self, store: str) -> dict[Any, Any]:
        """What a collapsing aggregate holds back until the batch ends, by key."""
        return self._held.setdefault(store, {})

    def inputs(self, name: str) -> list[Push]:
        return self._inputs[name]

    def downstream(self, node: Node) -> Push:
        """What a node calls with its results: all its children, in order."""
        pushes = [self._inputs[child.name][port] for child, port in self._children.get(node.name, ())]
        if not pushes:
            return _nowhere
        return pushes[0] if len(pushes) == 1 else _fan_out(pushes)

    def children(self, node: Node) -> list[Node]:
        return [child for child, _ in self._children.get(node.name, ())]

    def getter(self, table: str) -> Getter:
        node = self.topology[table]
        return _GETTERS[type(node)](node, self)

    def store_codecs(self, store: StoreSpec) -> tuple[Encoder, Encoder, Decoder]:
        """Of keys, and of values both ways."""
        if store.key_serde is None or store.value_serde is None:
            raise ConfigError(f"store {store.name!r} has no serdes: name them where the store is made")
        topic = store.name
        return (
            store.key_serde.encoder(topic, is_key=True),
            store.value_serde.encoder(topic, is_key=False),
            store.value_serde.decoder(topic, is_key=False),
        )


def of_record(rule: Rule, *, takes_key: bool = True) -> Callable[[Any, Any, int], Any]:
    """A user's function or expression as a function of (key, value, timestamp_ms)."""
    if isinstance(rule, Expression):
        return rule.evaluator()
    if takes_key:
        return lambda key, value, timestamp_ms: rule(key, value)
    return lambda key, value, timestamp_ms: rule(value)


def _raise(columns: Columns, index: int, failure: Exception) -> None:
    raise failure


def _nowhere(*_: Any) -> None:
    """Results that nobody wants."""


def _fan_out(pushes: list[Push]) -> Push:
    def to_all(*record: Any) -> None:
        for push in pushes:
            push(*record)

    return to_all
