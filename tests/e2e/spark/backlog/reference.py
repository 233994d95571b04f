"""What the documented semantics make of a case: all input in the order of time, whoever reads it and when.

Each sub-topology runs once per partition on the topology test driver. Its inputs are merged by their place in time: the
latest timestamp that the task which wrote a record (for a topic of the user: the partition) had seen by then. So a late
record keeps its place behind the one it followed, on every task it comes to.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from compat.streams.cases import Case, Op
from compat.streams.described import Described
from e2e.spark.backlog.cases import BacklogRecord, partition_of, with_places
from moldau.testing import TopologyTestDriver

Result = dict[str, Any]


class Placed(NamedTuple):
    place_ms: int
    sequence: int
    record: BacklogRecord


def final_result(kind: str, records: Iterable[tuple[str | None, str | None, int]]) -> Result:
    """`last`: what is left of each key; `all`: how often each record is there."""
    if kind == "all":
        return dict(Counter(f"{key} {value} @{at_ms}" for key, value, at_ms in records))
    last = {str(key): value for key, value, _ in records}
    return {key: value for key, value in last.items() if value is not None}


def expected(case: Case) -> Result:
    if any(op["op"] == "group" or op.get("foreign") for op in case["ops"]):
        return final_result(case["result"], _one_task(case))
    inputs = [
        Placed(place_ms, number, record)
        for number, (place_ms, record) in enumerate(with_places(case["records"]))
    ]
    written: list[tuple[str | None, str | None, int]] = []
    for part in _parts(case["ops"]):
        topics = {op["topic"] for op in part if op["op"] in ("stream", "table")}
        passed_on: list[Placed] = []
        for partition in range(case["partitions"]):
            mine = [one for one in inputs if one.record.topic in topics and one.record.partition == partition]
            outputs = list(_run_task(part, sorted(mine, key=lambda one: one[:2])))
            for place_ms, topic, (key, value, at_ms) in outputs:
                if topic == f"{case['prefix']}-out":
                    written.append((key, value, at_ms))
                else:
                    target = partition_of(key, case["partitions"])
                    record = BacklogRecord(topic, target, key, value, at_ms)
                    passed_on.append(Placed(place_ms, len(inputs) + len(passed_on), record))
        inputs += passed_on
    return final_result(case["result"], written)


def _one_task(case: Case) -> list[tuple[Any, Any, int]]:
    with TopologyTestDriver(Described(case).topology) as driver:
        for record in case["records"]:
            driver.pipe(record.topic, record.key, record.value, record.timestamp_ms)
        found = driver.read_records(f"{case['prefix']}-out")
    return [(one.key, one.value, one.timestamp_ms) for one in found]


def _run_task(part: list[Op], inputs: Iterable[Placed]) -> Iterable[tuple[int, str, tuple[Any, Any, int]]]:
    described = Described({"ops": part})
    with TopologyTestDriver(described.topology) as driver:
        reached_ms = 0
        for place_ms, _, record in inputs:
            reached_ms = max(reached_ms, place_ms)
            driver.pipe(record.topic, record.key, record.value, record.timestamp_ms)
            for topic in described.sinks:
                for one in driver.read_records(topic):
                    yield reached_ms, topic, (one.key, one.value, one.timestamp_ms)


def _parts(ops: list[Op]) -> list[list[Op]]:
    """The sub-topologies, each before the ones that read what it passes on; repartition topics as ordinary ones."""
    leader: dict[str, str] = {}

    def find(name: str) -> str:
        while leader.setdefault(name, name) != name:
            name = leader[name]
        return name

    cut: list[Op] = []
    for op in ops:
        if op["op"] == "repartition":
            topic = f"{op['id']}-repartition"
            cut.append({"id": f"{op['id']}-to", "op": "to", "in": op["in"], "topic": topic})
            op = {"id": op["id"], "op": "stream", "topic": topic}
        cut.append(op)
    for op in cut:
        for used in (op.get("in"), op.get("other")):
            if used is not None:
                leader[find(used)] = find(op["id"])
    parts: dict[str, list[Op]] = {}
    for op in cut:
        parts.setdefault(find(op["id"]), []).append(op)
    return _upstream_first(list(parts.values()))


def _upstream_first(parts: list[list[Op]]) -> list[list[Op]]:
    ordered: list[list[Op]] = []
    while parts:
        written = {op["topic"] for part in parts for op in part if op["op"] == "to"}
        free = [part for part in parts if not written & _topics_read(part)]
        assert free, "the sub-topologies feed each other in a circle"
        ordered += free
        parts = [part for part in parts if part not in free]
    return ordered


def _topics_read(part: list[Op]) -> set[str]:
    return {op["topic"] for op in part if op["op"] in ("stream", "table")}


def difference(wanted: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    """Empty when they are equal; else what is missing, unexpected or different, in short."""
    missing = [key for key in wanted if key not in found]
    extra = [key for key in found if key not in wanted]
    other = [key for key in wanted if key in found and wanted[key] != found[key]]
    if not (missing or extra or other):
        return ""
    shown = [f"{key}: {wanted[key]} but {found[key]}" for key in other[:3]]
    return (
        f"of {len(wanted)}: {len(missing)} missing {missing[:3]}, {len(extra)} unexpected {extra[:3]}, "
        f"{len(other)} different {shown}"
    )
