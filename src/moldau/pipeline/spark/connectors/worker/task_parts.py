"""What a run needs before it can begin: the connector's class, its settings with secrets resolved, its clients'."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Self

from moldau.pipeline.connect.api import Connector
from moldau.pipeline.connect.plugins import connector_at
from moldau.pipeline.connect.runtime.client_overrides import (
    Overrides,
    admin_overrides,
    offset_reset,
    overrides,
)
from moldau.pipeline.connect.runtime.plan import ConnectorPlan, consumer_group_of, transactional_id_of
from moldau.pipeline.connect.runtime.secrets import Resolved, resolve, sensitive_names
from moldau.pipeline.connect.runtime.task_settings import (
    SinkSettings,
    SourceSettings,
    TaskSettings,
)
from moldau.pipeline.spark import clients

GROUP_SETTINGS: Final = {
    # A killed task's partitions go to another one after this time.
    "session.timeout.ms": "10000",
    "heartbeat.interval.ms": "2000",
    "partition.assignment.strategy": "cooperative-sticky",
    "allow.auto.create.topics": "true",
    "topic.metadata.refresh.interval.ms": "10000",
    "isolation.level": "read_committed",
}
EXTRA_POLL_MS: Final = 60_000


@dataclass(frozen=True)
class TaskParts:
    plan: ConnectorPlan
    number: int
    kind: type[Connector]
    resolved: Resolved
    """The connector's configuration."""
    task_config: Mapping[str, str]
    settings: TaskSettings
    overrides: Overrides

    @classmethod
    def of(cls, plan: ConnectorPlan, number: int) -> Self:
        """Raises ConfigError for a setting or secret that is wrong here."""
        kind = connector_at(plan.connector_class)
        task_config = plan.tasks[number]
        sensitive = sensitive_names(kind, {*plan.config, *task_config})
        resolved = resolve(plan.config, plan.providers, sensitive)
        for_task = resolve(task_config, plan.providers, sensitive)
        settings = SourceSettings if plan.kind == "source" else SinkSettings
        return cls(
            plan,
            number,
            kind,
            Resolved(resolved.config, resolved.secrets | for_task.secrets),
            for_task.config,
            settings.of(resolved.config),
            overrides(resolved.config),
        )

    @property
    def config(self) -> Mapping[str, str]:
        return self.resolved.config

    @property
    def id(self) -> str:
        return f"{self.plan.name}-{self.number}"

    @cached_property
    def _clients(self) -> Mapping[str, str]:
        return {**self.plan.clients, **self.overrides.clients}

    def admin(self) -> dict[str, Any]:
        return {
            **clients.shared(self.plan.bootstrap_servers, self.plan.clients),
            **admin_overrides(self.config),
        }

    def transactional(self, suffix: str = "") -> dict[str, Any]:
        id = transactional_id_of(self.plan.worker_group, self.plan.name, self.number)
        return {
            **clients.producer(self.plan.bootstrap_servers, self._clients, id + suffix),
            "client.id": f"connector-producer-{self.id}",
        }

    def producer(self) -> dict[str, Any]:
        return {
            **clients.producer(self.plan.bootstrap_servers, self._clients, None),
            "client.id": f"connector-dlq-producer-{self.id}",
        }

    def consumer(self) -> dict[str, Any]:
        """Of a sink's group. What users may not change comes last."""
        own = {
            key.removeprefix(clients.CONSUMER_PREFIX): value
            for key, value in self._clients.items()
            if key.startswith(clients.CONSUMER_PREFIX)
        }
        defaults = clients.consumer(self.plan.bootstrap_servers, self.plan.clients, "")
        return {
            **defaults,
            "client.id": f"connector-consumer-{self.id}",
            "fetch.wait.max.ms": "100",
            **GROUP_SETTINGS,
            **own,
            "group.id": own.get("group.id", consumer_group_of(self.plan.name)),
            "auto.offset.reset": offset_reset(self.config),
            "max.poll.interval.ms": str(self.settings.call_ms_max + EXTRA_POLL_MS),
            "enable.auto.commit": "false",
            "enable.auto.offset.store": "false",
            "enable.partition.eof": "true",
        }
