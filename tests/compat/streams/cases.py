"""Random topologies with random input, as descriptions that both sides can build. The same seed gives the same case."""

import random
from typing import Any

Case = dict[str, Any]
Op = dict[str, Any]

WORDS = ("a", "b", "c", "ab", "bc", "ca", "abc", "bb")
KEYS = ("a", "b", "c", "d")
PREDICATES = ("even", "low_key", "has_b", "always", "never")
MAPPERS = ("bang", "drop_c", "short")
KEY_RULES = ("first", "length", "keep", "null_a")
STREAM, TABLE, WINDOWED, GLOBAL = "stream", "table", "windowed table", "global table"


class CaseMaker:
    """Grows one topology: picks something made so far, puts an operator on it; every loose end goes to a topic."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.ops: list[Op] = []
        self.kinds: dict[str, str] = {}
        self.rekeyed: set[str] = set()
        self.topics: list[str] = []
        self.loose: set[str] = set()

    def case(self, steps: int, inputs: int) -> Case:
        for _ in range(self.random.randint(2, 3)):
            self.source()
        for _ in range(steps):
            self.step()
        for number, name in enumerate(sorted(self.loose)):
            if self.kinds[name] != GLOBAL:
                self.ops.append({"id": f"to{number}", "op": "to", "in": name, "topic": f"out{number}"})
        return {"ops": self.ops, "inputs": self.inputs(inputs)}

    def add(self, kind: str, *used: str, rekeyed: bool = False, **op: Any) -> str:
        name = f"n{len(self.ops)}"
        self.ops.append({"id": name, **op})
        self.kinds[name] = kind
        self.loose.difference_update(used)
        self.loose.add(name)
        if rekeyed:
            self.rekeyed.add(name)
        return name

    def source(self, kind: str | None = None) -> str:
        topic = f"in{len(self.topics)}"
        self.topics.append(topic)
        kind = kind or self.random.choice((STREAM, STREAM, TABLE))
        op = {STREAM: "stream", TABLE: "table", GLOBAL: "global_table"}[kind]
        store = self.store() if kind == TABLE and self.chance(0.3) else None
        return self.add(kind, op=op, topic=topic, store=store)

    def store(self) -> str:
        return f"store{len(self.ops)}"

    def chance(self, of: float) -> bool:
        return self.random.random() < of

    def pick(self, kind: str, *, same_keys: bool = False) -> str:
        """One of this kind; a new source where there is none."""
        names = [name for name, known in self.kinds.items() if known == kind]
        if same_keys:
            names = [name for name in names if name not in self.rekeyed]
        return self.random.choice(names) if names else self.source(kind)

    def step(self) -> None:
        name = self.random.choice([name for name, kind in self.kinds.items() if kind != GLOBAL])
        match self.kinds[name]:
            case "stream":
                self.on_stream(name)
            case "table":
                self.on_table(name)
            case "windowed table":
                self.on_windowed(name)

    def on_stream(self, name: str) -> None:
        choice = self.random.choice(
            (
                "stateless",
                "stateless",
                "aggregate",
                "aggregate",
                "windowed",
                "windowed",
                "join",
                "join",
                "join",
                "rest",
            )
        )
        getattr(self, f"stream_{choice}")(name)

    def stream_stateless(self, name: str) -> None:
        op = self.random.choice(
            (
                "filter",
                "filter_not",
                "map",
                "map_values",
                "flat_map",
                "flat_map_values",
                "select_key",
                "peek",
                "merge",
                "branch",
                "process_values",
            )
        )
        rekeyed = name in self.rekeyed or op in ("map", "flat_map", "select_key")
        fields: Op = {"op": op, "in": name}
        if op in ("filter", "filter_not", "branch"):
            fields["f"] = self.random.choice(PREDICATES)
        if op == "branch":
            fields["take"] = self.random.choice(("b", "f", "rest"))
        if op == "map_values":
            fields["f"] = self.random.choice(MAPPERS)
        if op in ("map", "select_key"):
            fields["f"] = self.random.choice(KEY_RULES)
        if op == "merge":
            other = self.pick(STREAM)
            if other == name:
                return
            fields["other"] = other
            rekeyed = rekeyed or other in self.rekeyed
            self.add(STREAM, name, other, rekeyed=rekeyed, **fields)
            return
        self.add(STREAM, name, rekeyed=rekeyed, **fields)

    def stream_aggregate(self, name: str) -> None:
        op = self.random.choice(("count", "reduce", "aggregate", "cogroup"))
        store = self.store() if self.chance(0.5) else None
        if op == "cogroup":
            other = self.pick(STREAM)
            if other != name:
                self.add(TABLE, name, other, op=op, **{"in": name}, other=other, store=store)
            return
        by = self.random.choice((None, None, *KEY_RULES))
        self.add(TABLE, name, op=op, **{"in": name}, by=by, store=None if op == "count" else store)

    def stream_windowed(self, name: str) -> None:
        op = self.random.choice(("count", "reduce", "aggregate"))
        window = self.window()
        on_close = self.chance(0.25)
        by = self.random.choice((None, None, "first", "length"))
        store = self.store() if self.chance(0.3) and op != "count" and window["kind"] != "session" else None
        self.add(
            WINDOWED,
            name,
            op=op,
            **{"in": name},
            by=by,
            window=window,
            on_close=on_close or None,
            store=store,
        )

    def window(self) -> dict[str, Any]:
        grace = self.random.choice((0, 0, 5, 20, 1000))
        match self.random.choice(("time", "time", "sliding", "session")):
            case "session":
                return {"kind": "session", "gap": self.random.choice((1, 4, 10)), "grace": grace}
            case "sliding":
                return {"kind": "sliding", "size": self.random.choice((3, 8, 15)), "grace": grace}
        size = self.random.choice((5, 10, 12))
        return {
            "kind": "time",
            "size": size,
            "advance": self.random.choice((size, size, 3, 5)),
            "grace": grace,
        }

    def stream_join(self, name: str) -> None:
        with_what = self.random.choice((STREAM, STREAM, TABLE, TABLE, GLOBAL))
        if with_what == GLOBAL:
            self.add(
                STREAM,
                name,
                op=self.random.choice(("join", "left_join")),
                **{"in": name},
                other=self.pick(GLOBAL),
                rekeyed=name in self.rekeyed,
            )
            return
        if with_what == TABLE:
            other = self.pick(TABLE)
            self.add(
                STREAM, name, other, op=self.random.choice(("join", "left_join")), **{"in": name}, other=other
            )
            return
        other = self.pick(STREAM)
        if other == name and name in self.rekeyed:
            return
        fields = {
            "op": self.random.choice(("join", "left_join", "outer_join")),
            "in": name,
            "other": other,
            "before": self.random.choice((0, 3, 10)),
            "after": self.random.choice((0, 3, 10)),
            "grace": self.random.choice((0, 5, 30)),
        }
        self.add(STREAM, name, other, **fields)

    def stream_rest(self, name: str) -> None:
        match self.random.choice(("repartition", "to_table", "process")):
            case "repartition":
                self.add(STREAM, name, op="repartition", **{"in": name})
            case "to_table":
                store = self.store() if self.chance(0.4) else None
                self.add(TABLE, name, op="to_table", **{"in": name}, store=store)
            case "process":
                every = self.random.choice((5, 10))
                self.add(
                    STREAM, name, rekeyed=True, op="process", **{"in": name}, store=self.store(), every=every
                )

    def on_table(self, name: str) -> None:
        choice = self.random.choice(
            ("values", "values", "join", "join", "foreign", "group", "stream", "suppress")
        )
        getattr(self, f"table_{choice}")(name)

    def table_values(self, name: str, kind: str = TABLE) -> None:
        op = self.random.choice(("filter", "filter_not", "map_values", "transform_values"))
        fields: Op = {"op": op, "in": name, "table_op": True}
        if op.startswith("filter"):
            fields["f"] = self.random.choice(PREDICATES)
        if op == "map_values":
            fields["f"] = self.random.choice(MAPPERS)
        if kind == TABLE and op in ("filter", "map_values") and self.chance(0.3):
            fields["store"] = self.store()
        self.add(kind, name, **fields)

    def table_join(self, name: str) -> None:
        other = self.pick(TABLE)
        store = self.store() if self.chance(0.3) else None
        op = self.random.choice(("join", "left_join", "outer_join"))
        if other != name:
            self.add(TABLE, name, other, op=op, **{"in": name}, other=other, store=store, table_op=True)

    def table_foreign(self, name: str) -> None:
        other = self.pick(TABLE)
        store = self.store() if self.chance(0.3) else None
        op = self.random.choice(("join", "left_join"))
        if other != name:
            fields: Op = {
                "op": op,
                "in": name,
                "other": other,
                "store": store,
                "foreign": True,
                "table_op": True,
            }
            self.add(TABLE, name, other, **fields)

    def table_group(self, name: str) -> None:
        what = self.random.choice(("count", "reduce", "aggregate"))
        by = self.random.choice(("first", "length", "keep"))
        store = self.store() if self.chance(0.3) and what != "count" else None
        self.add(TABLE, name, op="group", **{"in": name}, what=what, by=by, store=store, table_op=True)

    def table_stream(self, name: str) -> None:
        self.add(STREAM, name, op="plain_stream", **{"in": name}, table_op=True)

    def table_suppress(self, name: str) -> None:
        until = self.random.choice((0, 5, 20))
        records = self.random.choice((None, None, 2))
        self.add(TABLE, name, op="suppress", **{"in": name}, until=until, records=records, table_op=True)

    def on_windowed(self, name: str) -> None:
        match self.random.choice(("values", "suppress", "stream")):
            case "values":
                self.table_values(name, WINDOWED)
            case "suppress":
                until = self.random.choice((None, None, 5))
                self.add(WINDOWED, name, op="suppress", **{"in": name}, until=until, table_op=True)
            case "stream":
                self.add(STREAM, name, rekeyed=True, op="to_stream", **{"in": name}, table_op=True)

    def inputs(self, count: int) -> list[dict[str, Any]]:
        steps: list[dict[str, Any]] = []
        now = 0
        for _ in range(count):
            if self.chance(0.05):
                steps.append({"advance": self.random.choice((3, 10, 40))})
                continue
            now += self.random.choice((0, 1, 1, 2, 3, 7, 20))
            late = self.random.choice((0, 0, 0, 0, 1, 4, 15))
            steps.append(
                {
                    "topic": self.random.choice(self.topics),
                    "key": None if self.chance(0.06) else self.random.choice(KEYS),
                    "value": None if self.chance(0.12) else self.random.choice(WORDS),
                    "ts": max(0, now - late),
                    "header": self.random.choice((None, None, "x")),
                }
            )
        return steps


class HistoryCaseMaker(CaseMaker):
    """Tables that keep their history, rows that come late, streams that look for the row of their time."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.history: dict[str, int] = {}

    def source(self, kind: str | None = None) -> str:
        name = super().source(kind)
        if self.kinds[name] == TABLE:
            self.keep(name)
        return name

    def keep(self, name: str) -> None:
        """What this op makes keeps its history."""
        self.history[name] = self.ops[-1]["history"] = self.random.choice((0, 5, 20, 1000))
        self.ops[-1]["store"] = f"history{len(self.ops)}"

    def on_stream(self, name: str) -> None:
        if name not in self.rekeyed and self.chance(0.2):
            self.keep(self.add(TABLE, name, op="to_table", **{"in": name}))
            return
        other = self.pick(TABLE)
        fields: Op = {"op": self.random.choice(("join", "left_join")), "in": name, "other": other}
        if other in self.history and self.chance(0.5):
            fields["table_grace"] = min(self.history[other], self.random.choice((0, 5, 15)))
        self.add(STREAM, name, other, **fields)

    def on_table(self, name: str) -> None:
        choice = self.random.choice(("values", "values", "join", "foreign", "group", "stream"))
        getattr(self, f"table_{choice}")(name)
        made = self.ops[-1]
        if choice == "values" and name in self.history and not made.get("store"):
            self.history[made["id"]] = self.history[name]

    def inputs(self, count: int) -> list[dict[str, Any]]:
        steps = super().inputs(count)
        if any(op["op"] == "left_join" and "table_grace" in op for op in self.ops):
            # Kafka 4.2 falls over a record without a key there.
            for step in steps:
                if step.get("key", "") is None:
                    step["key"] = "a"
        return steps


def make_history_case(seed: int) -> Case:
    maker = HistoryCaseMaker(seed)
    maker.source(STREAM)
    maker.source(TABLE)
    return maker.case(maker.random.choice((1, 2, 2, 3, 5)), inputs=40)


def make_case(seed: int) -> Case:
    """Mostly one or two operators, so that a difference says which; some cases with many."""
    maker = CaseMaker(seed)
    steps = maker.random.choice((1, 1, 2, 2, 3, 5))
    case = maker.case(steps, inputs=30)
    # Kafka's default stores are RocksDB's; those in memory are quicker, but lose windows that are told on closing and
    # forget sooner in stream-stream joins.
    case["on_disk"] = any("before" in op or op.get("on_close") for op in case["ops"])
    return case
