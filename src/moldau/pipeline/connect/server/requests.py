"""What requests ask for and are answered, without HTTP."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from moldau.pipeline.connect.server.shown_config import shown
from moldau.pipeline.connect.server.state.cluster_state import ConnectorEntry
from moldau.pipeline.connect.server.state.config_records import TargetState
from moldau.pipeline.connect.server.state.status_records import State, Status

Json = dict[str, Any]

INITIAL_STATES: Final = {
    "RUNNING": TargetState.STARTED,
    "PAUSED": TargetState.PAUSED,
    "STOPPED": TargetState.STOPPED,
}


class OffsetChange(NamedTuple):
    partition: Json | None
    offset: Json | None


@dataclass(frozen=True, slots=True)
class ConnectorInfo:
    entry: ConnectorEntry
    kind: str

    def as_json(self) -> Json:
        name = self.entry.name
        return {
            "name": name,
            "config": shown(self.entry.config),
            "tasks": [{"connector": name, "task": number} for number in range(len(self.entry.tasks))],
            "type": self.kind,
        }


def status_json(name: str, connector: Status, tasks: Sequence[tuple[int, Status]], kind: str) -> Json:
    return {
        "name": name,
        "connector": state_json(connector),
        "tasks": [task_json(number, status) for number, status in tasks],
        "type": kind,
    }


def task_json(number: int, status: Status) -> Json:
    return {"id": number, **state_json(status)}


def state_json(status: Status) -> Json:
    found: Json = {"state": status.state, "worker_id": status.worker_id}
    if status.version is not None:
        found["version"] = status.version
    # The trace of the last failure is of interest for as long as it is failed. Of what runs, it says what it waits for.
    if status.trace and status.state in (State.FAILED, State.RESTARTING, State.RUNNING):
        found["trace"] = status.trace
    return found
