"""The settings of HTTPS, logins and rights, under Confluent's names; those of tokens are the broker's."""

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from moldau.core.settings.broker_keys import BrokerSettings
from moldau.core.settings.checks import each_of, one_of
from moldau.core.settings.key import ConfigKey, Importance, boolean, string, strings
from moldau.core.settings.view import SettingsView

NONE: Final = "NONE"
BASIC: Final = "BASIC"
BEARER: Final = "BEARER"
FILE: Final = "FILE"
CLUSTER: Final = "CLUSTER"
ANY_ROLE: Final = ("*",)

_TLS: Final = (
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
_TOKENS: Final = (
    "sasl.oauthbearer.clock.skew.seconds",
    "sasl.oauthbearer.expected.audience",
    "sasl.oauthbearer.expected.issuer",
    "sasl.oauthbearer.jwks.endpoint.refresh.ms",
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms",
    "sasl.oauthbearer.jwks.endpoint.url",
    "sasl.oauthbearer.scope.claim.name",
    "sasl.oauthbearer.sub.claim.name",
)
"""These and those of TLS mean the same in the broker."""

_COMMON: Final[tuple[ConfigKey[Any], ...]] = (
    *(BrokerSettings.KEYS[name] for name in _TLS),
    string(
        "ssl.client.authentication",
        NONE,
        "Whether clients of HTTPS show a certificate: its name is then the user's.",
        check=one_of(NONE, "REQUESTED", "REQUIRED"),
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
        ANY_ROLE,
        "Users with one of these roles may use the service; `*` lets every user in.",
    ),
    string("authentication.realm", "", "The realm that clients are told."),
    strings(
        "authentication.skip.paths",
        (),
        "Paths that need neither a login nor a right, for example one that health checks ask.",
    ),
)
_PASSWORDS: Final[tuple[ConfigKey[Any], ...]] = (
    *_COMMON,
    string(
        "authentication.method",
        NONE,
        "How clients log in. BASIC: with a name and a password of `authentication.users.file`.",
        importance=Importance.HIGH,
        check=one_of(NONE, BASIC),
    ),
)
_HTTP: Final[tuple[ConfigKey[Any], ...]] = (
    *_COMMON,
    *(BrokerSettings.KEYS[name] for name in _TOKENS),
    strings(
        "authentication.method",
        (NONE,),
        "How clients log in. BASIC: with a name and a password. BEARER: with a signed token of an identity provider "
        "(`sasl.oauthbearer.*`). Both may be given.",
        importance=Importance.HIGH,
        check=each_of(NONE, BASIC, BEARER),
    ),
    string(
        "authentication.users",
        FILE,
        "Where the users of BASIC are. FILE: in authentication.users.file. CLUSTER: users and API keys of the Kafka "
        "cluster, which checks their passwords.",
        importance=Importance.HIGH,
        check=one_of(FILE, CLUSTER),
    ),
    string(
        "authentication.sasl.mechanism",
        None,
        "With CLUSTER: how passwords are shown to the cluster, PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512. Default: as the "
        "service itself logs in.",
    ),
    strings("authentication.scopes", (), "Scopes that a token must have, all of them."),
)
_GUARDED: Final[tuple[ConfigKey[Any], ...]] = (
    *_HTTP,
    boolean(
        "authorization.enabled",
        False,
        "Whether callers need roles for what they do (`moldau roles`). Needs logins or certificates of clients.",
        importance=Importance.HIGH,
    ),
    string("super.users", "", "Callers that may do everything: `User:alice;User:bob`."),
)
_NO_RIGHTS: Final = dict.fromkeys(
    ("authorization.enabled", "super.users"),
    "this service guards nothing of its own. The access rules of the cluster decide, for each user of the REST proxy "
    "with client.login.passthrough=true",
)


def _keys(declared: tuple[ConfigKey[Any], ...], prefix: str) -> dict[str, ConfigKey[Any]]:
    """By attribute."""
    return {
        f"security_{key.name.replace('.', '_')}": _copy(key, _named(prefix, key.name)) for key in declared
    }


def _named(prefix: str, name: str) -> str:
    """`prefix` comes before the names that clients of Kafka have too."""
    return prefix + name if name.startswith(("ssl.", "sasl.")) else name


def _copy(key: ConfigKey[Any], name: str) -> ConfigKey[Any]:
    return ConfigKey(name, key.type, key.default, key.doc, {"importance": key.importance}, check=key.check)


class _SecuritySettings(SettingsView):
    PREFIX: ClassVar[str] = ""
    DECLARED: ClassVar[tuple[ConfigKey[Any], ...]] = ()
    ELSEWHERE: ClassVar[Mapping[str, str]] = {}
    """What is said of settings that only other services have."""

    @property
    def security(self) -> Mapping[str, Any]:
        """The values of these settings, by their names without the prefix."""
        return {key.name: self.value_of(_named(self.PREFIX, key.name)) for key in self.DECLARED}


class PasswordSecurity(_SecuritySettings):
    """For services that are not HTTP: certificates and passwords only."""

    DECLARED = _PASSWORDS
    ELSEWHERE = _NO_RIGHTS
    vars().update(_keys(_PASSWORDS, ""))


class HttpSecurity(_SecuritySettings):
    """For the settings of a service: `class RestSettings(HttpSecurity)`."""

    DECLARED = _HTTP
    ELSEWHERE = _NO_RIGHTS
    vars().update(_keys(_HTTP, ""))


class GuardedHttpSecurity(_SecuritySettings):
    """For services with resources of their own, on which roles are granted."""

    DECLARED = _GUARDED
    vars().update(_keys(_GUARDED, ""))


class PrefixedHttpSecurity(_SecuritySettings):
    """The same where `ssl.*` and `sasl.*` are settings of the clients of Kafka: those of the listener have a prefix, as
    in Kafka Connect."""

    PREFIX = "listeners.https."
    DECLARED = _GUARDED
    vars().update(_keys(_GUARDED, PREFIX))
