"""Described topologies built with the Streams API: the other half of `Oracle.java`, function by function."""

from collections.abc import Callable, Collection, Iterator
from functools import cached_property
from typing import Any

from moldau.pipeline.plan import JoinWindows
from moldau.pipeline.streams import (
    STRING,
    GlobalKTable,
    KStream,
    KTable,
    PunctuationType,
    Record,
    StreamsBuilder,
    Topology,
    Windowed,
    hopping,
    sessions,
    sliding,
)
from moldau.testing import TopologyTestDriver

LONG_RETENTION_MS = 3_600_000
Op = dict[str, Any]
Case = dict[str, Any]


def text(value: Any) -> str:
    """As Java writes it."""
    return "null" if value is None else str(value)


PREDICATES: dict[str, Callable[[Any, Any], bool]] = {
    "even": lambda key, value: value is not None and len(value) % 2 == 0,
    "low_key": lambda key, value: key is not None and str(key) < "c",
    "has_b": lambda key, value: value is not None and "b" in value,
    "always": lambda key, value: True,
    "never": lambda key, value: False,
}
MAPPERS: dict[str, Callable[[Any], Any]] = {
    "bang": lambda value: f"{text(value)}!",
    "drop_c": lambda value: None if value is None or "c" in value else value,
    "short": lambda value: None if value is None else value[:2],
}
KEYS: dict[str, Callable[[Any, Any], Any]] = {
    "first": lambda key, value: value[:1] or None if value else None,
    "length": lambda key, value: "none" if value is None else str(len(value) % 3),
    "keep": lambda key, value: key,
    "null_a": lambda key, value: None if key == "a" else text(key),
}


def parts(value: Any) -> list[str]:
    return list(value[:3]) if value else []


def foreign(value: Any) -> Any:
    return None if not value or value.startswith("c") else value[:1]


def joined(left: Any, right: Any) -> str:
    return f"{text(left)}+{text(right)}"


def shown(key: Any, value: Any = None) -> Any:
    return f"{text(key.key)}@{key.start_ms}-{key.end_ms}" if isinstance(key, Windowed) else key


