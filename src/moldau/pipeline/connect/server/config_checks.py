"""Validates configurations for requests. A connector may look at its other system: that must not take for ever."""

import threading
from collections.abc import Callable, Collection
from typing import Final, TypeVar

from moldau.core.errors import ConfigError
from moldau.core.settings.view import nearest_text
from moldau.pipeline.connect.plugins import ConnectorPlugin, find_connector
from moldau.pipeline.connect.runtime.plan import consumer_group_of
from moldau.pipeline.connect.runtime.secrets import Resolved, resolve, sensitive_names, unresolved_text
from moldau.pipeline.connect.runtime.task_log import hidden_in_log
from moldau.pipeline.connect.server.checks.connector_limits import ConnectorLimits
from moldau.pipeline.connect.server.checks.rendering import config_infos, invalid_text
from moldau.pipeline.connect.server.checks.validation import OVERRIDES, Validated, WorkerRules, validated
from moldau.pipeline.connect.server.failures import SERVER_ERROR, RequestFailure, bad_request
from moldau.pipeline.connect.server.requests import Json
from moldau.pipeline.connect.server.settings import CONVERTER_PREFIXES, Configuration
from moldau.pipeline.connect.server.state.config_records import Texts

OPEN_PREFIXES: Final = (*OVERRIDES, *CONVERTER_PREFIXES, "topic.creation.")
"""Of settings whose names are not all known in advance."""
UNKNOWN_SHOWN: Final = 10
"""How many unknown settings are named."""
T = TypeVar("T")


def unknown_names(config: Texts, known: Collection[str]) -> list[str]:
    return [name for name in config if name not in known and not name.startswith(OPEN_PREFIXES)]


def unknown_text(config: Texts, known: Collection[str]) -> str:
    names = unknown_names(config, known)
    if len(names) <= 1:
        return "".join(f"unknown setting {name}{nearest_text(name, known)}" for name in names)
    shown = [f"{name}{nearest_text(name, known)}" for name in names[:UNKNOWN_SHOWN]]
    more = f", and {len(names) - len(shown)} more" if len(names) > len(shown) else ""
    return f"{len(names)} unknown settings: {', '.join(shown)}{more}"


class ConfigChecks:
    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration
        self._settings = configuration.settings
        self.limits = ConnectorLimits.of(self._settings.disabled_plugins, self._settings.allowed_paths)

    @property
    def defaults(self) -> Texts:
        """Of settings that have no default of their own: the worker's."""
        settings = self._settings
        return {
            "key.converter": settings.key_converter,
            "value.converter": settings.value_converter,
            "header.converter": settings.header_converter,
        }

    def plugin_of(self, config: Texts) -> ConnectorPlugin:
        """Raises RequestFailure."""
        name = config.get("connector.class", "").strip()
        if not name:
            shown = ", ".join(f"{key}={text}" for key, text in config.items() if key == "name")
            raise bad_request(f"Connector config {{{shown}}} contains no connector type")
        try:
            plugin = find_connector(name)
            self.limits.require_class(plugin)
        except ConfigError as wrong:
            raise bad_request(str(wrong)) from None
        return plugin

    def infos(self, plugin_name: str, config: Texts) -> Json:
        """Kafka Connect's answer. Raises RequestFailure."""
        plugin = self.plugin_of(config)
        if plugin_name not in plugin.names:
            raise bad_request(
                f"Included connector type {config['connector.class']} does not match request type {plugin_name}"
            )
        return config_infos(self._check(plugin, config), plugin_name, self.defaults)

    def require_valid(self, name: str, config: Texts) -> ConnectorPlugin:
        """Raises RequestFailure with all errors."""
        plugin = self.plugin_of(config)
        errors = self._check(plugin, config).errors
        group = self._settings.group_id
        if plugin.kind == "sink" and consumer_group_of(name) == group:
            errors.append(
                f"Consumer group for sink connector named {name} conflicts with Connect worker group {group}"
            )
        if errors:
            if hint := self.unresolved(config):
                errors.append(hint)
            raise bad_request(invalid_text(errors))
        return plugin

    def unknown_settings(self, plugin: ConnectorPlugin, config: Texts) -> str:
        """Settings that nobody has declared, in one line: they have no effect, and may be misspelt. Empty: none."""
        return unknown_text(config, {one.name for one in self._check(plugin, config).declarations})

    def unresolved(self, config: Texts) -> str:
        """Of references that the worker does not resolve. Empty: there are none."""
        return unresolved_text(config, self._configuration.providers)

    def _check(self, plugin: ConnectorPlugin, config: Texts) -> Validated:
        configuration = self._configuration
        try:
            resolved = resolve(config, configuration.providers, sensitive_names(plugin.connector, config))
        except ConfigError as wrong:
            raise bad_request(invalid_text([str(wrong)])) from None
        effective = configuration.connector_config(resolved.config)
        rules = WorkerRules(configuration.override_policy, self._settings.tasks_limit, self.limits)
        return self._within_limit(
            lambda: validated(plugin, config, resolved, effective, rules), plugin, resolved
        )

    def _within_limit(self, check: Callable[[], T], plugin: ConnectorPlugin, resolved: Resolved) -> T:
        """A call that does not return is left alone in its thread."""
        found: list[T] = []
        failures: list[Exception] = []

        def run() -> None:
            try:
                with hidden_in_log(resolved.secrets):
                    found.append(check())
            except Exception as failure:  # noqa: BLE001 a user's connector
                failures.append(failure)

        thread = threading.Thread(target=run, name="connect-validation", daemon=True)
        thread.start()
        thread.join(self._settings.connector_timeout_ms / 1000)
        if failures:
            failure = failures[0]
            raise RequestFailure(
                SERVER_ERROR,
                f"{plugin.class_name} failed to validate the configuration: {type(failure).__name__}: "
                f"{resolved.mask(str(failure))}",
            )
        if not found:
            raise RequestFailure(
                SERVER_ERROR,
                f"Request timed out. {plugin.class_name} has not validated the configuration within "
                f"{self._settings.connector_timeout_ms} ms (connector.call.timeout.ms)",
            )
        return found[0]
