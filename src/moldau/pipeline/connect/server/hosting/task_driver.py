"""Keeps the driver process at the tasks of this worker's share, and hears what becomes of them."""

import logging
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from moldau.pipeline.connect.server.hosting.connector_run import version_of
from moldau.pipeline.connect.server.hosting.progress_log import ProgressLog
from moldau.pipeline.connect.server.hosting.shares import Shares
from moldau.pipeline.connect.server.hosting.state_reports import StateReports
from moldau.pipeline.connect.server.hosting.task_plans import TaskPlans, WantedTasks
from moldau.pipeline.connect.server.hosting.worker_folder import WorkerFolder
from moldau.pipeline.connect.server.settings import Configuration
from moldau.pipeline.connect.server.state.cluster_state import ClusterState
from moldau.pipeline.connect.server.state.status_records import State, TaskKey, UsedTopic
from moldau.pipeline.driver_process.application_folder import Wanted
from moldau.pipeline.driver_process.client import DriverClient
from moldau.pipeline.driver_process.driver_host import DriverHost, Hosted, pairs

log = logging.getLogger("moldau.connect")

STATES: Final = State.__members__


class TaskDriver(DriverHost):
    def __init__(
        self, configuration: Configuration, state: Callable[[], ClusterState], reports: StateReports
    ) -> None:
        self._folder = WorkerFolder(configuration.settings.state_dir)
        super().__init__(self._folder, name="connect", log=log)
        self._configuration = configuration
        self._settings = configuration.settings
        self._state = state
        self._reports = reports
        self._shares = Shares(1, ())
        self._plans = TaskPlans(configuration)
        self._wanted: Mapping[str, WantedTasks] = {}
        self._seen: dict[str, frozenset[TaskKey]] = {}
        """Tasks that have reported a state, by application id."""
        self._counts: dict[TaskKey, tuple[int, int]] = {}
        """Records that a task had polled and written when it last reported."""
        self._progress = ProgressLog()

    def stop(self) -> None:
        super().stop()
        self._folder.release()

    def own(self, shares: Shares) -> None:
        """What is new is UNASSIGNED until it has started, whatever a worker before this one has reported."""
        for name, entry in list(self._state().connectors.items()):
            for number in shares.tasks(name, entry.tasks):
                if not self._shares.has_task(name, number):
                    self._reports.task(
                        TaskKey(name, number), State.UNASSIGNED, version=version_of(entry.config)
                    )
        self._shares = shares
        self.turn(bool(shares.owned))

    def restart(self, connector: str, task: int) -> None:
        """If it runs here."""
        self._plans.restart(connector, task)
        self.wake()

    # What the driver process is to run

    def wanted(self) -> Mapping[str, Wanted]:
        self._wanted = self._plans.wanted(self._state().connectors, self._shares)
        return self._wanted

    def starts_alone(self) -> bool:
        return not self._settings.is_lazy

    def order(self) -> Mapping[str, Any]:
        settings = self._settings
        return {
            "settings": {
                "bootstrap_servers": self._configuration.bootstrap_servers,
                "checkpoint_dir": str(self._folder.checkpoints),
                "client_settings": dict(self._configuration.task_clients),
                "instances": settings.spark_lanes,
            },
            "spark": {"master": settings.spark_master, "conf": pairs(settings.spark_conf)},
            "warm": not settings.is_lazy,
        }

    def wait_ended(self, timeout_s: float) -> bool:
        """Returns when no task runs here that does not belong to the share."""
        with self._changed:
            return self._changed.wait_for(self._has_only_its_share, timeout_s)

    def left(self) -> None:
        """Tasks of other shares are no longer this worker's to report."""
        for application_id, seen in list(self._seen.items()):
            mine = frozenset(key for key in seen if self._shares.has_task(*key))
            for key in seen - mine:
                self._reports.task_left(key)
            self._seen[application_id] = mine

    def _has_only_its_share(self) -> bool:
        return all(
            self._shares.has_task(status["connector"], one["task"])
            for status in self.statuses.values()
            for one in status.get("tasks", ())
            if one["state"] != State.UNASSIGNED
        )

    def _start_again(self, name: str, hosted: Hosted, client: DriverClient) -> None:
        """Its file may be what is missing."""
        wanted = self._wanted.get(name)
        if wanted is not None:
            self.files.write(wanted)
        super()._start_again(name, hosted, client)

    # What becomes of it

    def _ended(self, code: int) -> None:
        """The process has died: no task runs until there is another one."""
        super()._ended(code)
        for application_id in list(self._seen):
            self.heard(application_id)

    def heard(self, application_id: str) -> None:
        status = self.statuses.get(application_id)
        seen = self._seen.get(application_id, frozenset())
        if status is None:
            for key in seen:
                self._reports.task_left(key)
                self._progress.forget(key.connector)
            self._seen.pop(application_id, None)
            return
        connector = status.get("connector")
        if not connector:
            return
        wanted = self._wanted.get(application_id)
        version = None if wanted is None else wanted.version
        now = set()
        for one in status.get("tasks", ()):
            key = TaskKey(connector, one["task"])
            now.add(key)
            state = State(one["state"]) if one["state"] in STATES else State.UNASSIGNED
            self._reports.task(key, state, _reason(state, one), version)
            self._use_topics(key, one)
        written = sum(int(one.get("written", 0)) for one in status.get("tasks", ()))
        self._progress.count(connector, written, time.monotonic())
        for key in seen - now:
            self._counts.pop(key, None)
            self._reports.task_left(key)
        self._seen[application_id] = frozenset(now)

    def _use_topics(self, key: TaskKey, task: Mapping[str, Any]) -> None:
        """The list of a task's topics only grows. One that was forgotten on request is used again with the next
        record."""
        counts = task.get("polled", 0), task.get("written", 0)
        if not self._settings.tracks_topics or counts == self._counts.get(key):
            return
        self._counts[key] = counts
        for topic in task.get("topics", ()):
            self._reports.used_topic(UsedTopic(topic, key.connector), key.task)


def _reason(state: State, task: Mapping[str, Any]) -> str | None:
    """Why it has failed, or what it waits for while it runs."""
    reason = {State.FAILED: "trace", State.RUNNING: "retrying"}.get(state)
    return (task.get(reason) or None) if reason else None
