"""The supervision of the driver process, with a stand-in that needs no Spark."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from moldau.pipeline.driver_process.supervision import Supervision, ended_early

STAND_IN = """
import json, os, signal, sys, threading

order = json.loads(sys.stdin.readline())
stopping = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: stopping.set())
print("not a status", flush=True)
print(json.dumps({"application_id": "shop", "state": "running", "pid": os.getpid(), **order}), flush=True)
if order.get("code") is not None:
    os._exit(order["code"])
stopping.wait()
print(json.dumps({"application_id": "shop", "state": "stopped"}), flush=True)
"""


@pytest.fixture(autouse=True)
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "driver_stand_in.py").write_text(STAND_IN)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))


def supervised(codes: list[int | None], **settings: object) -> Supervision:
    """Each process is told the next exit code; None: it runs until it is stopped."""
    told: Iterator[int | None] = iter(codes)
    return Supervision(
        [],
        lambda: {"code": next(told)},
        module="driver_stand_in",
        pause_s=lambda code: 0.0 if ended_early(code) else None,
        **settings,  # type: ignore[arg-type]
    )


def test_a_process_that_ends_by_itself_is_the_last() -> None:
    supervision = supervised([0])
    assert [status["state"] for status in supervision.statuses()] == ["running"]
    assert supervision.code == 0


def test_the_next_process_follows_when_spark_has_ended() -> None:
    ended: list[int] = []
    supervision = supervised([75, 75, 3], on_exit=ended.append)
    pids = {status["pid"] for status in supervision.statuses()}
    assert len(pids) == 3
    assert ended == [75, 75]
    assert supervision.code == 3


def test_stop_lets_the_process_finish() -> None:
    supervision = supervised([None])
    statuses = supervision.statuses()
    assert next(statuses)["state"] == "running"
    supervision.stop()
    assert [status["state"] for status in statuses] == ["stopped"]
    assert (supervision.code, supervision.pid) == (0, None)


def test_a_killed_process_is_replaced() -> None:
    supervision = supervised([None, None])
    statuses = supervision.statuses()
    first = next(statuses)["pid"]
    os.kill(first, 9)
    assert next(statuses)["pid"] not in (None, first)
    supervision.stop()
    assert list(statuses)[-1]["state"] == "stopped"


def test_kill_ends_it_for_good() -> None:
    supervision = supervised([None, None])
    statuses = supervision.statuses()
    next(statuses)
    threading.Thread(target=supervision.kill).start()
    assert list(statuses) == []
    assert supervision.code == -9
