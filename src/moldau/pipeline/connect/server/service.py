"""What requests change: connectors and what they are to be. Calls block.

Every worker takes every request: what is written to the config topic is decided on all that was written before, and
only one worker can write at a time (`topics/config_log.py`). Only the restart of a single task goes to the worker that
runs it. `connector_view.py` answers what is known, `connector_offsets.py` looks after offsets.
"""

import http.client
import logging
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import quote

from moldau.pipeline.connect.server.config_checks import ConfigChecks
from moldau.pipeline.connect.server.connector_offsets import ConnectorOffsets
from moldau.pipeline.connect.server.connector_view import ConnectorView, kind_of
from moldau.pipeline.connect.server.failures import (
    CONFLICT,
    FORBIDDEN,
    SERVER_ERROR,
    RequestFailure,
    bad_request,
    not_found,
)
from moldau.pipeline.connect.server.member import Member
from moldau.pipeline.connect.server.requests import ConnectorInfo, Json, status_json
from moldau.pipeline.connect.server.shown_config import restored
from moldau.pipeline.connect.server.state.cluster_state import ClusterState
from moldau.pipeline.connect.server.state.config_records import (
    Record,
    RestartRequest,
    TargetState,
    Texts,
    connector_record,
    logger_record,
    restart_record,
    target_state_record,
    task_records,
)
from moldau.pipeline.connect.server.state.status_records import State
from moldau.pipeline.connect.server.topics.compacted_topic import NotRead
from moldau.pipeline.connect.server.topics.config_log import Decide
from moldau.pipeline.connect.server.topics.config_writer import NotWritten, OutcomeUnknown

FORWARD_S: Final = 30.0
REBALANCING: Final = "Cannot complete request because of a conflicting operation (e.g. worker rebalance)"

log = logging.getLogger("moldau.connect")


