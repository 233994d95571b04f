"""Generated topologies with generated input over several partitions. The same seed gives the same case.

A case is plain data: `ops` in the form of `compat.streams`, `partitions` of every topic it reads or writes, `records`
in the order in which they are sent, `result` (`last`: the last value of each key counts; `all`: every record does), and
`kafka`, how far Kafka Streams is bound to agree: `equal`, `at_most` (after a repartition timing decides what is late),
or `free` (its order after a repartition depends on timing).

The order of the records is total: each record that moves its partition on has a timestamp of its own in the case. A
late record has its place behind the one it follows in its partition. So a prefix of the records is a prefix in time
over all partitions.
"""

import random
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from compat.streams.cases import Case, Op

BEGIN_MS = 10_000_000
HOURS_MS = 7_200_000
LETTERS = "abcdefgh"


class BacklogRecord(NamedTuple):
    topic: str
    partition: int
    key: str
    value: str | None
    timestamp_ms: int


def murmur2(content: bytes) -> int:
    """The 32-bit hash of Kafka's Java clients, not negative."""
    factor, mask = 0x5BD1E995, 0xFFFFFFFF
    found = 0x9747B28C ^ len(content)
    whole = len(content) & ~3
    for at in range(0, whole, 4):
        part = int.from_bytes(content[at : at + 4], "little") * factor & mask
        part = (part ^ part >> 24) * factor & mask
        found = found * factor & mask ^ part
    if rest := content[whole:]:
        found = (found ^ int.from_bytes(rest, "little")) * factor & mask
    found = (found ^ found >> 13) * factor & mask
    return (found ^ found >> 15) & 0x7FFFFFFF


def partition_of(key: str, partitions: int) -> int:
    """Where Kafka's clients send a key."""
    return murmur2(key.encode()) % partitions


