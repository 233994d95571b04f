"""Which mechanisms a listener offers, and what their logins are checked against: read from the settings.

The settings are Kafka's: `sasl.enabled.mechanisms` and `listener.name.<listener>.<mechanism>.sasl.jaas.config`. A
login module is needed for PLAIN, whose users it has, and for unsecured tokens, which are accepted only if it has an
option for them.
"""

import logging
import secrets
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from moldau.core.errors import ConfigError
from moldau.core.ports import Scheduler
from moldau.core.settings.broker_keys import BrokerSettings
from moldau.core.settings.listener_keys import (
    LISTENER_PREFIX,
    check_mechanism_word,
    listener_setting,
    mechanism_setting,
)
from moldau.core.settings.listeners import listener_names
from moldau.security.credentials.api_key import parse_api_key
from moldau.security.credentials.scram_credential import MECHANISMS, ScramMechanism
from moldau.security.sasl.exchange import GSSAPI, OAUTHBEARER, PLAIN, Exchange, Login
from moldau.security.sasl.jaas import KERBEROS_MODULE, PLAIN_MODULE, LoginModule, check_module, parse_jaas
from moldau.security.sasl.kerberos import KerberosExchange, KerberosKeys
from moldau.security.sasl.kerberos_names import RULES_KEY, parse_rules, short_name
from moldau.security.sasl.oauthbearer import OAuthBearerExchange
from moldau.security.sasl.own_checks import own_check
from moldau.security.sasl.plain import PlainExchange, check_against
from moldau.security.sasl.scram import Known, ScramExchange
from moldau.security.sasl.stored_users import StoredUsers
from moldau.security.sasl.token_checks import TokenChecks

_log = logging.getLogger("moldau.security")

JAAS_CONFIG: Final = "sasl.jaas.config"
NONCE_BYTES: Final = 24
PLAIN_BY_SCRAM: Final = "moldau.plain.scram.enable"
KnownToken = Callable[[str, ScramMechanism], Known | None]
"""What is known about the ID of a delegation token."""
Begin = Callable[[], Exchange]


class LoginSources(NamedTuple):
    """What logins are checked against besides the settings of the broker."""

    users: StoredUsers
    known_token: KnownToken
    token_checks: TokenChecks


