"""A task that cannot start says for what it waits: in its status at once, in the log after a while."""

import logging
import time

import pytest

from moldau.pipeline.spark.connectors.worker import progress as module
from moldau.pipeline.spark.connectors.worker.progress import Progress

DEADLINE_S = 60.0


def test_a_long_wait_is_logged(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SILENT_WAIT_S_MAX", 0.01)
    progress = Progress(name="orders-0")
    with caplog.at_level(logging.WARNING), progress.waiting_for("the coordinator of its transactions"):
        assert progress.retrying == "waiting for the coordinator of its transactions"
        end = time.monotonic() + DEADLINE_S
        while not caplog.messages and time.monotonic() < end:
            time.sleep(0.01)
    assert caplog.messages == [
        "orders-0 cannot start yet: it has waited for the coordinator of its transactions for 0.01 s, and goes on "
        "waiting"
    ]
    assert progress.retrying is None


def test_a_short_wait_is_not(caplog: pytest.LogCaptureFixture) -> None:
    progress = Progress(name="orders-0")
    with progress.waiting_for("open transactions in connect-offsets"):
        pass
    assert not caplog.messages