class Described:
    """A case's topology, built op by op."""

    def __init__(self, case: Case, builder: StreamsBuilder | None = None) -> None:
        """Given a builder, the case is one of several that it holds."""
        self._builder = builder or StreamsBuilder("app", key=STRING, value=STRING)
        self._made: dict[str, Any] = {}
        self.sinks: list[str] = []
        self.stores: dict[str, str] = {}
        for op in case["ops"]:
            self._made[op["id"]] = self._build(op)

    @cached_property
    def topology(self) -> Topology:
        return self._builder.build()

    def _build(self, op: Op) -> Any:
        store = op.get("store")
        match op["op"]:
            case "stream":
                return self._builder.stream(op["topic"])
            case "table":
                self._note(store, "versioned" if "history" in op else "key-value")
                return self._builder.table(op["topic"], store=store, history_ms=op.get("history"))
            case "global_table":
                return self._builder.global_table(op["topic"])
            case "to":
                return self._sink(op)
        source = self._made[op["in"]]
        return self._on_table(op, source) if op.get("table_op") else self._on_stream(op, source)

    def _note(self, store: str | None, kind: str) -> None:
        if store is not None:
            self.stores[store] = kind

    def _sink(self, op: Op) -> None:
        source = self._made[op["in"]]
        self.sinks.append(op["topic"])
        if isinstance(source, KTable):
            source = source.to_stream(shown, key=STRING)
        source.to(op["topic"])

    def _on_stream(self, op: Op, source: KStream) -> Any:
        f = op.get("f", "")
        match op["op"]:
            case "filter":
                return source.filter(PREDICATES[f])
            case "filter_not":
                return source.filter_not(PREDICATES[f])
            case "map":
                return source.map(lambda key, value: (KEYS[f](key, value), f"{text(value)}'"))
            case "map_values":
                return source.map_values(MAPPERS[f])
            case "flat_map":
                return source.flat_map(lambda key, value: [(part, value) for part in parts(value)])
            case "flat_map_values":
                return source.flat_map_values(parts)
            case "select_key":
                return source.select_key(KEYS[f])
            case _:
                return self._further(op, source)

    def _further(self, op: Op, source: KStream) -> Any:
        f, store = op.get("f", ""), op.get("store")
        match op["op"]:
            case "peek":
                return source.peek(lambda key, value: None)
            case "merge":
                return source.merge(self._made[op["other"]])
            case "branch":
                ways = source.split().branch(PREDICATES["has_b"], "b").branch(PREDICATES[f], "f").rest("rest")
                return ways[op["take"]]
            case "repartition":
                return source.repartition()
            case "to_table":
                self._note(store, "versioned" if "history" in op else "key-value")
                return source.to_table(store=store, history_ms=op.get("history"))
            case "join" | "left_join" | "outer_join":
                return self._joined_stream(op, source)
            case "process":
                return self._processed(op, source)
            case "process_values":
                return source.process_values(Again)
            case "cogroup":
                return self._cogrouped(op, source)
        return self._aggregated(op, source)

    def _joined_stream(self, op: Op, source: KStream) -> KStream:
        other = self._made[op["other"]]
        join = getattr(source, op["op"])
        if isinstance(other, GlobalKTable):
            return join(other, joined, on=KEYS["first"])
        if isinstance(other, KTable):
            return join(other, joined, grace_ms=op.get("table_grace"))
        return join(other, joined, windows=JoinWindows(op["before"], op["after"], op["grace"]))

    def _aggregated(self, op: Op, source: KStream) -> KTable:
        by, store, window = op.get("by"), op.get("store"), op.get("window")
        grouped: Any = source.group_by_key() if by is None else source.group_by(KEYS[by])
        if window is not None:
            grouped = grouped.windowed_by(windows_of(window))
            if op.get("on_close"):
                grouped = grouped.emit_on_close()
        options: dict[str, Any] = {"retention_ms": LONG_RETENTION_MS} if op.get("on_close") else {}
        if op["op"] == "count":
            return grouped.count(**options).map_values(str, value=STRING)
        is_session = window is not None and window["kind"] == "session"
        store = None if is_session else store
        self._note(store, "key-value" if window is None else "window")
        if op["op"] == "reduce":
            return grouped.reduce(lambda a, b: f"{text(a)}/{text(b)}", store=store, **options)
        merger = [lambda key, a, b: f"{a}&{b}"] if is_session else []
        return grouped.aggregate(
            str,
            lambda key, value, so_far: so_far + text(value),
            *merger,
            value=STRING,
            store=store,
            **options,
        )

    def _cogrouped(self, op: Op, source: KStream) -> KTable:
        other, window, store = self._made[op["other"]], op.get("window"), op.get("store")
        both = source.group_by_key().cogroup(lambda key, value, so_far: f"{so_far}1{text(value)}")
        both = both.cogroup(other.group_by_key(), lambda key, value, so_far: f"{so_far}2{text(value)}")
        if window is not None:
            return both.windowed_by(windows_of(window)).aggregate(str, value=STRING)
        self._note(store, "key-value")
        return both.aggregate(str, value=STRING, store=store)

    def _processed(self, op: Op, source: KStream) -> KStream:
        store = self._builder.add_store(op["store"])
        every_ms, clocks = op["every"], op.get("clocks", ("stream", "wall"))
        return source.process(lambda: Seen(store, every_ms, clocks), stores=[store])

    def _on_table(self, op: Op, source: KTable) -> Any:
        f, store = op.get("f", ""), op.get("store")
        self._note(store, "key-value")
        match op["op"]:
            case "filter":
                return source.filter(PREDICATES[f], store=store)
            case "filter_not":
                return source.filter_not(PREDICATES[f])
            case "map_values":
                return source.map_values(MAPPERS[f], store=store)
            case "transform_values":
                return source.transform_values(lambda: lambda key, value: f"{java_key(key)}~{text(value)}")
            case "to_stream":
                return source.to_stream(shown, key=STRING)
            case "plain_stream":
                return source.to_stream()
            case "group":
                return self._regrouped(op, source)
            case "suppress":
                return source.suppress(until_ms=op.get("until"), records_max=op.get("records"))
        join = getattr(source, op["op"])
        options: dict[str, Any] = {"foreign_key": foreign} if op.get("foreign") else {}
        return join(self._made[op["other"]], joined, value=STRING, store=store, **options)

    def _regrouped(self, op: Op, source: KTable) -> KTable:
        store = op.get("store")
        grouped = source.group_by(lambda key, value: (KEYS[op["by"]](key, value), value))
        if op["what"] == "count":
            return grouped.count().map_values(str, value=STRING)
        if op["what"] == "total":
            return grouped.aggregate(
                lambda: "0",
                lambda key, value, so_far: str(int(so_far) + len(value)),
                lambda key, value, so_far: str(int(so_far) - len(value)),
                value=STRING,
                store=store,
            )
        if op["what"] == "reduce":
            return grouped.reduce(lambda a, b: f"{a}+{b}", lambda a, b: f"{a}-{b}", store=store)
        return grouped.aggregate(
            str,
            lambda key, value, so_far: f"{so_far}+{value}",
            lambda key, value, so_far: f"{so_far}-{value}",
            value=STRING,
            store=store,
        )


