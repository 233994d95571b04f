"""One connector on this worker: its instance, and the task configurations it gives. Its calls may take long, or hang.

All methods but `abandon` are called by one thread at a time. Nothing here writes to a topic.
"""

import logging
import re
import traceback
from collections.abc import Mapping, Sequence
from typing import Final

from moldau import __version__
from moldau.core.errors import ConfigError
from moldau.pipeline.connect.api import ConnectError, Connector
from moldau.pipeline.connect.plugins import ConnectorPlugin, find_connector
from moldau.pipeline.connect.runtime.secrets import Resolved, resolve, sensitive_names, unresolved_text
from moldau.pipeline.connect.runtime.task_log import hide_in_log, show_in_log
from moldau.pipeline.connect.server.checks.common_settings import CommonSettings
from moldau.pipeline.connect.server.checks.connector_limits import EVERYWHERE, ConnectorLimits
from moldau.pipeline.connect.server.state.config_records import Texts

TASK_CLASS: Final = "task.class"
UNLIMITED: Final = ConnectorLimits(frozenset(), (EVERYWHERE,))
SINK_TOPICS: Final = ("topics", "topics.regex")

log = logging.getLogger("moldau.connect")


class ConnectorRun:
    def __init__(
        self,
        name: str,
        config: Texts,
        providers: Texts,
        tasks_limit: int,
        limits: ConnectorLimits = UNLIMITED,
    ) -> None:
        """`tasks_limit` and `limits` are the worker's own, which hold whatever the connector's settings say."""
        self._limits = limits
        self._tasks_limit = tasks_limit
        self._name = name
        self._config = config
        self._providers = providers
        self._instance: Connector | None = None
        self._resolved = Resolved(config)
        self._hides = False
        """Its secrets are hidden in the log, until it stops."""
        self._common = CommonSettings({})
        self._plugin: ConnectorPlugin | None = None

    @property
    def version(self) -> str | None:
        return None if self._plugin is None else plugin_version(self._plugin)

    @property
    def is_source(self) -> bool:
        return self._plugin is not None and self._plugin.kind == "source"

    def start(self) -> None:
        """Raises ConfigError, ConnectError, or what the connector raises."""
        self._common = CommonSettings.parse(
            {name: text for name, text in self._config.items() if name in CommonSettings.KEYS}
        )
        self._plugin = find_connector(self._common.connector_class)
        kind = self._plugin.connector
        self._resolved = resolve(self._config, self._providers, sensitive_names(kind, self._config))
        hide_in_log(self._resolved.secrets)
        self._hides = True
        self._limits.require(self._plugin, self._resolved.config)
        self._instance = kind()
        self._instance.start(self._resolved.config)

    def task_configs(self) -> list[Texts]:
        """As they are stored: with references in place of secrets. Raises as `start` does."""
        assert self._instance is not None and self._plugin is not None
        count_max = self._common.tasks_max
        found = self._instance.task_configs(min(count_max, self._tasks_limit))
        if len(found) > self._tasks_limit:
            raise ConnectError(
                f"The connector {self._name} has generated {len(found)} tasks, and a worker lets a connector have "
                f"{self._tasks_limit}. Spread its work over fewer tasks, or raise tasks.max.limit in the settings of "
                "the workers"
            )
        if len(found) > count_max:
            text = (
                f"The connector {self._name} has generated {len(found)} tasks, which is greater than {count_max}, the "
                "maximum number of tasks it is configured to create."
            )
            if self._common.enforces_tasks_max:
                raise ConnectError(f"{text} Raise tasks.max, or set tasks.max.enforce to false")
            log.warning("%s", text)
        return [self._stored(config) for config in found]

    def changed(self) -> bool:
        return self._instance is not None and self._instance.changed()

    def waits_for(self) -> str | None:
        """For people, without secrets. None: for nothing."""
        why = None if self._instance is None else self._instance.waits_for()
        return self._resolved.mask(why) if why else None

    def stop(self) -> None:
        """Says nothing of a connector that fails to stop but in the log."""
        instance, self._instance = self._instance, None
        if instance is not None:
            try:
                instance.stop()
            except Exception as failure:  # noqa: BLE001 a user's connector; it has stopped all the same
                log.warning(
                    "%s failed when it was stopped: %s", self._name, self._resolved.mask(str(failure))
                )
        if self._hides:
            self._hides = False
            show_in_log(self._resolved.secrets)

    def trace_of(self, failure: BaseException) -> str:
        """For people, without secrets. Expected failures need no stack."""
        if isinstance(failure, ConfigError | ConnectError) and failure.__cause__ is None:
            text = f"{type(failure).__name__}: {failure}"
        else:
            text = "".join(traceback.format_exception(failure))
        hint = unresolved_text(self._config, self._providers)
        return self._resolved.mask(f"{text.rstrip()}\n{hint}" if hint else text)

    def _stored(self, config: Mapping[str, str]) -> Texts:
        assert self._plugin is not None
        kind = self._plugin.connector
        task_class = getattr(kind, "task_class", None)
        more = {"name": self._name}
        if task_class is not None:
            more[TASK_CLASS] = f"{task_class.__module__}.{task_class.__qualname__}"
        if self._plugin.kind == "sink":
            more |= {name: self._config[name] for name in SINK_TOPICS if name in self._config}
        return {**with_references(config, self._config, self._resolved.config), **more}


def with_references(config: Texts, given: Texts, resolved: Texts) -> dict[str, str]:
    """A task's configuration, with each value that has secrets as it was given, `${...}` and all: no secret gets into
    the config topic."""
    secrets = {resolved[name]: text for name, text in given.items() if resolved.get(name, text) != text}
    # Longest first: a secret may contain another one.
    texts = "|".join(re.escape(secret) for secret in sorted(filter(None, secrets), key=len, reverse=True))

    def stored(name: str, text: str) -> str:
        if resolved.get(name) == text:
            return given[name]
        return re.sub(texts, lambda secret: secrets[secret[0]], text) if texts else text

    return {name: stored(name, text) for name, text in config.items()}


def plugin_version(plugin: ConnectorPlugin) -> str:
    """Connectors that come with the platform have its version."""
    return plugin.connector.version or __version__


def version_of(config: Texts) -> str | None:
    """None for a connector that is not installed here."""
    try:
        return plugin_version(find_connector(config.get("connector.class", "")))
    except ConfigError:
        return None


def same_tasks(before: Sequence[Texts], now: Sequence[Texts]) -> bool:
    return [dict(one) for one in before] == [dict(one) for one in now]
