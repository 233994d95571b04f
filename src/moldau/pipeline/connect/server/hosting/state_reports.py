"""Writes the states of what runs here to the status topic: each once, until it changes."""

import logging
import time
from collections.abc import Callable

from moldau.pipeline.connect.server.state.cluster_state import ClusterState
from moldau.pipeline.connect.server.state.status_records import (
    State,
    Status,
    TaskKey,
    UsedTopic,
    connector_status_record,
    task_status_record,
    topic_record,
    topic_tombstone,
)
from moldau.pipeline.connect.server.topics.status_log import StatusStore

log = logging.getLogger("moldau.connect")


class StateReports:
    def __init__(self, store: StatusStore, state: Callable[[], ClusterState], worker_id: str) -> None:
        self._store = store
        self._state = state
        self._worker_id = worker_id
        self._connectors: dict[str, Status] = {}
        self._tasks: dict[TaskKey, Status] = {}
        self._topics: set[UsedTopic] = set()

    def connector(
        self, name: str, state: State, trace: str | None = None, version: str | None = None
    ) -> None:
        """Of a connector that exists: a deleted one has no state."""
        if name not in self._state().connectors:
            return
        status = Status(state, self._worker_id, 0, trace, version)
        if self._connectors.get(name) != status:
            self._connectors[name] = status
            self._store.write(connector_status_record(name, self._numbered(status)))

    def task(self, key: TaskKey, state: State, trace: str | None = None, version: str | None = None) -> None:
        entry = self._state().connectors.get(key.connector)
        if entry is None or key.task >= len(entry.tasks):
            return
        status = Status(state, self._worker_id, 0, trace, version)
        before = self._tasks.get(key)
        if before != status:
            self._tasks[key] = status
            if before is None or before.state is not state:
                log.info("the task %s-%d is %s", key.connector, key.task, state)
            self._store.write(task_status_record(key, self._numbered(status)))

    def connector_left(self, name: str) -> None:
        """It does not run here any more. What another worker has written since stays."""
        self._connectors.pop(name, None)
        last = self._store.board.connectors.get(name)
        if last is not None and last.worker_id == self._worker_id and name in self._state().connectors:
            gone = self._numbered(Status(State.UNASSIGNED, self._worker_id, 0, version=last.version))
            self._store.write(connector_status_record(name, gone))

    def task_left(self, key: TaskKey) -> None:
        self._tasks.pop(key, None)
        last = self._store.board.tasks.get(key)
        entry = self._state().connectors.get(key.connector)
        if entry is None or key.task >= len(entry.tasks):
            return
        if last is not None and last.worker_id == self._worker_id:
            gone = self._numbered(Status(State.UNASSIGNED, self._worker_id, 0, version=last.version))
            self._store.write(task_status_record(key, gone))

    def used_topic(self, used: UsedTopic, task: int) -> None:
        if used in self._store.board.topics:
            # If it is forgotten later, it may be written again.
            self._topics.discard(used)
            return
        if used.connector not in self._state().connectors:
            return
        # What has been written may not have been read back yet.
        if used not in self._topics:
            self._topics.add(used)
            self._store.write(topic_record(used, task, int(time.time() * 1000)))

    def forget_topics(self, connector: str) -> None:
        self._topics = {used for used in self._topics if used.connector != connector}
        for topic in self._store.board.topics_of(connector):
            self._store.write(topic_tombstone(UsedTopic(topic, connector)))

    def remove_connector(self, name: str) -> None:
        """It was deleted. Called by the worker that had it."""
        self._connectors.pop(name, None)
        if name in self._store.board.connectors:
            self._store.write(connector_status_record(name, None))
        self.remove_tasks(name, 0)
        self.forget_topics(name)

    def remove_tasks(self, name: str, first: int) -> None:
        """It has no tasks from this number on."""
        for number in self._store.board.tasks_of(name):
            if number >= first:
                self._tasks.pop(TaskKey(name, number), None)
                self._store.write(task_status_record(TaskKey(name, number), None))

    def _numbered(self, status: Status) -> Status:
        """Generations grow with the config topic: they order what different workers write."""
        return status._replace(generation=max(self._state().offset, 0))
