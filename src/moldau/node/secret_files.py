"""Warns of files with secrets that every user of the machine may read: passwords, key stores, JAAS files."""

import logging
import os
import stat
from collections.abc import Iterator

from moldau.core.settings.listener_keys import broker_key
from moldau.core.settings.resolve import BrokerLayers

_log = logging.getLogger("moldau.node")


def warn_of_readable_secrets(layers: BrokerLayers, config_path: str | None) -> None:
    """`config_path` is the file that the settings are from."""
    for path in dict.fromkeys(_files_with_secrets(layers, config_path)):
        warn_if_readable(path)


def warn_if_readable(path: str) -> None:
    """The file has secrets."""
    try:
        mode = stat.S_IMODE(os.stat(path).st_mode)
    except OSError:
        return  # Who needs the file will say what is wrong with it.
    if mode & stat.S_IROTH:
        _log.warning(
            "%s has secrets and every user of this machine may read it (mode %o); run `chmod o= %s`",
            path, mode, path,
        )  # fmt: skip


def _files_with_secrets(layers: BrokerLayers, config_path: str | None) -> Iterator[str]:
    for name, value in layers.static.items():
        key = broker_key(name)
        if key is None or not value.strip():
            continue
        if key.sensitive and config_path is not None:
            yield config_path
        if key.name.endswith("ssl.keystore.location"):
            yield value.strip()
