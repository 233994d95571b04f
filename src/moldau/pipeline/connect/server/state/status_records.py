"""The records of the status topic, as Kafka Connect 4.2 writes them."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, NamedTuple

import orjson

from moldau.pipeline.connect.server.state.config_records import Record

CONNECTOR: Final = "status-connector-"
TASK: Final = "status-task-"
TOPIC: Final = "status-topic-"
TOPIC_SEPARATOR: Final = ":connector-"


class State(StrEnum):
    UNASSIGNED = "UNASSIGNED"
    RUNNING = "RUNNING"
    PAUSED = "PAUSED"
    FAILED = "FAILED"
    RESTARTING = "RESTARTING"
    STOPPED = "STOPPED"


class Status(NamedTuple):
    """Of a connector or a task."""

    state: State
    worker_id: str
    generation: int
    trace: str | None = None
    version: str | None = None


class TaskKey(NamedTuple):
    connector: str
    task: int

    def __str__(self) -> str:
        return f"{self.connector}-{self.task}"


class UsedTopic(NamedTuple):
    topic: str
    connector: str


def connector_status_record(name: str, status: Status | None) -> Record:
    return f"{CONNECTOR}{name}".encode(), _value(status)


def task_status_record(key: TaskKey, status: Status | None) -> Record:
    return f"{TASK}{key}".encode(), _value(status)


def topic_record(used: UsedTopic, task: int, now_ms: int) -> Record:
    value = {"name": used.topic, "connector": used.connector, "task": task, "discoverTimestamp": now_ms}
    return _topic_key(used), orjson.dumps({"topic": value})


def topic_tombstone(used: UsedTopic) -> Record:
    return _topic_key(used), None


def status_in(content: Any) -> Status | None:
    """None for a tombstone, and for what is no status."""
    if not isinstance(content, Mapping) or content.get("state") not in State.__members__:
        return None
    return Status(
        State(content["state"]),
        str(content.get("worker_id") or ""),
        content["generation"] if isinstance(content.get("generation"), int) else 0,
        content.get("trace"),
        content.get("version"),
    )


def topic_in(label: str) -> UsedTopic | None:
    """The names of topics have no colon."""
    topic, separator, connector = label.partition(TOPIC_SEPARATOR)
    return UsedTopic(topic, connector) if separator else None


def _topic_key(used: UsedTopic) -> bytes:
    return f"{TOPIC}{used.topic}{TOPIC_SEPARATOR}{used.connector}".encode()


def _value(status: Status | None) -> bytes | None:
    if status is None:
        return None
    return orjson.dumps(
        {
            "state": status.state,
            "trace": status.trace,
            "worker_id": status.worker_id,
            "generation": status.generation,
            "version": status.version,
        }
    )
