"""What one worker runs of a connector. The server of the worker makes it, the driver process runs it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class ConnectorPlan:
    """A file of the driver process defines one with `def build(): return ConnectorPlan(...)`."""

    name: str
    worker_group: str
    """The worker's `group.id`."""
    kind: Literal["source", "sink"]
    connector_class: str
    """Python path `module:Class`."""
    config: Mapping[str, str]
    """The connector's complete configuration, with the worker's default converters. Secrets are not resolved."""
    providers: Mapping[str, str]
    """The worker's settings `config.providers` and `config.providers.*`."""
    tasks: Mapping[int, Mapping[str, str]]
    """Task number to task configuration. Only the tasks that run here."""
    bootstrap_servers: str
    clients: Mapping[str, str]
    """librdkafka settings of the worker."""
    offsets_topic: str
    """The worker's `offset.storage.topic`."""
    generation: int
    """Counts restarts: a plan with another generation starts its tasks again."""
    tasks_everywhere: int = 0
    """How many tasks the connector has on all workers. 0: all of them run here."""

    @property
    def application_id(self) -> str:
        return f"connect-{self.name}"

    @property
    def task_count(self) -> int:
        return max(self.tasks_everywhere, len(self.tasks))