class ConnectService:
    def __init__(self, member: Member) -> None:
        self.member = member
        self.settings = member.settings
        self.view = ConnectorView(member)
        self.checks = ConfigChecks(member.configuration)
        self.offsets = ConnectorOffsets(member, self.view)

    def create(self, name: str, config: Texts, initial: TargetState | None = None) -> ConnectorInfo:
        """Raises RequestFailure, as all of these do."""
        complete = named(name, config)
        plugin = self.checks.require_valid(name, complete)
        self._warn_of_unknown(name, complete)

        def decide(state: ClusterState) -> Sequence[Record]:
            if name in state.connectors:
                raise RequestFailure(CONFLICT, f"Connector {name} already exists")
            target = [] if initial is None else [target_state_record(name, initial)]
            return [*target, connector_record(name, complete)]

        self._append(decide)
        entry = self.view.entry(name)
        log.info("connector %s was created: a %s, %s", name, plugin.kind, plugin.class_name)
        return ConnectorInfo(entry, plugin.kind)

    def put_config(self, name: str, config: Texts) -> tuple[ConnectorInfo, bool]:
        """With whether the connector is new."""
        complete = self.view.restored(name, named(name, config))
        plugin = self.checks.require_valid(name, complete)
        self._warn_of_unknown(name, complete)
        was_there = False

        def decide(state: ClusterState) -> Sequence[Record]:
            nonlocal was_there
            was_there = name in state.connectors
            return [connector_record(name, complete)]

        self._append(decide)
        return ConnectorInfo(self.view.entry(name), plugin.kind), not was_there

    def patch_config(self, name: str, changes: Mapping[str, str | None]) -> ConnectorInfo:
        """None removes a setting (KIP-477)."""

        def patched(config: Texts) -> Texts:
            new = {**config, **changes}
            kept = {key: text for key, text in new.items() if text is not None}
            return named(name, restored(kept, config))

        before = self.view.entry(name).config
        self.checks.require_valid(name, patched(before))

        def decide(state: ClusterState) -> Sequence[Record]:
            entry = state.connectors.get(name)
            if entry is None:
                raise not_found(f"Connector {name} not found")
            if entry.config != before:
                raise RequestFailure(CONFLICT, f"Connector {name} was changed by another request: try again")
            return [connector_record(name, patched(entry.config))]

        self._append(decide)
        return self.view.info(name)

    def delete(self, name: str) -> None:
        def decide(state: ClusterState) -> Sequence[Record]:
            if name not in state.connectors:
                raise not_found(f"Connector {name} not found")
            return [connector_record(name, None), target_state_record(name, None)]

        self._append(decide)
        log.info("connector %s was deleted", name)

    def set_target(self, name: str, target: TargetState) -> None:
        """A stopped connector has no tasks."""

        def decide(state: ClusterState) -> Sequence[Record]:
            if name not in state.connectors:
                raise not_found(f"Unknown connector {name}")
            tasks = task_records(name, ()) if target is TargetState.STOPPED else []
            return [*tasks, target_state_record(name, target)]

        self._append(decide)

    def restart(self, name: str, *, only_failed: bool, with_tasks: bool) -> Json | None:
        """None for a restart of the connector alone, else the states, with those that restart."""
        entry = self.view.entry(name, "Unknown connector: {}")
        request = RestartRequest(name, only_failed, with_tasks)
        board = self.member.board
        connector, tasks = board.connectors.get(name), self.view.task_states(entry)
        if connector is None and (only_failed or with_tasks):
            raise not_found(f"Status for connector {name} not found")
        self._append(lambda state: [restart_record(request)])
        if connector is None or not (only_failed or with_tasks):
            return None
        if not only_failed or connector.state is State.FAILED:
            connector = connector._replace(state=State.RESTARTING)
        if with_tasks:
            tasks = {
                number: status._replace(state=State.RESTARTING)
                if not only_failed or status.state is State.FAILED
                else status
                for number, status in tasks.items()
            }
        return status_json(name, connector, list(tasks.items()), kind_of(entry))

    def restart_task(self, name: str, number: int, *, forwards: bool = True) -> None:
        entry = self.view.entry(name, "Unknown connector: {}")
        if number >= len(entry.tasks):
            raise not_found(f"Unknown task: {name}-{number}")
        hosting = self.member.hosting
        if hosting.shares.has_task(name, number):
            hosting.restart_task(name, number)
            return
        status = self.view.task_states(entry).get(number)
        if not forwards or status is None or status.worker_id == self.member.worker_id:
            raise RequestFailure(CONFLICT, REBALANCING)
        path = f"/connectors/{quote(name, safe='')}/tasks/{number}/restart?forward=false"
        _forward(status.worker_id, path)

    def reset_topics(self, name: str) -> None:
        if not self.settings.resets_topics:
            raise RequestFailure(FORBIDDEN, "Topic tracking reset is disabled.")
        self.member.reports.forget_topics(name)

    def set_level(self, logger: str, level: str) -> None:
        """Of all workers."""
        self._append(lambda state: [logger_record(logger, level)])

    def _append(self, decide: Decide) -> None:
        try:
            self.member.store.append(decide)
        except (NotWritten, NotRead, OutcomeUnknown) as failure:
            raise RequestFailure(SERVER_ERROR, f"Request failed: {failure}") from failure

    def _warn_of_unknown(self, name: str, config: Texts) -> None:
        plugin = self.checks.plugin_of(config)
        if text := self.checks.unknown_settings(plugin, config):
            log.warning("connector %s: %s", name, text)
        if text := self.checks.unresolved(config):
            log.warning("connector %s: %s", name, text)


def named(name: str, config: Texts) -> Texts:
    """With its name."""
    given = config.get("name", name)
    if given != name:
        raise bad_request(
            f"Connector name configuration ({given}) doesn't match connector name in the URL ({name})"
        )
    return {**config, "name": name}


def _forward(worker_id: str, path: str) -> None:
    connection = http.client.HTTPConnection(worker_id, timeout=FORWARD_S)
    try:
        connection.request("POST", path)
        response = connection.getresponse()
        response.read()
    except (OSError, http.client.HTTPException) as failure:
        raise RequestFailure(
            SERVER_ERROR, f"IO Error trying to forward REST request: the worker {worker_id}: {failure}"
        ) from failure
    finally:
        connection.close()
    if response.status >= 400:
        raise RequestFailure(response.status, REBALANCING)
