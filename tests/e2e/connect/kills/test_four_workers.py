"""Four Connect workers share connectors of several kinds. One is killed: its connectors and tasks move to the others
and go on, and nothing is lost or written twice.

Takes minutes, so it runs with MOLDAU_KILL_ROUNDS only.
"""

import os
import random
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from compat.server_process import wait_until
from e2e.connect.kills.flow import Flow, complete, explained, fed
from e2e.connect.kills.processes import driver, wait_ended
from e2e.connect.server.connect_process import PATIENCE_S, ConnectClient, ConnectProcess

pytestmark = pytest.mark.skipif(
    "MOLDAU_KILL_ROUNDS" not in os.environ, reason="takes minutes: make kills runs this"
)

WORKERS = 4
ROUNDS_PER_KILL = 10
"""Each kill starts Spark on several workers again."""
SETTINGS = {
    "offset.storage.partitions": "8",
    "spark.master": "local[1]",
    "connector.changes.interval.ms": "500",
}
PAUSE_S = 0.1
"""Between portions: there are four flows, and four times Spark."""


def test_connectors_and_tasks_of_a_worker_that_is_killed_move(
    changes: Flow, folder: Flow, lake: Flow, mirror: Flow, servers: str, tmp_path: Path, rounds: int
) -> None:
    flows = (changes, folder, lake, mirror)
    for flow in flows:
        flow.pause_s = PAUSE_S
    dice = random.Random(1882)
    workers = [ConnectProcess(tmp_path / f"worker-{number}", servers, SETTINGS) for number in range(WORKERS)]
    kills = max(1, rounds // ROUNDS_PER_KILL)
    with ExitStack() as stack:
        for worker in workers:
            stack.enter_context(worker)
        stack.enter_context(explained(lambda: _states(workers)))
        for worker, flow in zip(workers, flows, strict=True):
            worker.client.create(flow.name, flow.config)
        with fed(*flows):
            for _ in range(kills):
                hosts = _settled(workers, flows)
                victim = max(workers, key=lambda one: hosts.count(one.worker_id))
                left_behind = driver(victim)
                victim.kill9()
                wait_ended(left_behind)
                others = [one for one in workers if one is not victim]
                _settled(others, flows)
                for flow in flows:
                    flow.wait_further(dice.randint(1, flow.step))
                victim.start()
        for flow in flows:
            print(f"{flow.name}: {kills} kills: {complete(flow)}")


def _settled(workers: Sequence[ConnectProcess], flows: Sequence[Flow]) -> list[str]:
    """Which worker runs what, one entry for each connector and task, as soon as all run on some of these workers."""
    ids = {one.worker_id for one in workers}
    client = workers[0].client
    hosts: list[str] = []

    def is_settled() -> bool:
        found = [one for flow in flows for one in _parts(client, flow)]
        hosts[:] = [one["worker_id"] for one in found]
        wanted = sum(1 + flow.tasks for flow in flows)
        return len(found) == wanted and set(hosts) <= ids and {one["state"] for one in found} == {"RUNNING"}

    wait_until(is_settled, f"all connectors and tasks run on {sorted(ids)}", PATIENCE_S)
    return hosts


def _parts(client: ConnectClient, flow: Flow) -> list[dict[str, str]]:
    """The states of the connector and its tasks. None before the first is known."""
    status, found, _ = client.answer("GET", f"/connectors/{flow.name}/status")
    assert status in (200, 404), found
    return [found["connector"], *found["tasks"]] if status == 200 else []


def _states(workers: Sequence[ConnectProcess]) -> str:
    return "\n".join(str(one.client.ask("GET", "/connectors?expand=status")) for one in workers[:1])
