"""No connector gets more tasks than a worker allows, whatever its settings say."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from moldau.pipeline.connect.api import ConnectError, SourceConnector, SourceTask
from moldau.pipeline.connect.declarations import Texts
from moldau.pipeline.connect.server.config_checks import ConfigChecks
from moldau.pipeline.connect.server.failures import RequestFailure
from moldau.pipeline.connect.server.hosting.connector_run import ConnectorRun
from moldau.pipeline.connect.server.hosting.shares import Shares
from moldau.pipeline.connect.server.hosting.task_plans import TaskPlans
from moldau.pipeline.connect.server.settings import read_configuration
from moldau.pipeline.connect.server.state.cluster_state import ConnectorEntry

LIMIT = 3


class Greedy(SourceConnector):
    """Has `least` tasks, or as many as it may."""

    task_class = SourceTask

    def task_configs(self, tasks_max: int) -> Sequence[Texts]:
        return [{"n": str(number)} for number in range(max(tasks_max, int(self.config["least"])))]


CONFIG = {"name": "greedy", "connector.class": f"{__name__}:Greedy", "tasks.max": "1500", "least": "1"}


def run_of(**settings: str) -> ConnectorRun:
    run = ConnectorRun("greedy", {**CONFIG, **settings}, {}, tasks_limit=LIMIT)
    run.start()
    return run


def test_it_is_asked_for_as_many_as_it_may_have() -> None:
    assert len(run_of().task_configs()) == LIMIT


def test_one_that_has_more_fails() -> None:
    run = run_of(least="4", **{"tasks.max.enforce": "false"})
    with pytest.raises(
        ConnectError, match=r"generated 4 tasks, and a worker lets a connector have 3\. .*limit"
    ):
        run.task_configs()


def test_more_tasks_that_are_stored_already_do_not_run() -> None:
    plans = TaskPlans(read_configuration(overrides=[f"tasks.max.limit={LIMIT}"]))
    many = tuple({"n": str(number)} for number in range(LIMIT + 1))
    entry = ConnectorEntry("greedy", CONFIG, tasks=many, config_offset=1, tasks_offset=9)
    assert plans.wanted({"greedy": entry}, Shares.everything()) == {}
    assert plans.wanted({"greedy": replace(entry, tasks=many[:LIMIT])}, Shares.everything())


def test_the_settings_of_the_worker_say_how_many() -> None:
    with pytest.raises(RequestFailure, match=r"may have 200 tasks at most.*raise tasks\.max\.limit"):
        ConfigChecks(read_configuration()).require_valid("greedy", CONFIG)
    ConfigChecks(read_configuration(overrides=["tasks.max.limit=1500"])).require_valid("greedy", CONFIG)
