"""How `streams run` ends: the exit code after the first and the second signal.

A stand-in takes the place of the driver process, so that no Spark is started.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from moldau.testing import LocalCluster

WAIT_S = 120

RUN = """
import sys
from moldau.cli.local import streams_driver
from moldau.cli.main import main

streams_driver.DRIVER_MODULE = "stand_in_driver"
sys.exit(main())
"""
DRIVER = """
import json, signal, sys, threading

stopping = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: stopping.set())
sys.stdin.readline()
status = {
    "application_id": "shop", "state": "running", "batches": 0, "records_in": 3, "records_out": 3, "records_dead": 0,
    "lag_records": 0, "lag_ms": 0, "restarts": 0, "last_error": None, "hosted": 1,
}
print(json.dumps(status), flush=True)
stopping.wait()
if IS_STUBBORN:
    threading.Event().wait()
print(json.dumps({**status, "state": "stopped"}), flush=True)
"""


@pytest.fixture(scope="module")
def servers() -> Iterator[str]:
    with LocalCluster() as cluster:
        yield cluster.bootstrap_servers


@contextmanager
def running(directory: Path, servers: str, *, stubborn: bool = False) -> Iterator["subprocess.Popen[str]"]:
    (directory / "stand_in_driver.py").write_text(f"IS_STUBBORN = {stubborn}\n{DRIVER}")
    (directory / "app.py").touch()
    process = subprocess.Popen(
        [sys.executable, "-c", RUN, "streams", "run", str(directory / "app.py"), "-b", servers],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(directory), *sys.path])},
        # A process that a shell starts in the background ignores SIGINT.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "shop running\n"
        yield process
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdout, process.stderr):
            assert pipe is not None
            pipe.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_service_stopped_by_a_signal_has_succeeded(
    number: signal.Signals, tmp_path: Path, servers: str
) -> None:
    with running(tmp_path, servers) as process:
        process.send_signal(number)
        out, err = process.communicate(timeout=WAIT_S)
        assert (process.returncode, err) == (0, "stopping\n")
        assert out == "shop stopped: 3 records in, 3 out, lag 0\n"


def test_a_second_signal_ends_it_within_a_batch(tmp_path: Path, servers: str) -> None:
    with running(tmp_path, servers, stubborn=True) as process:
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        assert process.stderr.readline() == "stopping\n"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=WAIT_S)
        assert process.returncode == 130
        assert "the next run repeats that batch, and nothing is lost" in err
