"""Cases of `tests/sql/cases` through Spark: their queries write there what the test driver writes, record by record.

All of them run as sub-topologies of one application, in one Spark query. Taken are those in which the order of the
records is settled: queries over inserted records, and where a task reads several topics, timestamps that grow. In the
others the driver takes each record through to the end before the next, which no host of parallel tasks does.
"""

import dataclasses
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from e2e.spark.kit import PATIENCE_S, committed, create_topics, running, wait_caught_up
from e2e.spark.test_same_as_driver import apart
from moldau.core.errors import MoldauError
from moldau.pipeline.operators.records import OutputRecord
from moldau.pipeline.plan.topology import Topology
from moldau.pipeline.sql.cases.case_file import Case, read_cases
from moldau.pipeline.sql.cases.local_run import LocalRun
from moldau.pipeline.sql.cases.runner import execute_case
from moldau.pipeline.sql.cases.topics import StoredRecord
from moldau.pipeline.sql.cases.world import World
from moldau.pipeline.sql.engine import topology_from
from moldau.pipeline.sql.engine.program import program_of
from moldau.pipeline.sql.functions.library import builtin

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parents[3] / "sql" / "cases"
QUERIES = int(os.environ.get("MOLDAU_SQL_CASES", "90"))
"""A tenth of the cases; with more than there are, all that can be taken."""
NOT_TAKEN = (
    "AVRO",
    "PROTOBUF",
    "JSON_SR",
    "PAUSE",
    "OR REPLACE",
    "TERMINATE",
    "DROP",
    "ALTER",
    "UUID(",
    "RANDOM(",
)
"""Texts of cases with a registry, with queries that change on their way, or without a definite result."""

EARLIEST = {"auto.offset.reset": "earliest"}

Inputs = list[tuple[str, StoredRecord]]


@dataclass(frozen=True)
class Taken:
    """A query of a case, and the records inserted into what it reads."""

    name: str
    topology: Topology
    inputs: Inputs

    def expected(self) -> dict[str, list[OutputRecord]]:
        """What the driver writes, by topic."""
        run = LocalRun(self.topology)
        written: dict[str, list[OutputRecord]] = {}
        offsets = dict.fromkeys(run.topics, 0)
        for topic, record in self.inputs:
            for made in run.take(topic, offsets[topic], *record):
                written.setdefault(made.topic, []).append(made)
            offsets[topic] += 1
        return written


def queries() -> Iterator[Taken]:
    for file in sorted(FOLDER.rglob("*.sql")):
        for case in read_cases(file.read_text(), str(file)):
            if not case.expects_error and not any(word in case.text.upper() for word in NOT_TAKEN):
                yield from queries_of(case, f"{file.stem}:{case.line}")


def queries_of(case: Case, name: str) -> Iterator[Taken]:
    world = World(builtin())
    try:
        execute_case(world, case)
    except (MoldauError, OSError):
        return  # tests/sql reports it; or it needs another file
    filled = {one.target.topic for one in world.catalog.queries.values() if one.target is not None}
    for query_id in world.catalog.queries:
        program = program_of(query_id, world.catalog)
        program = dataclasses.replace(program, properties={**program.properties, **EARLIEST})
        topology = topology_from(program.to_json())
        inputs = settled(topology, world) if not filled & set(topology.source_topics) else []
        if inputs:
            yield Taken(f"{name} {case.name}, {query_id}", topology, inputs)


def settled(topology: Topology, world: World) -> Inputs:
    """What the query reads, in an order that every host keeps: where a task reads several topics, the times grow. Empty
    where there is none."""
    joins = any(len(part.source_topics) > 1 for part in topology.sub_topologies)
    times_are_columns = any(source.timestamp_column for source in world.catalog.sources.values())
    if joins and (topology.repartition_topics or times_are_columns):
        return []
    found: Inputs = []
    records = {topic: iter(world.topics.records(topic)) for topic in topology.source_topics}
    for topic in world.topics.order:
        if topic in records:
            record = next(records[topic])
            # The client takes a timestamp of 0 for none.
            least = found[-1][1].timestamp_ms + 1 if joins and found else 1
            found.append((topic, record._replace(timestamp_ms=max(record.timestamp_ms, least))))
    return found


def merged(taken: list[Taken]) -> Topology:
    nodes: tuple[Any, ...] = ()
    internal: tuple[Any, ...] = ()
    for number, one in enumerate(taken):
        nodes += tuple(apart(node, f"q{number}-") for node in one.topology.nodes)
        internal += tuple(
            dataclasses.replace(topic, name=f"q{number}-{topic.name}")
            for topic in one.topology.repartition_topics
        )
    return Topology(nodes, internal, application_id="sql-cases")


def send_inputs(servers: str, taken: list[Taken]) -> None:
    producer = Producer({"bootstrap.servers": servers, "linger.ms": 5, "enable.idempotence": True})
    for number, one in enumerate(taken):
        for topic, record in one.inputs:
            headers: Any = list(record.headers)
            producer.produce(
                f"q{number}-{topic}", record.value, record.key, timestamp=record.timestamp_ms, headers=headers
            )
        producer.poll(0)
    assert producer.flush(PATIENCE_S) == 0


def test_queries_of_the_cases_write_the_same_on_spark(servers: str, tmp_path: Path) -> None:
    found = list(queries())
    step = max(1, len(found) // QUERIES)
    taken = found[::step] if len(found) > QUERIES else found
    whole = merged(taken)
    sinks = {topic for part in whole.sub_topologies for topic in part.sink_topics} - whole.internal_topics
    create_topics(servers, **{topic: 1 for topic in {*whole.source_topics, *sinks}})
    send_inputs(servers, taken)
    with running(whole, servers, tmp_path, records_per_batch_max=10**9) as app:
        wait_caught_up(app, restarts_max=0)
    for number, one in enumerate(taken):
        expected = one.expected()
        for topic in {topic for part in one.topology.sub_topologies for topic in part.sink_topics}:
            if topic not in one.topology.internal_topics:
                rows = [
                    (row.key, row.value, row.timestamp_ms) for row in committed(servers, f"q{number}-{topic}")
                ]
                wanted = [(row.key, row.value, row.timestamp_ms) for row in expected.get(topic, [])]
                assert rows == wanted, one.name
