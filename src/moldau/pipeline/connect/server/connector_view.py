"""What is known of connectors, as requests ask for it. Reads only."""

from collections.abc import Sequence

from moldau.pipeline.connect.plugins import UnknownPlugin, find_connector
from moldau.pipeline.connect.server.failures import RequestFailure, not_found
from moldau.pipeline.connect.server.member import Member
from moldau.pipeline.connect.server.requests import ConnectorInfo, Json, status_json, task_json
from moldau.pipeline.connect.server.shown_config import restored, shown
from moldau.pipeline.connect.server.state.cluster_state import ConnectorEntry
from moldau.pipeline.connect.server.state.config_records import Texts
from moldau.pipeline.connect.server.state.status_records import Status


class ConnectorView:
    def __init__(self, member: Member) -> None:
        self._member = member

    def names(self) -> list[str]:
        return sorted(self._member.state.connectors)

    def expanded(self, parts: Sequence[str]) -> Json:
        """A connector that has no state yet is left out where states are asked for."""
        found: Json = {}
        for name in self.names():
            one: Json = {}
            try:
                if "status" in parts:
                    one["status"] = self.status(name)
                if "info" in parts:
                    one["info"] = self.info(name).as_json()
            except RequestFailure:
                continue
            found[name] = one
        return found

    def entry(self, name: str, missing: str = "Connector {} not found") -> ConnectorEntry:
        """Raises RequestFailure with the text for a connector that does not exist."""
        found = self._member.state.connectors.get(name)
        if found is None:
            raise not_found(missing.format(name))
        return found

    def info(self, name: str) -> ConnectorInfo:
        entry = self.entry(name)
        return ConnectorInfo(entry, kind_of(entry))

    def config(self, name: str) -> Json:
        """As it is shown."""
        return shown(self.entry(name).config)

    def restored(self, name: str, config: Texts) -> Texts:
        """With what is not shown of the connector of this name, if it exists."""
        found = self._member.state.connectors.get(name)
        return config if found is None else restored(config, found.config)

    def status(self, name: str) -> Json:
        entry = self._member.state.connectors.get(name)
        connector = self._member.board.connectors.get(name)
        if entry is None or connector is None:
            raise not_found(f"No status found for connector {name}")
        return status_json(name, connector, list(self.task_states(entry).items()), kind_of(entry))

    def task_states(self, entry: ConnectorEntry) -> dict[int, Status]:
        """Of the tasks that it has now and that have a state."""
        found = self._member.board.tasks_of(entry.name)
        return {number: status for number, status in found.items() if number < len(entry.tasks)}

    def tasks(self, name: str) -> list[Json]:
        entry = self.entry(name)
        return [
            {"id": {"connector": name, "task": number}, "config": shown(config)}
            for number, config in enumerate(entry.tasks)
        ]

    def tasks_config(self, name: str) -> Json:
        """Deprecated in Kafka Connect since 3.8, and gone with 4.0; clients of older versions ask for it."""
        entry = self.entry(name)
        return {f"{name}-{number}": shown(config) for number, config in enumerate(entry.tasks)}

    def task_status(self, name: str, number: int) -> Json:
        entry = self._member.state.connectors.get(name)
        found = None if entry is None else self.task_states(entry).get(number)
        if found is None:
            raise not_found(f"No status found for task {name}-{number}")
        return task_json(number, found)

    def topics(self, name: str) -> Json:
        """Empty for a connector that does not exist, as in Kafka Connect."""
        return {name: {"topics": self._member.board.topics_of(name)}}


def kind_of(entry: ConnectorEntry) -> str:
    try:
        return find_connector(entry.config.get("connector.class", "")).kind
    except UnknownPlugin:
        return "unknown"
