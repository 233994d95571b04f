"""A paused application still belongs to its process."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'moldau[spark]'")

from moldau.core.errors import ConfigError
from moldau.pipeline.lifecycle import PipelineState
from moldau.pipeline.spark.application import PipelineApp
from moldau.pipeline.spark.checkpoint.folder import Folder
from moldau.pipeline.spark.checkpoint.owner import Owner
from moldau.pipeline.spark.driver.reset import require_stopped
from moldau.pipeline.spark.settings import AppSettings
from moldau.pipeline.streams import STRING, StreamsBuilder

PATIENCE_S = 120


def wait_for(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


def paused(folder: Path) -> PipelineApp:
    builder = StreamsBuilder("resting", key=STRING, value=STRING)
    builder.stream("lines").to("loud")
    app = PipelineApp(builder.build(), AppSettings("resting", "127.0.0.1:1", str(folder)))
    app.pause()
    app.start()
    return app


def test_while_it_rests_it_says_that_it_lives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("checkpoint.owner", "application"):
        monkeypatch.setattr(f"moldau.pipeline.spark.{module}.CONFIRM_EVERY_S", 0.02)
    folder = Folder(f"{tmp_path}/resting")
    app = paused(tmp_path)
    assert app.wait(PipelineState.PAUSED, timeout_s=PATIENCE_S) is PipelineState.PAUSED
    runner = Owner(folder, "resting", "").runner()
    assert runner is not None and runner.pid == os.getpid()
    with pytest.raises(ConfigError, match=f"resting is running, as process {os.getpid()} on "):
        require_stopped("resting", folder.address)

    def confirmed() -> int:
        count: int = json.loads(folder.read("owner.json") or b"")["count"]
        return count

    before = confirmed()
    wait_for(lambda: confirmed() > before + 2, "another machine sees its file change")
    app.stop()
    assert app.state is PipelineState.STOPPED
    require_stopped("resting", folder.address)


def test_one_that_is_run_elsewhere_is_not_paused_here(tmp_path: Path) -> None:
    elsewhere = Owner(Folder(f"{tmp_path}/resting"), "resting", "another run")
    elsewhere.claim()
    app = paused(tmp_path)
    assert app.wait(timeout_s=PATIENCE_S) is PipelineState.FAILED
    assert "resting runs already, as process " in (app.metrics.last_error or "")
    assert Owner(Folder(f"{tmp_path}/resting"), "resting", "").runner() is not None