class BacklogMaker:
    def __init__(self, seed: int, length: int) -> None:
        self.random = random.Random(f"backlog {seed}")
        self.length = length
        self.prefix = f"b{seed}"
        self.partitions = self.random.choice((1, 2, 3, 3, 4, 6))
        self.unit_ms = self.random.choice((50, 200, 1000))
        """The mean time between two records."""
        self.ops: list[Op] = []
        self.result, self.kafka = "last", "equal"
        self.grace_ms = self.random.choice((0, 0, 10, 1_000_000)) * self.unit_ms

    def case(self, shape: str, make: Callable[["BacklogMaker"], list[BacklogRecord]]) -> Case:
        records = make(self)
        return {
            "shape": shape,
            "prefix": self.prefix,
            "partitions": self.partitions,
            "ops": self.ops,
            "records": in_order(records),
            "result": self.result,
            "kafka": self.kafka,
        }

    def add(self, op: str, source: str | None = None, **fields: Any) -> str:
        name = f"{self.prefix}n{len(self.ops)}"
        tie = {"in": source} if source is not None else {}
        self.ops.append({"id": name, "op": op, **tie, **fields})
        return name

    def read(self, op: str, number: int) -> str:
        return self.add(op, topic=self.topic(number))

    def topic(self, number: int) -> str:
        return f"{self.prefix}-in{number}"

    def write(self, source: str) -> None:
        self.add("to", source, topic=f"{self.prefix}-out")

    def chance(self, of: float) -> bool:
        return self.random.random() < of

    def is_grace_ample(self) -> bool:
        return self.grace_ms >= 1_000_000 * self.unit_ms

    def regrouped(self, name: str) -> str:
        return self.add("repartition", self.add("select_key", name, f="first"))

    def punctuated(self, name: str) -> str:
        every_ms = self.random.choice((10, 40)) * self.unit_ms
        return self.add("process", name, store=f"{self.prefix}-seen", every=every_ms, clocks=["stream"])

    def window(self, kind: str) -> dict[str, Any]:
        unit, grace = self.unit_ms, self.grace_ms
        match kind:
            case "session":
                return {"kind": kind, "gap": self.random.choice((2, 5)) * unit, "grace": grace}
            case "sliding":
                return {"kind": kind, "size": self.random.choice((5, 15)) * unit, "grace": grace}
        size = self.random.choice((20, 60)) * unit
        return {
            "kind": kind,
            "size": size,
            "advance": self.random.choice((size, size, size // 2)),
            "grace": grace,
        }

    def stream_records(self, number: int, count: int, *, by_key: bool, first_ms: int) -> list[BacklogRecord]:
        """Skewed over keys and partitions, some late, one partition slow or empty."""
        weights = [1 / (1 + n) ** self.random.choice((0, 1, 2)) for n in range(len(LETTERS))]
        places = [1 / (1 + n) for n in range(self.partitions)]
        self.random.shuffle(places)
        slow = self.random.randrange(self.partitions) if self.partitions > 1 and self.chance(0.6) else None
        slow_share = self.random.choice((0, 0.1))
        count *= self.length
        now_ms, found = first_ms, []
        for n in range(count):
            now_ms += self.random.randint(1, 2 * self.unit_ms)
            key = self.random.choices(LETTERS, weights)[0]
            place = partition_of(key, self.partitions)
            if not by_key:
                place = self.random.choices(range(self.partitions), places)[0]
            if place == slow and n > count * slow_share:
                continue
            late_ms = self.random.randint(1, 25 * self.unit_ms) if self.chance(0.15) else 0
            value = f"{self.random.choices(LETTERS, weights)[0]}{n}"
            found.append(BacklogRecord(self.topic(number), place, key, value, now_ms - late_ms))
        return found

    def table_records(self, number: int, count: int, *, first_ms: int) -> list[BacklogRecord]:
        """Rows and tombstones."""
        rows = self.stream_records(number, count, by_key=True, first_ms=first_ms)
        return [row._replace(value=None) if self.chance(0.1) else row for row in rows]


def in_order(records: list[BacklogRecord]) -> list[BacklogRecord]:
    """With timestamps that no two share, by the latest timestamp their partition has had so far."""
    used: set[int] = set()
    apart = []
    for record in records:
        at_ms = record.timestamp_ms
        while at_ms in used:
            at_ms -= 1
        used.add(at_ms)
        apart.append(record._replace(timestamp_ms=at_ms))
    return [record for _, record in sorted(with_places(apart), key=lambda one: one[0])]


def windowed(kind: str, *, is_regrouped: bool, suppressed: bool = False) -> Any:
    def make(maker: BacklogMaker) -> list[BacklogRecord]:
        source = maker.read("stream", 0)
        if is_regrouped:
            source = maker.regrouped(source)
        kind_of = "count" if is_regrouped else maker.random.choice(("count", "reduce"))
        window = maker.window(kind)
        if suppressed and maker.chance(0.5):
            counted = maker.add(kind_of, source, window=window, on_close=True)
        else:
            counted = maker.add(kind_of, source, window=window)
            if suppressed:
                counted = maker.add("suppress", counted, table_op=True)
        if suppressed:
            maker.result = "all"
        maker.write(counted)
        if is_regrouped and (suppressed or not maker.is_grace_ample()):
            maker.kafka = "at_most" if kind == "time" and not suppressed else "free"
        return maker.stream_records(0, 300, by_key=not is_regrouped, first_ms=BEGIN_MS)

    return make


def stream_join(*, is_regrouped: bool) -> Any:
    def make(maker: BacklogMaker) -> list[BacklogRecord]:
        left, right = maker.read("stream", 0), maker.read("stream", 1)
        if is_regrouped:
            left = maker.regrouped(left)
        spans = [maker.random.choice((0, 5, 20)) * maker.unit_ms for _ in range(2)]
        kind = maker.random.choice(("join", "left_join", "outer_join"))
        join = {"other": right, "before": spans[0], "after": spans[1], "grace": maker.grace_ms}
        maker.write(maker.add(kind, left, **join))
        maker.result = "all"
        # Kafka Streams tells a record without a partner at once when its window has ended, whatever the grace.
        if is_regrouped and (kind != "join" or not maker.is_grace_ample()):
            maker.kafka = "free"
        records = maker.stream_records(0, 150, by_key=not is_regrouped, first_ms=BEGIN_MS)
        return records + maker.stream_records(1, 150, by_key=True, first_ms=BEGIN_MS)

    return make


def table_lookup(*, is_regrouped: bool) -> Any:
    def make(maker: BacklogMaker) -> list[BacklogRecord]:
        stream, table = maker.read("stream", 0), maker.read("table", 1)
        if is_regrouped:
            stream = maker.regrouped(stream)
        maker.write(maker.add(maker.random.choice(("join", "left_join")), stream, other=table))
        maker.result = "all"
        table_ms = BEGIN_MS + maker.random.choice((-HOURS_MS, -HOURS_MS, 0, HOURS_MS))
        if is_regrouped and table_ms >= BEGIN_MS:
            maker.kafka = "free"
        records = maker.stream_records(0, 250, by_key=not is_regrouped, first_ms=BEGIN_MS)
        return records + maker.table_records(1, 60, first_ms=table_ms)

    return make


def table_join(*, foreign: bool) -> Any:
    def make(maker: BacklogMaker) -> list[BacklogRecord]:
        left, right = maker.read("table", 0), maker.read("table", 1)
        kind = maker.random.choice(("join", "left_join") if foreign else ("join", "left_join", "outer_join"))
        fields = {"foreign": True} if foreign else {}
        if foreign and kind == "join":
            # An answer to a row that has changed since is dropped, and not every row gets one: Kafka Streams may keep
            # what it joined before.
            maker.kafka = "free"
        maker.write(maker.add(kind, left, other=right, table_op=True, **fields))
        right_ms = BEGIN_MS + maker.random.choice((-HOURS_MS, 0, HOURS_MS))
        return maker.table_records(0, 150, first_ms=BEGIN_MS) + maker.table_records(1, 150, first_ms=right_ms)

    return make


def reaggregated(maker: BacklogMaker) -> list[BacklogRecord]:
    """The groups of a table, summed up by another key. Not of a count: where Kafka Streams tells its first change, the
    value before it is 0, which is subtracted from a group it was never added to."""
    what, by = maker.random.choice(("count", "total")), maker.random.choice(("first", "length"))
    if maker.chance(0.5):
        table = maker.read("table", 0)
        records = maker.table_records(0, 300, first_ms=BEGIN_MS)
    else:
        table = maker.add("reduce", maker.read("stream", 0))
        records = maker.stream_records(0, 150, by_key=True, first_ms=BEGIN_MS)
    maker.write(maker.add("group", table, by=by, what=what, table_op=True))
    return records


def twice_regrouped(maker: BacklogMaker) -> list[BacklogRecord]:
    """Joined with a table, or told by a punctuation, after one repartition; counted in windows after another."""
    stream = maker.regrouped(maker.read("stream", 0))
    records = maker.stream_records(0, 250, by_key=False, first_ms=BEGIN_MS)
    if maker.chance(0.5):
        between = maker.add("left_join", stream, other=maker.read("table", 1))
        records += maker.table_records(1, 60, first_ms=BEGIN_MS)
    else:
        between = maker.punctuated(stream)
    by_length = maker.add("repartition", maker.add("select_key", between, f="length"))
    maker.write(maker.add("count", by_length, window=maker.window("time")))
    maker.kafka = "free"
    return records


def punctuated(*, is_regrouped: bool) -> Any:
    """What each key has had, now and then by stream time. Kafka Streams looks at the clock between many records."""

    def make(maker: BacklogMaker) -> list[BacklogRecord]:
        source = maker.read("stream", 0)
        if is_regrouped:
            source = maker.regrouped(source)
        maker.write(maker.punctuated(source))
        maker.result, maker.kafka = "all", "free"
        return maker.stream_records(0, 200, by_key=not is_regrouped, first_ms=BEGIN_MS)

    return make


SHAPES: dict[str, Any] = {
    "windows after a repartition": windowed("time", is_regrouped=True),
    "stream-table join": table_lookup(is_regrouped=False),
    "stream-stream join": stream_join(is_regrouped=False),
    "punctuation": punctuated(is_regrouped=False),
    "windows": windowed("time", is_regrouped=False),
    "sessions after a repartition": windowed("session", is_regrouped=True),
    "sessions": windowed("session", is_regrouped=False),
    "stream-table join after a repartition": table_lookup(is_regrouped=True),
    "sliding windows": windowed("sliding", is_regrouped=False),
    "stream-stream join after a repartition": stream_join(is_regrouped=True),
    "table-table join": table_join(foreign=False),
    "foreign-key join": table_join(foreign=True),
    "suppression": windowed("time", is_regrouped=False, suppressed=True),
    "suppression after a repartition": windowed("time", is_regrouped=True, suppressed=True),
    "aggregate of a table": reaggregated,
    "windows after two repartitions": twice_regrouped,
    "punctuation after a repartition": punctuated(is_regrouped=True),
}


def make_backlog(seed: int, length: int = 1) -> Case:
    """Every shape in turn; `length` times as many records."""
    shape = list(SHAPES)[seed % len(SHAPES)]
    return BacklogMaker(seed, length).case(shape, SHAPES[shape])


def with_ample_grace(case: Case) -> Case:
    """The case in which no record is late."""
    ops = [
        {**op, "window": {**op["window"], "grace": 10 * HOURS_MS}} if "window" in op else op
        for op in case["ops"]
    ]
    return {**case, "ops": ops}


def in_order_of_all(cases: Iterable[Case]) -> list[BacklogRecord]:
    """The records of all cases as they would have come."""
    placed = [place for case in cases for place in with_places(case["records"])]
    return [record for _, record in sorted(placed, key=lambda one: one[0])]


def with_places(records: Iterable[BacklogRecord]) -> Iterator[tuple[int, BacklogRecord]]:
    """Each with the latest timestamp that its partition has had by then."""
    reached: dict[tuple[str, int], int] = {}
    for record in records:
        here = record.topic, record.partition
        reached[here] = max(reached.get(here, 0), record.timestamp_ms)
        yield reached[here], record
