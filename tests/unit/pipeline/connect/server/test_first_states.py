"""What a worker reports before anything of its share has started."""

from pathlib import Path

import pytest

from moldau.pipeline.connect.server.hosting.connector_keeper import ConnectorKeeper
from moldau.pipeline.connect.server.hosting.hosting import Hosting
from moldau.pipeline.connect.server.hosting.shares import Shares
from moldau.pipeline.connect.server.hosting.state_reports import StateReports
from moldau.pipeline.connect.server.hosting.task_driver import TaskDriver
from moldau.pipeline.connect.server.settings import Configuration, read_configuration
from moldau.pipeline.connect.server.state.config_records import (
    TargetState,
    connector_record,
    target_state_record,
    task_records,
)
from moldau.pipeline.connect.server.state.status_records import (
    State,
    Status,
    TaskKey,
    connector_status_record,
    task_status_record,
)
from moldau.pipeline.connect.server.topics.config_log import LocalConfigs
from moldau.pipeline.connect.server.topics.status_log import LocalStatuses

ME, OTHER = "me:8083", "other:8083"
TASK = TaskKey("lines", 0)
CONFIG = {"connector.class": "FileStreamSink", "file": "out.txt", "topics": "lines"}


class Group:
    """What the topics say: connectors with a task each that a worker which has died since had running."""

    def __init__(self, worker_id: str) -> None:
        self.store = LocalConfigs(lambda change: None)
        self.statuses = LocalStatuses()
        self.reports = StateReports(self.statuses, lambda: self.store.state, ME)
        for name in ("lines", "asleep"):
            records = [connector_record(name, {"name": name, **CONFIG}), *task_records(name, [{"n": "0"}])]
            self.store.append(lambda state, records=records: records)  # type: ignore[misc]
        self.store.append(lambda state: [target_state_record("asleep", TargetState.STOPPED)])
        running = Status(State.RUNNING, worker_id, 1)
        self.statuses.write(connector_status_record("lines", running))
        self.statuses.write(task_status_record(TASK, running))
        self.statuses.write(connector_status_record("asleep", Status(State.STOPPED, worker_id, 1)))

    def states(self) -> list[tuple[State, str]]:
        board = self.statuses.board
        found = (board.connectors["lines"], board.tasks[TASK], board.connectors["asleep"])
        return [(one.state, one.worker_id) for one in found]


@pytest.fixture
def configuration(tmp_path: Path) -> Configuration:
    return read_configuration(overrides=[f"state.dir={tmp_path}"])


def test_a_worker_that_starts_again_runs_nothing_yet(configuration: Configuration) -> None:
    group = Group(ME)
    hosting = Hosting(configuration, lambda: group.store, lambda: group.statuses.board, group.reports)
    hosting.start()
    found = group.states()
    hosting.stop()
    assert found == [(State.UNASSIGNED, ME), (State.UNASSIGNED, ME), (State.STOPPED, ME)]


def test_a_worker_that_starts_leaves_the_states_of_others(configuration: Configuration) -> None:
    group = Group(OTHER)
    hosting = Hosting(configuration, lambda: group.store, lambda: group.statuses.board, group.reports)
    hosting.start()
    found = group.states()
    hosting.stop()
    assert found == [(State.RUNNING, OTHER), (State.RUNNING, OTHER), (State.STOPPED, OTHER)]


def test_what_is_taken_over_is_unassigned_until_it_runs(configuration: Configuration) -> None:
    group = Group(OTHER)
    ConnectorKeeper(configuration, lambda: group.store, group.reports).own(Shares.everything())
    driver = TaskDriver(configuration, lambda: group.store.state, group.reports)
    driver.own(Shares.everything())
    assert group.states() == [(State.UNASSIGNED, ME), (State.UNASSIGNED, ME), (State.STOPPED, OTHER)]
    # What it has already is not reported again.
    group.reports.task(TASK, State.RUNNING)
    driver.own(Shares.everything())
    assert group.states()[1] == (State.RUNNING, ME)
