"""Exactly once: Spark's driver process, its Python workers and the Connect worker are killed in turn while data flows
through a connector. At the end nothing is missing, and nothing is there twice.

Takes minutes, so it runs with MOLDAU_KILL_ROUNDS only.
"""

import os
import random
import time
from pathlib import Path

import pytest

from e2e.connect.kills.flow import Flow, complete, explained, fed
from e2e.connect.kills.processes import KILLS, wait_ended
from e2e.connect.server.connect_process import ConnectProcess

pytestmark = pytest.mark.skipif(
    "MOLDAU_KILL_ROUNDS" not in os.environ, reason="takes minutes: make kills runs this"
)

FLOWS = ("changes", "folder", "bucket", "lake", "mirror")
LOG_SHOWN = 8_000
SETTINGS = {"offset.storage.partitions": "1", "connector.changes.interval.ms": "500"}


@pytest.fixture(params=FLOWS)
def flow(request: pytest.FixtureRequest) -> Flow:
    found: Flow = request.getfixturevalue(request.param)
    return found


def test_nothing_is_lost_or_written_twice(flow: Flow, servers: str, tmp_path: Path, rounds: int) -> None:
    dice = random.Random(1874)
    began = time.monotonic()
    worker = ConnectProcess(tmp_path / "worker", servers, SETTINGS)

    def state() -> str:
        return f"{worker.client.of(flow.name, '/status')}\n{worker.log_text()[-LOG_SHOWN:]}"

    with worker, explained(state):
        worker.client.create(flow.name, flow.config)
        with fed(flow):
            flow.wait_further(1)
            for number in range(rounds):
                # Any moment will do.
                time.sleep(dice.uniform(0, 1.5))
                kill = KILLS[number % len(KILLS)]
                killed = time.monotonic()
                wait_ended(kill(worker))
                ended = time.monotonic()
                flow.wait_further(dice.randint(1, flow.step))
                times = f"{ended - killed:.1f} s to end, {time.monotonic() - ended:.1f} s to go on"
                print(f"{flow.name} {number}: {kill.__name__}: {times}", flush=True)
        told = complete(flow)
        worker.client.wait_states(flow.name, "RUNNING", ["RUNNING"] * flow.tasks)
    print(f"{flow.name}: {rounds} kills in {time.monotonic() - began:.0f} s: {told}")
