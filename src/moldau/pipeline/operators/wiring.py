"""Turns the nodes of a sub-topology into functions that call each other.

A *stream* function takes (key, value, timestamp_ms, headers), a *table* function (key, new, old, timestamp_ms,
headers). Each operator module registers how its nodes are built: `build(node, wiring)` returns one function per parent.
Children are called in the order of their creation, depth first, as in Kafka Streams.
"""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from moldau.core.errors import ConfigError
from moldau.pipeline.operators.context import UNKNOWN_TIME_MS, RecordContext
from moldau.pipeline.operators.failures import FAILURES, PASSED_ON, StartAgain, WrongResult
from moldau.pipeline.operators.state import TaskState
from moldau.pipeline.operators.timers import Timers
from moldau.pipeline.operators.undo import Undo
from moldau.pipeline.operators.verdicts import HeldRecord, Verdicts
from moldau.pipeline.plan.expressions import Expression
from moldau.pipeline.plan.nodes import Node, Rule
from moldau.pipeline.plan.stores import StoreSpec
from moldau.pipeline.plan.topology import SubTopology, Topology
from moldau.pipeline.serdes.serde import Decoder, Encoder

Push = Callable[..., None]
Getter = Callable[[Any], "tuple[Any, int] | None"]
"""The current value of a key in a table, with its timestamp."""
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
        verdicts: Verdicts,
        *,
        collapse: bool = False,
    ) -> None:
        self.topology = topology
        self.part = part
        self.state = state
        self.context = context
        self.collapse = collapse
        self.timers = Timers(state.times)
        self.undo = Undo(state, context, self.timers)
        self._verdicts = verdicts
        self._clocks: dict[str, Callable[[int], None]] = {}
        self.waits_for_time = False
        """Whether a node releases records when stream time advances."""
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
        self.timers.started()
        self._ends_in_order = [self._ends[node.name] for node in part.nodes if node.name in self._ends]
        if self._ends_in_order:
            self.undo.end_batch = self.end_batch

    def at_start(self, node: Node, start: Callable[[], None]) -> None:
        """Calls `start` when everything is connected, for parents before their children."""
        self._starts.setdefault(node.name, []).append(start)

    def at_end(self, node: Node, end: Callable[[], None]) -> None:
        """Calls `end` at the end of each batch, for parents before their children."""
        self._ends[node.name] = end

    def at_time(self, node: Node, advance: Callable[[int], None], *, holds_back: bool) -> None:
        """`advance(stream time)` advances a node's time without a record. `holds_back`: the node may then release
        records."""
        self._clocks[node.name] = advance
        self.waits_for_time = self.waits_for_time or holds_back

    def move_clock(self, clock: str, to_ms: int) -> int:
        """A node's stream time, which never goes back."""
        times = self.state.times
        stream_time_ms = times[clock] = max(times.get(clock, UNKNOWN_TIME_MS), to_ms)
        return stream_time_ms

    def advance_time(self, to_ms: int) -> None:
        """Advances the stream time of all nodes, parents before their children."""
        for node in self.part.nodes:
            advance = self._clocks.get(node.name)
            if advance is not None:
                advance(to_ms)

    def let_go(self, node: Node, held: HeldRecord, action: Callable[..., None], *arguments: Any) -> None:
        """Processes a record that `node` held back and now releases. A failure is that record's, not the current one's,
        which only advanced stream time."""
        context, undo, verdicts = self.context, self.undo, self._verdicts
        columns, context.columns = context.columns, None
        try:
            if undo.by_record:
                failure = undo.attempt(action, *arguments)
                if failure is not None:
                    verdicts.on_held(node, held, failure)
            else:
                action(*arguments)
        except FAILURES as failure:
            if isinstance(failure, PASSED_ON):
                raise
            if verdicts.stops_at(failure):
                raise verdicts.stop_at_held(node, held, failure) from failure
            raise StartAgain from failure
        finally:
            context.columns = columns

    def telling_failed(self, failure: BaseException) -> None:
        """A collapsing aggregate could not emit at the end of a batch. Raises unless a single record is attempted: then
        it is the failure of that record."""
        if self.undo.by_record or isinstance(failure, PASSED_ON):
            return
        context = self.context
        if not self._verdicts.stops_at(failure):
            raise StartAgain from failure
        if context.columns is not None:
            index = context.columns.offsets.index(context.offset)
            raise self._verdicts.stop_at_record(context.columns, index, failure) from failure

    def end_batch(self) -> None:
        for end in self._ends_in_order:
            end()

    def held(self, store: str) -> dict[Any, Any]:
        """What a collapsing aggregate holds until the end of the batch, by key."""
        return self.undo.held.setdefault(store, {})

    def inputs(self, name: str) -> list[Push]:
        return self._inputs[name]

    def downstream(self, node: Node) -> Push:
        """The function for a node's results. It calls all children in order."""
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
        """The encoder of keys, and encoder and decoder of values."""
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


def no_pair(node: Node, given: Any) -> WrongResult:
    return WrongResult(
        f"{node.where}: the mapper of {node.name} ({node.label}) must return a tuple (key, value), not {given!r}, "
        f"a {type(given).__name__}"
    )


def iterated(node: Node, given: Any, of: str) -> Iterable[Any]:
    """The results of a mapper that returns any number of them."""
    if not isinstance(given, Iterable):
        raise WrongResult(
            f"{node.where}: the mapper of {node.name} ({node.label}) must return a list of {of}, or any other iterable "
            f"of them, not {given!r}; for none an empty one"
        )
    return given


def _nowhere(*_: Any) -> None:
    """Discards results."""


def _fan_out(pushes: list[Push]) -> Push:
    def to_all(*record: Any) -> None:
        for push in pushes:
            push(*record)

    return to_all
