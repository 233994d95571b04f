"""What one worker runs of a connector. The server of the worker makes it, the driver process runs it."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal
from urllib.parse import quote

ID_PREFIX: Final = "connect-"
ID_LENGTH_MAX: Final = 180
FLUSH_MS: Final = 5_000


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
    task_generations: Mapping[int, int] = field(default_factory=dict)
    """The same for single tasks, by their number."""
    flush_ms: int = FLUSH_MS
    """The worker's `offset.flush.interval.ms`: how often sinks flush and commit."""

    @property
    def application_id(self) -> str:
        """What the driver process calls the connector."""
        return application_id_of(self.name)

    def task_digest(self, number: int) -> str:
        """Of everything the task is made of: with another digest it must be started again."""
        made_of = (
            self.name,
            self.worker_group,
            self.kind,
            self.connector_class,
            sorted(self.config.items()),
            sorted(self.providers.items()),
            sorted(self.tasks[number].items()),
            self.bootstrap_servers,
            sorted(self.clients.items()),
            self.offsets_topic,
            self.generation,
            self.task_generations.get(number, 0),
            self.flush_ms,
        )
        return hashlib.sha256(repr(made_of).encode()).hexdigest()


def application_id_of(connector: str) -> str:
    """Names a file and a part of a path too: other characters of the connector's name are escaped."""
    safe = quote(connector, safe="")
    if len(safe) > ID_LENGTH_MAX:
        safe = f"{safe[: ID_LENGTH_MAX - 17]}-{hashlib.sha256(connector.encode()).hexdigest()[:16]}"
    return f"{ID_PREFIX}{safe}"


def consumer_group_of(connector: str) -> str:
    """The group of a sink."""
    return f"connect-{connector}"


def transactional_id_of(worker_group: str, connector: str, task: int) -> str:
    """Of a source's task, as Kafka Connect names it (KIP-618)."""
    return f"{worker_group}-{connector}-{task}"
