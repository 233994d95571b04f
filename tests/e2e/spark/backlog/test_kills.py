"""Windows, joins and punctuation are exact while their driver, workers and broker are killed: not one record of the
results is missing, doubled or another."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from compat.moldau_broker import MoldauBroker
from compat.streams.cases import Case
from e2e.process_facts import children
from e2e.spark.backlog.cases import SHAPES, in_order_of_all, make_backlog
from e2e.spark.backlog.reference import difference, expected
from e2e.spark.backlog.sides import create_inputs, create_outputs, results, send_records, topology_of
from e2e.spark.kit import PATIENCE_S, kill9, some_worker, wait_for, wait_processed

APP = Path(__file__).parents[1] / "apps" / "described_cases.py"
RUN, INPUTS = "kills", "kills-in"
WANTED = (
    "windows after a repartition",
    "stream-stream join",
    "stream-table join",
    "punctuation",
    "sessions after a repartition",
    "stream-table join after a repartition",
)
ROUNDS_AS_LONG = 10
"""So many rounds share the records of a case as it is; more of them are given a longer one."""


@contextmanager
def application(folder: Path, servers: str, cases: list[Case]) -> Iterator[subprocess.Popen[bytes]]:
    order = folder / "cases.json"
    order.write_text(json.dumps({"application": RUN, "inputs": INPUTS, "cases": cases}))
    environment = {
        **os.environ,
        "MOLDAU_DESCRIBED_CASES": str(order),
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    command = [str(Path(sys.executable).with_name("moldau")), "streams", "run", str(APP)]
    command += ["--no-record-cache", "--bootstrap-server", servers, "--master", "local[2]"]
    command += ["--instances", "2", "--checkpoint-dir", str(folder / "checkpoints")]
    with (folder / "run.log").open("wb") as log:
        runner = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
        try:
            yield runner
        finally:
            runner.send_signal(signal.SIGINT)
            runner.wait(PATIENCE_S)


def kill_something(number: int, runner: subprocess.Popen[bytes], broker: MoldauBroker) -> None:
    match number % 3:
        case 0:
            kill9(some_worker())
        case 1:
            broker.kill9()
            broker.start()
        case 2:
            wait_for(lambda: bool(children(runner.pid)), "the driver runs")
            kill9(children(runner.pid)[0])


def test_windows_joins_and_punctuation_are_exact_under_kills(
    own_broker: MoldauBroker, tmp_path: Path, rounds: int
) -> None:
    servers = own_broker.bootstrap
    length = -(-rounds // ROUNDS_AS_LONG)
    seeds = [list(SHAPES).index(shape) + 1_000 * len(SHAPES) for shape in WANTED]
    cases = [make_backlog(seed, length) for seed in seeds]
    create_inputs(servers, INPUTS, cases)
    create_outputs(servers, RUN, cases)
    topology = topology_of(RUN, cases, INPUTS)
    records = in_order_of_all(cases)
    size = -(-len(records) // (rounds + 1))
    pieces = [records[start : start + size] for start in range(0, len(records), size)]
    with application(tmp_path, servers, cases) as runner:
        send_records(servers, INPUTS, pieces[0], one_by_one=True)
        wait_processed(topology, servers)
        for number, piece in enumerate(pieces[1:]):
            half = len(piece) // 2
            send_records(servers, INPUTS, piece[:half], one_by_one=True)
            kill_something(number, runner, own_broker)
            send_records(servers, INPUTS, piece[half:], one_by_one=True)
            # It has come back from the kill.
            wait_processed(topology, servers)
    found = results(servers, RUN, cases)
    for case in cases:
        told = difference(expected(case), found[case["prefix"]])
        assert not told, f"{case['prefix']} ({case['shape']}): {told}\n{tmp_path}/run.log"
