"""The tasks of this worker's share as files that the driver process loads: one for each connector."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from moldau.core.errors import ConfigError
from moldau.pipeline.connect.plugins import ConnectorPlugin, find_connector
from moldau.pipeline.connect.runtime.plan import ConnectorPlan, application_id_of
from moldau.pipeline.connect.runtime.topic_creation import PREFIX as CREATION
from moldau.pipeline.connect.server.checks.connector_limits import ConnectorLimits
from moldau.pipeline.connect.server.hosting.connector_run import plugin_version
from moldau.pipeline.connect.server.hosting.shares import Shares
from moldau.pipeline.connect.server.settings import Configuration
from moldau.pipeline.connect.server.state.cluster_state import ConnectorEntry
from moldau.pipeline.connect.server.state.config_records import TargetState
from moldau.pipeline.driver_process.application_folder import Wanted

TEMPLATE = '''"""The tasks of a connector. The worker of Connect writes this file: changes are lost."""

from moldau.pipeline.connect.runtime.plan import ConnectorPlan

PLAN = {plan!r}


def build():
    return PLAN
'''


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedTasks(Wanted):
    plan: ConnectorPlan
    version: str
    """Of the connector."""


@dataclass(slots=True)
class TaskPlans:
    """Keeps what was wanted last: tasks go on until those of a new configuration are known."""

    configuration: Configuration
    _last: dict[str, WantedTasks] = field(default_factory=dict)
    _restarts: dict[tuple[str, int], int] = field(default_factory=dict)

    def restart(self, connector: str, task: int) -> None:
        key = connector, task
        self._restarts[key] = self._restarts.get(key, 0) + 1

    def wanted(self, connectors: Mapping[str, ConnectorEntry], shares: Shares) -> dict[str, WantedTasks]:
        """By application id."""
        found = {}
        for name, entry in connectors.items():
            one = self._of(entry, shares)
            if one is not None:
                found[name] = one
        self._last = found
        return {one.application_id: one for one in found.values()}

    def _of(self, entry: ConnectorEntry, shares: Shares) -> WantedTasks | None:
        if entry.target is TargetState.STOPPED or len(entry.tasks) > self.configuration.settings.tasks_limit:
            return None
        mine = shares.tasks(entry.name, entry.tasks)
        is_paused = entry.target is TargetState.PAUSED
        last = self._last.get(entry.name)
        if not entry.has_current_tasks:
            if last is None or not set(last.plan.tasks) <= set(mine):
                return None
            return WantedTasks(
                application_id=last.application_id,
                content=last.content,
                is_paused=is_paused,
                reloads=True,
                plan=last.plan,
                version=last.version,
            )
        if not mine:
            return None
        try:
            plugin = find_connector(entry.config.get("connector.class", ""))
            settings = self.configuration.settings
            ConnectorLimits.of(settings.disabled_plugins, settings.allowed_paths).require_stored(
                plugin, entry.config
            )
            plan = self._plan(entry, plugin, mine)
            if plan.kind == "source" and entry.needs_fencing:
                plan = _unchanged(plan, last)
        except ConfigError:
            # The class is not here or not allowed, or not any more: the keeper of the connector reports that.
            return None
        return WantedTasks(
            application_id=application_id_of(entry.name),
            content=TEMPLATE.format(plan=plan),
            is_paused=is_paused,
            # Only tasks for which something has changed start again.
            reloads=True,
            plan=plan,
            version=plugin_version(plugin),
        )

    def _plan(
        self, entry: ConnectorEntry, plugin: ConnectorPlugin, mine: Mapping[int, Mapping[str, str]]
    ) -> ConnectorPlan:
        configuration = self.configuration
        settings = configuration.settings
        config = configuration.connector_config(entry.config)
        if not settings.creates_topics:
            config = {name: text for name, text in config.items() if not name.startswith(CREATION)}
        return ConnectorPlan(
            name=entry.name,
            worker_group=settings.group_id,
            kind=plugin.kind,
            connector_class=plugin.path,
            config=config,
            providers=configuration.providers,
            tasks={number: dict(task) for number, task in mine.items()},
            bootstrap_servers=configuration.bootstrap_servers,
            clients=dict(configuration.task_clients),
            offsets_topic=settings.offset_topic,
            generation=0,
            task_generations={
                number: count for number in mine if (count := self._restarts.get((entry.name, number), 0))
            },
            flush_ms=settings.flush_interval_ms,
        )


def _unchanged(plan: ConnectorPlan, last: WantedTasks | None) -> ConnectorPlan:
    """Without tasks that start again: they wait until those before them are fenced."""
    before = {} if last is None else {number: last.plan.task_digest(number) for number in last.plan.tasks}
    kept = {
        number: task for number, task in plan.tasks.items() if plan.task_digest(number) == before.get(number)
    }
    return replace(plan, tasks=kept)
