"""What the status of a task says besides its state."""

from pathlib import Path
from typing import Any

import pytest

from moldau.pipeline.connect.server.hosting.state_reports import StateReports
from moldau.pipeline.connect.server.hosting.task_driver import TaskDriver
from moldau.pipeline.connect.server.requests import task_json
from moldau.pipeline.connect.server.settings import read_configuration
from moldau.pipeline.connect.server.state.cluster_state import ClusterState, ConnectorEntry
from moldau.pipeline.connect.server.state.status_records import TaskKey
from moldau.pipeline.connect.server.topics.status_log import LocalStatuses


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            {"state": "RUNNING", "retrying": "poll: the database is away", "trace": "of an older failure"},
            {"state": "RUNNING", "trace": "poll: the database is away"},
        ),
        ({"state": "RUNNING", "retrying": None, "trace": "of an older failure"}, {"state": "RUNNING"}),
        (
            {"state": "FAILED", "retrying": None, "trace": "ConnectError: no entry"},
            {"state": "FAILED", "trace": "ConnectError: no entry"},
        ),
        ({"state": "PAUSED", "retrying": "poll: the database is away"}, {"state": "PAUSED"}),
    ],
)
def test_why_a_task_has_failed_or_waits(
    tmp_path: Path, said: dict[str, Any], expected: dict[str, Any]
) -> None:
    state = ClusterState({"lines": ConnectorEntry("lines", {}, tasks=({},))})
    statuses = LocalStatuses()
    reports = StateReports(statuses, lambda: state, "worker:8083")
    driver = TaskDriver(read_configuration(f"state.dir={tmp_path}\n"), lambda: state, reports)
    driver.statuses = {"app": {"connector": "lines", "tasks": [{"task": 0, **said}]}}
    driver.heard("app")
    found = task_json(0, statuses.board.tasks[TaskKey("lines", 0)])
    assert found == {"id": 0, "worker_id": "worker:8083", **expected}
