"""The settings of HTTPS and logins, under the names Confluent's services use."""

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from moldau.core.settings.broker_keys import BrokerSettings
from moldau.core.settings.checks import one_of
from moldau.core.settings.key import ConfigKey, Importance, string, strings
from moldau.core.settings.view import SettingsView

NONE: Final = "NONE"
BASIC: Final = "BASIC"

_SHARED: Final = (
    "ssl.cipher.suites",
    "ssl.enabled.protocols",
    "ssl.key.password",
    "ssl.keystore.certificate.chain",
    "ssl.keystore.key",
    "ssl.keystore.location",
    "ssl.keystore.password",
    "ssl.principal.mapping.rules",
    "ssl.truststore.certificates",
    "ssl.truststore.location",
    "ssl.truststore.password",
)
"""Those that mean the same in the broker."""

OWN: Final[tuple[ConfigKey[Any], ...]] = (
    string(
        "ssl.client.authentication",
        NONE,
        "Whether clients of HTTPS show a certificate: its name is then the user's.",
        check=one_of(NONE, "REQUESTED", "REQUIRED"),
    ),
    string(
        "authentication.method",
        NONE,
        "How clients log in. BASIC: with a name and a password of `authentication.users.file`.",
        importance=Importance.HIGH,
        check=one_of(NONE, BASIC),
    ),
    string(
        "authentication.users.file",
        "",
        "A file with a line `user: password` or `user: password,role,role` for each user, as Confluent's services read "
        "it. A changed file is taken over. Keep it readable for this service only.",
        importance=Importance.HIGH,
    ),
    strings(
        "authentication.roles",
        ("*",),
        "Users with one of these roles may use the service; `*` lets every user in.",
    ),
    string("authentication.realm", "", "The realm that clients are told."),
    strings(
        "authentication.skip.paths", (), "Paths that need no login, for example one that health checks ask."
    ),
)


def _keys(prefix: str) -> dict[str, ConfigKey[Any]]:
    """By attribute. `prefix` comes before the names that begin with `ssl.`."""
    keys = [*(BrokerSettings.KEYS[name] for name in _SHARED), *OWN]
    return {_attribute(key): _copy(key, prefix if key.name.startswith("ssl.") else "") for key in keys}


def _attribute(key: ConfigKey[Any]) -> str:
    return f"security_{key.name.replace('.', '_')}"


def _copy(key: ConfigKey[Any], prefix: str) -> ConfigKey[Any]:
    return ConfigKey(
        prefix + key.name, key.type, key.default, key.doc, {"importance": key.importance}, check=key.check
    )


class _HttpSecurity(SettingsView):
    PREFIX: ClassVar[str] = ""

    @property
    def security(self) -> Mapping[str, Any]:
        """The values of these settings, by their names without the prefix."""
        return {
            name: self.value_of(self.PREFIX + name if name.startswith("ssl.") else name)
            for name in (*_SHARED, *(key.name for key in OWN))
        }


class HttpSecurity(_HttpSecurity):
    """For the settings of a service: `class RestSettings(HttpSecurity)`."""

    vars().update(_keys(""))


class PrefixedHttpSecurity(_HttpSecurity):
    """Where `ssl.*` are settings of the clients of Kafka: as in Kafka Connect, those of the listener have a prefix."""

    PREFIX = "listeners.https."
    vars().update(_keys(PREFIX))
