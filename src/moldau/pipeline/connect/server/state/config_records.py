"""The records of the config topic, as Kafka Connect 4.2 writes them: a key in words, and JSON without a schema."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Final, NamedTuple

import orjson

CONNECTOR: Final = "connector-"
TASK: Final = "task-"
COMMIT: Final = "commit-"
FENCING: Final = "tasks-fencing-"
TARGET_STATE: Final = "target-state-"
RESTART: Final = "restart-connector-"
LOGGER: Final = "logger-cluster-"

Record = tuple[bytes, bytes | None]
Texts = Mapping[str, str]


class TargetState(StrEnum):
    """What a connector is to be. Connect's words in the topic."""

    STARTED = "STARTED"
    PAUSED = "PAUSED"
    STOPPED = "STOPPED"


class RestartRequest(NamedTuple):
    connector: str
    only_failed: bool
    with_tasks: bool


def connector_record(name: str, config: Texts | None) -> Record:
    """None deletes it."""
    return f"{CONNECTOR}{name}".encode(), None if config is None else _json({"properties": dict(config)})


def task_records(name: str, configs: Sequence[Texts]) -> list[Record]:
    """The commit comes last: without it the others have no effect."""
    tasks: list[Record] = [
        (f"{TASK}{name}-{number}".encode(), _json({"properties": dict(config)}))
        for number, config in enumerate(configs)
    ]
    return [*tasks, (f"{COMMIT}{name}".encode(), _json({"tasks": len(configs)}))]


def fencing_record(name: str, count: int) -> Record:
    """Behind a commit: no task of an earlier one can write any more, and the source's tasks, so many, may start."""
    return f"{FENCING}{name}".encode(), _json({"task-count": count})


def target_state_record(name: str, state: TargetState | None) -> Record:
    """With the field that workers before Kafka 3.5 read: they know no STOPPED."""
    if state is None:
        return f"{TARGET_STATE}{name}".encode(), None
    old = TargetState.STARTED if state is TargetState.STARTED else TargetState.PAUSED
    return f"{TARGET_STATE}{name}".encode(), _json({"state": old, "state.v2": state})


def restart_record(request: RestartRequest) -> Record:
    value = {"include-tasks": request.with_tasks, "only-failed": request.only_failed}
    return f"{RESTART}{request.connector}".encode(), _json(value)


def logger_record(logger: str, level: str) -> Record:
    return f"{LOGGER}{logger}".encode(), _json({"level": level})


def texts_in(value: Any) -> dict[str, str] | None:
    """The properties of a connector or task. None for what is no such record."""
    found = value.get("properties") if isinstance(value, dict) else None
    if not isinstance(found, dict):
        return None
    # Connect writes null for a property that was given as null.
    return {name: str(text) for name, text in found.items() if text is not None}


def count_in(value: Any, name: str = "tasks") -> int | None:
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, int) and not isinstance(found, bool) and found >= 0 else None


def target_state_in(value: Any) -> TargetState | None:
    if not isinstance(value, dict):
        return None
    found = value.get("state.v2", value.get("state"))
    return TargetState(str(found)) if found in TargetState.__members__ else None


def flag_in(value: Any, name: str) -> bool:
    return isinstance(value, dict) and value.get(name) is True


def parsed(value: bytes | None) -> Any:
    """None for a tombstone and for what is not JSON."""
    try:
        return None if value is None else orjson.loads(value)
    except orjson.JSONDecodeError:
        return None


def _json(value: Any) -> bytes:
    return orjson.dumps(value)
