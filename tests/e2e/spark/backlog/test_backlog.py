"""The final results of a topology do not depend on how its input came, nor on how it was run.

Generated topologies over generated backlogs, run by Kafka Streams and by us on the same broker and input; then by us
with large and small batches, with one slot and several, with restarts, and live in small pieces. All of it must equal
the documented semantics (`reference`); Kafka Streams does where its own results do not depend on timing.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from compat.moldau_broker import MoldauBroker
from compat.streams.cases import Case
from e2e.spark.backlog.cases import SHAPES, in_order_of_all, make_backlog, with_ample_grace
from e2e.spark.backlog.reference import Result, difference, expected
from e2e.spark.backlog.sides import (
    KafkaStreams,
    create_inputs,
    create_outputs,
    results,
    send_records,
    topology_of,
)
from e2e.spark.kit import running, wait_caught_up, wait_for
from kafka_jars import KafkaJarsUnavailable

CASES = int(os.environ.get("MOLDAU_BACKLOG_CASES", len(SHAPES)))
TOGETHER = len(SHAPES)
"""Cases in one application: each shape once."""
IS_THOROUGH = CASES > TOGETHER


class Run(NamedTuple):
    """`slots` one after the other: a restart lies between two."""

    records_per_batch_max: int
    slots: tuple[int, ...]
    record_cache: bool = False


RUNS = {
    "at-once": Run(400_000, (2,), record_cache=True),
    "small-batches": Run(300, (1, 3)),
    **({"tiny-batches": Run(50, (4,)), "restarts": Run(700, (3, 1, 2, 4))} if IS_THOROUGH else {}),
}
LIVE_PIECES = 8 if IS_THOROUGH else 4


class Backlog(NamedTuple):
    servers: str
    name: str
    cases: list[Case]
    expected: dict[str, Result]

    def require_equal(self, found: dict[str, Result]) -> None:
        wrong = {
            f"{case['prefix']} ({case['shape']})": told
            for case in self.cases
            if (told := difference(self.expected[case["prefix"]], found[case["prefix"]]))
        }
        assert not wrong, "\n".join(f"{name}: {told}" for name, told in wrong.items())


@pytest.fixture(scope="module", params=range(0, CASES, TOGETHER), ids="cases-from-{}".format)
def backlog(request: pytest.FixtureRequest, shared_broker: MoldauBroker) -> Backlog:
    cases = [make_backlog(seed) for seed in range(request.param, min(request.param + TOGETHER, CASES))]
    found = Backlog(
        shared_broker.bootstrap,
        f"backlog{request.param}",
        cases,
        {one["prefix"]: expected(one) for one in cases},
    )
    create_inputs(found.servers, found.name, cases)
    send_records(found.servers, found.name, [one for case in cases for one in case["records"]])
    return found


@pytest.fixture(scope="module")
def kafka_streams(
    shared_broker: MoldauBroker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[KafkaStreams]:
    try:
        streams = KafkaStreams(shared_broker.bootstrap, tmp_path_factory.mktemp("kafka-streams"))
    except KafkaJarsUnavailable as reason:
        pytest.skip(str(reason))
    with streams:
        yield streams


@pytest.mark.java
def test_kafka_streams_gives_what_the_semantics_say(backlog: Backlog, kafka_streams: KafkaStreams) -> None:
    """Where a repartition decides by timing which records are late, it may drop others than the semantics do: then it
    counts no more than there is."""
    run = f"{backlog.name}-kafka"
    create_outputs(backlog.servers, run, backlog.cases)
    kafka_streams.run(run, backlog.cases, backlog.name)
    found = results(backlog.servers, run, backlog.cases)
    for case in backlog.cases:
        wanted, told = backlog.expected[case["prefix"]], found[case["prefix"]]
        about = f"{case['prefix']} ({case['shape']})"
        if case["kafka"] == "equal":
            assert not difference(wanted, told), f"{about}: {difference(wanted, told)}"
        elif case["kafka"] == "at_most":
            there = expected(with_ample_grace(case))
            more = {key: count for key, count in told.items() if int(count) > int(there.get(key, 0))}
            assert not more, f"{about}: Kafka Streams counts more than there is: {more}"


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_results_do_not_depend_on_batches_slots_and_restarts(
    run: Run, backlog: Backlog, tmp_path: Path
) -> None:
    name = f"{backlog.name}-{run.records_per_batch_max}-{len(run.slots)}"
    create_outputs(backlog.servers, name, backlog.cases)
    topology = topology_of(name, backlog.cases, backlog.name)
    for number, slots in enumerate(run.slots, 1):
        settings = {"instances": slots, "records_per_batch_max": run.records_per_batch_max}
        with running(
            topology, backlog.servers, tmp_path, **settings, record_cache=run.record_cache, dead_letters=False
        ) as app:
            if number < len(run.slots):
                wait_for(
                    lambda app=app: app.metrics.batches >= 2 or app.metrics.restarts > 0, "some of it is read"
                )
            else:
                wait_caught_up(app, restarts_max=0)
    backlog.require_equal(results(backlog.servers, name, backlog.cases))


def test_results_do_not_depend_on_input_coming_piece_by_piece(backlog: Backlog, tmp_path: Path) -> None:
    """Live: each piece is processed before the next one comes, and in the middle there is a restart."""
    name = f"{backlog.name}-live"
    create_inputs(backlog.servers, f"{name}-in", backlog.cases)
    create_outputs(backlog.servers, name, backlog.cases)
    topology = topology_of(name, backlog.cases, f"{name}-in")
    records = in_order_of_all(backlog.cases)
    size = -(-len(records) // LIVE_PIECES)
    pieces = [records[start : start + size] for start in range(0, len(records), size)]
    half = LIVE_PIECES // 2
    for slots, some in ((2, pieces[:half]), (3, pieces[half:])):
        with running(topology, backlog.servers, tmp_path, instances=slots, dead_letters=False) as app:
            for piece in some:
                send_records(backlog.servers, f"{name}-in", piece, one_by_one=True)
                wait_caught_up(app, restarts_max=0)
    backlog.require_equal(results(backlog.servers, name, backlog.cases))