def windows_of(window: dict[str, Any]) -> Any:
    match window["kind"]:
        case "session":
            return sessions(window["gap"], grace_ms=window["grace"])
        case "sliding":
            return sliding(window["size"], grace_ms=window["grace"])
    return hopping(window["size"], window["advance"], grace_ms=window["grace"])


def java_key(key: Any) -> str:
    """A windowed key as Java's toString writes it."""
    return f"[{text(key.key)}@{key.start_ms}/{key.end_ms}]" if isinstance(key, Windowed) else text(key)


class Seen:
    """Remembers the first letters of each key's values; tells all of it now and then."""

    def __init__(self, store: str, every_ms: int, clocks: Collection[str]) -> None:
        self._store = store
        self._every_ms = every_ms
        self._clocks = clocks

    def init(self, context: Any) -> None:
        self._context = context
        self._seen = context.store(self._store)
        for kind, what in (
            (PunctuationType.STREAM_TIME, "stream"),
            (PunctuationType.WALL_CLOCK_TIME, "wall"),
        ):
            if what not in self._clocks:
                continue
            context.schedule(self._every_ms, kind, lambda now_ms, what=what: self._tell(what, now_ms))

    def process(self, record: Record) -> None:
        if record.key is None or record.value is None:
            return
        after = (self._seen.get(record.key) or "") + record.value[0]
        self._seen.put(record.key, after)
        self._context.forward(record.with_value(f"{after}@{self._context.stream_time_ms}"))

    def _tell(self, what: str, now_ms: int) -> None:
        for key, value in list(self._seen.all()):
            self._context.forward(Record(key, what + value, now_ms))


class Again:
    def init(self, context: Any) -> None:
        self._context = context

    def process(self, record: Record) -> None:
        self._context.forward(record.with_value(f"{text(record.value)}#{record.timestamp_ms}"))
        if record.value is not None and "b" in record.value:
            self._context.forward(record.with_value("again").with_timestamp(record.timestamp_ms + 1))


def run(case: Case) -> dict[str, Any]:
    """The case through our driver, in the oracle's form."""
    described = Described(case)
    with TopologyTestDriver(described.topology) as driver:
        for step in case["inputs"]:
            if "advance" in step:
                driver.advance_wall_clock(step["advance"])
                continue
            headers = (("h", step["header"].encode()),) if step.get("header") else ()
            driver.pipe(step["topic"], step["key"], step["value"], step["ts"], headers=headers)
        outputs = {
            topic: [list(_row(one)) for one in driver.read_records(topic)] for topic in described.sinks
        }
        stores = {name: list(_rows(driver.store(name), kind)) for name, kind in described.stores.items()}
    return {"outputs": outputs, "stores": stores}


def _row(record: Any) -> tuple[Any, Any, int, str | None]:
    headers = dict(record.headers)
    return record.key, record.value, record.timestamp_ms, headers["h"].decode() if "h" in headers else None


def _rows(store: Any, kind: str) -> Iterator[list[Any]]:
    if kind == "key-value":
        for key, value in store.all():
            yield [key, value, store.get_with_timestamp(key)[1]]
    elif kind == "versioned":
        for key in "abcd":
            for at_ms in range(0, 200, 4):
                found = store.get_with_timestamp(key, at_ms)
                if found is not None:
                    yield [f"{key}@{at_ms}", f"{found[0]}/{found[1]}"]
    else:
        for windowed, value in store.all():
            yield [shown(windowed), value]
