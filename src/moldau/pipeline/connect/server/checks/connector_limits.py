"""What the worker's settings forbid connectors: classes, and files of the machine outside given folders.

Who may write a connector acts with the rights of the worker's process: without limits, a connector reads and writes
every file that the process can. Checked when a connector is created or validated, and again before it and its tasks
run: its configuration may be older than the limits.
"""

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from moldau.core.errors import ConfigError
from moldau.core.settings.view import nearest_text
from moldau.pipeline.connect.api import ANY_PATH, ConnectError
from moldau.pipeline.connect.declarations import ConfigValue, Texts
from moldau.pipeline.connect.plugins import ConnectorPlugin, installed

EVERYWHERE: Final = "*"
REFERENCE: Final = "${"
_STORES: Final = re.compile(
    r"(^|\.)(ssl|sasl|https)\..*(location|path|keytab|file)$|(^|\.)database\.ssl(cert|key|rootcert)$"
    r"|\.ssl\.(ca|cert)$|^redis\.(cacert|key\.cert|key\.file)$"
)
"""Settings with the path of a certificate, a key, or something else that a client reads."""
_PROGRAMS: Final = re.compile(
    r"(^|\.)(plugin\.library\.paths|sasl\.kerberos\.kinit\.cmd|ssl\.engine\.location)$"
)
"""Settings of librdkafka with which a client runs a program or loads a library."""


@dataclass(frozen=True, slots=True)
class ConnectorLimits:
    """`disabled` has names of connectors; `folders` are those that connectors may use, or `*`."""

    disabled: frozenset[str]
    folders: tuple[str, ...]

    @classmethod
    def of(cls, disabled: Iterable[str], folders: Iterable[str]) -> "ConnectorLimits":
        return cls(frozenset(name.strip() for name in disabled), tuple(folders))

    def allows_class(self, plugin: ConnectorPlugin) -> bool:
        """By any of its names."""
        return self.disabled.isdisjoint(plugin.names)

    def require_class(self, plugin: ConnectorPlugin) -> None:
        """Raises ConfigError."""
        if not self.allows_class(plugin):
            raise ConfigError(
                f"The connector {plugin.class_name} is disabled on this worker by its setting plugins.disabled: use "
                "another connector, or ask an administrator of the worker to take it out of that list"
            )

    def path_errors(self, plugin: ConnectorPlugin, config: Texts) -> Iterator[ConfigValue]:
        """For each setting that names a path outside the folders. `config` has its references resolved."""
        if EVERYWHERE in self.folders:
            return
        for name, path in self._paths(plugin, config):
            if path and not self._allows_path(path):
                yield ConfigValue(name, config.get(name), errors=[self._refusal(name, path)])

    def require(self, plugin: ConnectorPlugin, config: Texts) -> None:
        """Raises ConfigError with the first thing that is not allowed."""
        self.require_class(plugin)
        for value in self.path_errors(plugin, config):
            raise ConfigError(value.errors[0])

    def require_stored(self, plugin: ConnectorPlugin, config: Texts) -> None:
        """As `require`, for a configuration with its references: what they stand for is checked when the connector
        starts."""
        self.require_class(plugin)
        for value in self.path_errors(plugin, config):
            if REFERENCE not in (value.value or ""):
                raise ConfigError(value.errors[0])

    def unknown_class(self) -> str | None:
        """For people: a disabled connector that does not exist, which may be misspelt. One whose library is missing
        cannot be told from it."""
        known, missing = installed()
        names = {name for one in known for name in one.names}
        for name in sorted(self.disabled - names):
            if not missing:
                return f"plugins.disabled: there is no connector {name}{nearest_text(name, names)}"
        return None

    def _paths(self, plugin: ConnectorPlugin, config: Texts) -> Iterator[tuple[str, str]]:
        for name, text in config.items():
            if _PROGRAMS.search(name):
                yield name, ANY_PATH if text else ""
            elif _STORES.search(name):
                yield name, text
        try:
            yield from plugin.connector.local_paths(config)
        except (ConfigError, ConnectError):
            # A value cannot be read, which is reported with it: the connector cannot start.
            return

    def _allows_path(self, path: str) -> bool:
        if "\0" in path:
            return False
        folders = [os.path.realpath(os.path.expanduser(folder)) for folder in self.folders]
        # Some connectors cut off the spaces around a path, others do not.
        return all(
            any(os.path.commonpath((real, folder)) == folder for folder in folders)
            for real in map(os.path.realpath, {path, path.strip()})
        )

    def _refusal(self, name: str, path: str) -> str:
        where = ", ".join(self.folders) or "no folder"
        what = "more than can be limited to folders" if path == ANY_PATH else path
        return (
            f"{name} may not use {what}: the worker's setting connector.allowed.paths lets connectors use {where} of "
            "its machine. Use another place, or ask an administrator of the worker to allow it"
        )
