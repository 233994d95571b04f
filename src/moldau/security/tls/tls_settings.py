"""From the settings of a listener to the keys and certificates they name.

Blocks while it reads files.
"""

import os
from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeVar

from moldau.core.settings.broker_keys import BrokerSettings
from moldau.core.settings.listener_keys import listener_setting
from moldau.security.tls.contexts import TlsMaterial
from moldau.security.tls.stores import (
    KeyMaterial,
    TrustMaterial,
    key_from_file,
    key_from_text,
    trust_from_file,
    trust_from_text,
)

STORE_FILES: Final = ("ssl.keystore.location", "ssl.truststore.location")
TLS_KEYS: Final = tuple(name for name in BrokerSettings.KEYS if name.startswith("ssl."))

Setting = Callable[[str], Any]
T = TypeVar("T")


class FileState(NamedTuple):
    """What changes when somebody replaces a file or writes to it."""

    inode: int
    size: int
    changed_ns: int


def settings_of(settings: BrokerSettings, listener: str) -> dict[str, Any]:
    """The values of all `ssl.*` keys on a listener."""
    return {name: listener_setting(settings, listener, name) for name in TLS_KEYS}


def read_material(values: dict[str, Any]) -> TlsMaterial:
    """ConfigError names the setting or file that is wrong."""
    return TlsMaterial(
        key=_key(values),
        trust=_trust(values),
        protocols=values["ssl.enabled.protocols"],
        ciphers=values["ssl.cipher.suites"],
        client_auth=values["ssl.client.auth"],
        checks_host=values["ssl.endpoint.identification.algorithm"].lower() == "https",
    )


def file_states(values: dict[str, Any]) -> tuple[FileState | None, ...]:
    """The state of the files that the settings name; None for one that cannot be read at the moment."""
    return tuple(_state(path) for name in STORE_FILES if (path := values[name]))


def _state(path: str) -> FileState | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return FileState(found.st_ino, found.st_size, found.st_mtime_ns)


def _key(values: dict[str, Any]) -> KeyMaterial | None:
    password = values["ssl.key.password"]
    if chain := values["ssl.keystore.certificate.chain"]:
        return key_from_text(chain, values["ssl.keystore.key"], password)
    if path := values["ssl.keystore.location"]:
        return key_from_file(path, values["ssl.keystore.password"], password)
    return None


def _trust(values: dict[str, Any]) -> TrustMaterial | None:
    if text := values["ssl.truststore.certificates"]:
        return trust_from_text(text)
    if path := values["ssl.truststore.location"]:
        return trust_from_file(path, values["ssl.truststore.password"])
    return None
