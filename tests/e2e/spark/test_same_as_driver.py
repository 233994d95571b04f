"""Random topologies of the oracle through Spark: equal, record by record, to the topology test driver.

All of them run as sub-topologies of one application, in one Spark query. Taken are those in which the order of the
records is settled: no topics in between, and where a task reads several topics, timestamps that grow. In the others the
driver pipes each record through to the end before the next, which no host of parallel tasks does.
"""

import dataclasses
import os
from itertools import count, islice
from pathlib import Path
from typing import Any

from compat.streams.cases import Case, make_case
from compat.streams.described import Described, run
from e2e.spark.kit import PATIENCE_S, committed, create_topics, running, wait_caught_up
from moldau.pipeline.plan.nodes import Node, Process
from moldau.pipeline.plan.stores import StoreSpec
from moldau.pipeline.plan.topology import Topology

CASES = int(os.environ.get("MOLDAU_ORACLE_CASES", "80"))
NAMES = {"name", "table", "topic"}
LISTS_OF_NAMES = {"parents", "topics"}


def settled(seed: int) -> Case | None:
    """The case with its inputs in an order every host keeps, or None when there is none."""
    case = make_case(seed)
    topology = Described(case).topology
    if topology.repartition_topics or topology.global_tables:
        return None
    if any(isinstance(node, Process) for node in topology.nodes):
        return None
    # The client takes a timestamp of 0 for none.
    inputs = [{**step, "ts": step["ts"] + 1} for step in case["inputs"] if "advance" not in step]
    if any(len(part.source_topics) > 1 for part in topology.sub_topologies):
        for number, step in enumerate(inputs):
            step["ts"] = max(step["ts"], inputs[number - 1]["ts"] + 1 if number else 0)
    return {**case, "inputs": inputs}


def apart(node: Node, prefix: str) -> Node:
    """The node under names of its own, so that many topologies fit into one."""
    changes: dict[str, Any] = {}
    for field in dataclasses.fields(node):
        value = getattr(node, field.name)
        if field.name in NAMES and value is not None:
            changes[field.name] = prefix + value
        elif field.name in LISTS_OF_NAMES:
            changes[field.name] = tuple(prefix + one for one in value)
        elif isinstance(value, StoreSpec):
            changes[field.name] = dataclasses.replace(value, name=prefix + value.name, queryable=False)
    return dataclasses.replace(node, **changes)


def send_inputs(servers: str, cases: dict[int, Case]) -> None:
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": servers, "linger.ms": 5})
    for seed, case in cases.items():
        for step in case["inputs"]:
            headers = [("h", step["header"])] if step.get("header") else None
            topic = f"c{seed}-{step['topic']}"
            producer.produce(topic, step["value"], step["key"], timestamp=step["ts"], headers=headers)
        producer.poll(0)
    assert producer.flush(PATIENCE_S) == 0


def test_random_topologies_give_the_same_on_spark(servers: str, tmp_path: Path) -> None:
    found = ((seed, case) for seed in count() if (case := settled(seed)) is not None)
    cases = dict(islice(found, CASES))
    topologies = {seed: Described(case) for seed, case in cases.items()}
    nodes = tuple(
        apart(node, f"c{seed}-")
        for seed, described in topologies.items()
        for node in described.topology.nodes
    )
    whole = Topology(nodes, application_id="oracle")
    topics = {
        f"c{seed}_{topic}": 1 for seed, one in topologies.items() for topic in one.topology.source_topics
    }
    topics |= {f"c{seed}_{topic}": 1 for seed, one in topologies.items() for topic in one.sinks}
    create_topics(servers, **topics)
    send_inputs(servers, cases)
    with running(whole, servers, tmp_path, dead_letters=False, records_per_batch_max=10**9) as app:
        wait_caught_up(app)
    for seed, case in cases.items():
        for topic, expected in run(case)["outputs"].items():
            rows = [
                [
                    one.key.decode() if one.key is not None else None,
                    one.value.decode() if one.value is not None else None,
                    one.timestamp_ms,
                    one.headers["h"].decode() if "h" in one.headers else None,
                ]
                for one in committed(servers, f"c{seed}-{topic}")
            ]
            assert rows == expected, f"seed {seed}, topic {topic}: {case['ops']}"
