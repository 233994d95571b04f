"""`moldau streams run` on a Spark cluster of two workers: unchanged, state and all, also when the driver is killed."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from e2e.spark.kit import PATIENCE_S, kill9, wait_for, worker_pids
from e2e.spark.standalone import StandaloneCluster
from e2e.spark.word_counts import WordCounts

APP = Path(__file__).parent / "apps" / "word_count.py"


def children(pid: int) -> list[int]:
    """All below a process, by asking the kernel."""
    found = []
    for task in Path("/proc", str(pid), "task").glob("*/children"):
        for child in task.read_text().split():
            found += [int(child), *children(int(child))]
    return found


def is_java(pid: int) -> bool:
    try:
        return Path(os.readlink(f"/proc/{pid}/exe")).name == "java"
    except OSError:
        return False


@pytest.mark.skipif(
    "MOLDAU_KILL_ROUNDS" not in os.environ,
    reason="takes minutes, with five JVMs: make kills runs this",
)
def test_a_word_count_on_two_workers_survives_its_driver(servers: str, tmp_path: Path) -> None:
    counts = WordCounts(servers)
    counts.send_lines(500)
    with StandaloneCluster(tmp_path / "spark") as cluster, (tmp_path / "run.log").open("wb") as log:
        command = [str(Path(sys.executable).with_name("moldau")), "streams", "run", str(APP)]
        command += [
            "--no-record-cache",
            "--bootstrap-server",
            servers,
            "--checkpoint-dir",
            str(tmp_path / "checkpoints"),
        ]
        command += ["--master", cluster.master, "--conf", "spark.executor.memory=512m"]
        # The first batch waits for both.
        command += ["--conf", "spark.scheduler.minRegisteredResourcesRatio=1.0"]
        command += ["--conf", f"spark.scheduler.maxRegisteredResourcesWaitingTime={PATIENCE_S}s"]
        runner = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            wait_for(counts.are_complete, "the first lines are counted")
            hosts = {Path(f"/proc/{pid}/cwd").resolve().parents[1] for pid in worker_pids()}
            drivers = [pid for pid in children(runner.pid) if is_java(pid)]
            assert len(drivers) == 1
            kill9(drivers[0])
            counts.send_lines(500)
            wait_for(counts.are_complete, "another driver has counted the rest")
        finally:
            runner.send_signal(signal.SIGINT)
            runner.wait(PATIENCE_S)
        assert "Spark has ended" in (tmp_path / "run.log").read_text()
    # The tasks ran in executors of both workers.
    assert len(hosts) == 2, hosts
    counts.require_each_once()