class ListenerLogins:
    """The logins of one listener under the settings of one moment."""

    def __init__(self, settings: BrokerSettings, listener: str, sources: LoginSources) -> None:
        """ConfigError if a mechanism cannot be offered."""
        self._sources = sources
        self.mechanisms: tuple[str, ...] = tuple(
            dict.fromkeys(listener_setting(settings, listener, "sasl.enabled.mechanisms"))
        )
        if not self.mechanisms:
            raise ConfigError(
                f"listener {listener} has no SASL mechanism; set sasl.enabled.mechanisms, for example to "
                f"{PLAIN} or {','.join(MECHANISMS)}"
            )
        self.message_bytes_max: int = listener_setting(settings, listener, "sasl.server.max.receive.size")
        self.frame_bytes_max = settings.socket_request_max_bytes
        self.failure_delay_ms: int = listener_setting(
            settings, listener, "connection.failed.authentication.delay.ms"
        )
        self._session_ms = {
            each: int(listener_setting(settings, listener, "connections.max.reauth.ms", each))
            for each in self.mechanisms
        }
        self._begin = {each: self._offer(settings, listener, each) for each in self.mechanisms}

    def begin(self, mechanism: str) -> Exchange:
        """A new exchange of one of the mechanisms."""
        return self._begin[mechanism]()

    def session_ms(self, mechanism: str) -> int:
        """After how long a client must log in again; 0 for never."""
        return max(0, self._session_ms[mechanism])

    def has_key(self, name: str) -> bool:
        """Whether an API key still exists."""
        return self._sources.users.has(name)

    def _offer(self, settings: BrokerSettings, listener: str, mechanism: str) -> Begin:
        if mechanism == PLAIN:
            return self._offer_plain(settings, listener)
        if mechanism in MECHANISMS:
            return self._offer_scram(MECHANISMS[mechanism])
        if mechanism == OAUTHBEARER:
            module = login_module(settings, listener, mechanism)
            check, is_slow = self._sources.token_checks.check_for(settings, listener, module)
            return lambda: OAuthBearerExchange(check, is_slow=is_slow)
        if mechanism == GSSAPI:
            return self._offer_kerberos(settings, listener)
        raise ConfigError(
            f"listener {listener} offers the SASL mechanism {mechanism}, which is not supported; "
            f"set sasl.enabled.mechanisms to some of {', '.join((PLAIN, *MECHANISMS, OAUTHBEARER, GSSAPI))}"
        )

    def _offer_plain(self, settings: BrokerSettings, listener: str) -> Begin:
        module = login_module(settings, listener, PLAIN)
        own = own_check(settings, listener, module)
        if own is None and module is None:
            raise ConfigError(
                f"listener {listener} offers PLAIN but has no users; set {jaas_setting(listener, PLAIN)}="
                f'{PLAIN_MODULE} required user_alice="..."; (`required;` alone admits just the users of the cluster)'
            )
        first = check_against({} if module is None else module.passwords) if own is None else own
        if not listener_setting(settings, listener, PLAIN_BY_SCRAM, PLAIN):
            return lambda: PlainExchange(first, lambda user: own is not None)
        stored = self._sources.users.check
        named = frozenset(() if module is None else module.passwords)

        def is_stored(user: str) -> bool:
            """A check of one's own knows all users but API keys."""
            return user not in named if own is None else parse_api_key(user) is not None

        def check(user: str, password: str) -> Login | None:
            return (stored if is_stored(user) else first)(user, password)

        return lambda: PlainExchange(check, lambda user: own is not None or is_stored(user))

    def _offer_kerberos(self, settings: BrokerSettings, listener: str) -> Begin:
        module, setting = login_module(settings, listener, GSSAPI), jaas_setting(listener, GSSAPI)
        if module is None:
            raise ConfigError(
                f"listener {listener} offers GSSAPI but has no keys; set {setting}={KERBEROS_MODULE} required "
                'useKeyTab=true keyTab="/etc/kafka.keytab" principal="kafka/host@REALM";, or choose other mechanisms '
                "in sasl.enabled.mechanisms"
            )
        rules = parse_rules(listener_setting(settings, listener, RULES_KEY, GSSAPI))
        keys = KerberosKeys(module, setting)
        return lambda: KerberosExchange(keys.accept, lambda name: short_name(name, rules, keys.realm))

    def _offer_scram(self, mechanism: ScramMechanism) -> Begin:
        def find(name: str, is_token: bool) -> Known | None:
            if is_token:
                return self._sources.known_token(name, mechanism)
            return self._sources.users.known(name, mechanism)

        return lambda: ScramExchange(mechanism, find, secrets.token_urlsafe(NONCE_BYTES))


class Logins:
    """The logins of all listeners of a broker, under the settings in force."""

    def __init__(
        self, settings: Callable[[], BrokerSettings], sources: LoginSources, workers: Scheduler
    ) -> None:
        self.run_in_worker = workers.run_in_worker
        """For exchanges that may block."""
        self._settings = settings
        self._sources = sources
        self._by_listener: dict[str, tuple[BrokerSettings, ListenerLogins]] = {}

    def check(self, settings: BrokerSettings, listeners: Iterable[str]) -> None:
        """ConfigError if nobody could log in on one of the listeners with these settings, or one of them is for a
        mechanism that does not exist. A broker with such a one starts, as it could not be removed otherwise."""
        names = {name.lower() for name in listener_names(settings)}
        for key in settings.listener_overrides:
            check_mechanism_word(key, names)
        for listener in listeners:
            ListenerLogins(settings, listener, self._sources)

    def on(self, listener: str) -> ListenerLogins:
        """ConfigError if the listener's settings are wrong. Once they were right, a wrong change has no effect."""
        settings = self._settings()
        kept = self._by_listener.get(listener)
        if kept is not None and kept[0] is settings:
            return kept[1]
        try:
            logins = ListenerLogins(settings, listener, self._sources)
        except ConfigError as error:
            if kept is None:
                raise
            _log.error("logins on %s go on with the settings they had: %s", listener, error)
            logins = kept[1]
        self._by_listener[listener] = settings, logins
        return logins


def jaas_setting(listener: str, mechanism: str) -> str:
    return f"{LISTENER_PREFIX}{listener.lower()}.{mechanism.lower()}.{JAAS_CONFIG}"


def login_module(settings: BrokerSettings, listener: str, mechanism: str) -> LoginModule | None:
    """The login module of a mechanism on a listener; None if none is set. ConfigError if it is malformed."""
    text = mechanism_setting(settings, listener, JAAS_CONFIG, mechanism)
    if text is None:
        return None
    setting = jaas_setting(listener, mechanism)
    module = parse_jaas(text, setting)
    check_module(module, mechanism, setting)
    return module
