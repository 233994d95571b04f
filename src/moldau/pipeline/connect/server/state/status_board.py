"""What the status topic says: the states of connectors and tasks, and the topics they use. Changed by `replay` only."""

from dataclasses import dataclass, field
from typing import TypeVar

from moldau.pipeline.connect.server.state.config_records import parsed
from moldau.pipeline.connect.server.state.status_records import (
    CONNECTOR,
    TASK,
    TOPIC,
    Status,
    TaskKey,
    UsedTopic,
    status_in,
    topic_in,
)

K = TypeVar("K")


@dataclass(slots=True)
class StatusBoard:
    connectors: dict[str, Status] = field(default_factory=dict)
    tasks: dict[TaskKey, Status] = field(default_factory=dict)
    topics: set[UsedTopic] = field(default_factory=set)

    def replay(self, key: bytes, value: bytes | None, offset: int) -> None:
        name, content = key.decode(errors="replace"), parsed(value)
        if name.startswith(CONNECTOR):
            _put(self.connectors, name.removeprefix(CONNECTOR), status_in(content))
        elif name.startswith(TASK):
            connector, _, number = name.removeprefix(TASK).rpartition("-")
            if number.isdecimal():
                _put(self.tasks, TaskKey(connector, int(number)), status_in(content))
        elif name.startswith(TOPIC) and (used := topic_in(name.removeprefix(TOPIC))) is not None:
            if content is None:
                self.topics.discard(used)
            else:
                self.topics.add(used)

    def tasks_of(self, connector: str) -> dict[int, Status]:
        return {key.task: one for key, one in sorted(self.tasks.copy().items()) if key.connector == connector}

    def topics_of(self, connector: str) -> list[str]:
        return sorted(used.topic for used in self.topics.copy() if used.connector == connector)


def _put(known: dict[K, Status], key: K, status: Status | None) -> None:
    if status is None:
        known.pop(key, None)
    else:
        known[key] = status
