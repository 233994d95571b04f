"""How a listener checks the tokens of OAUTHBEARER: read from the settings (KIP-768) and the login module (KIP-255)."""

from collections.abc import Callable
from typing import Any, Final

from moldau.core.errors import ConfigError
from moldau.core.settings.broker_keys import BrokerSettings
from moldau.core.settings.listener_keys import LISTENER_PREFIX, listener_setting
from moldau.security.sasl.exchange import OAUTHBEARER, Login
from moldau.security.sasl.jaas import LoginModule
from moldau.security.sasl.oauthbearer import CheckToken
from moldau.security.sasl.token_claims import TokenRules, login_of_claims
from moldau.security.sasl.token_keys import Fetch, TokenKeys, unsecured_claims

UNSECURED: Final = "unsecured"
"""The start of the options of a login module that asks for unsecured tokens."""
REQUIRED_SCOPE: Final = "requiredScope"
"""The option of a login module that names the scopes a signed token must have. Kafka has none for them."""
URL_KEY: Final = "sasl.oauthbearer.jwks.endpoint.url"
SCHEMES: Final = ("https://", "http://", "file://")
MS_PER_S: Final = 1000


class TokenChecks:
    """Keeps the keys of each provider while settings change."""

    def __init__(self, fetch: Fetch, now_ms: Callable[[], int], monotonic_ms: Callable[[], int]) -> None:
        self._fetch = fetch
        self._now_ms = now_ms
        self._monotonic_ms = monotonic_ms
        self._keys: dict[tuple[str, int, int], TokenKeys] = {}

    def check_for(
        self, settings: BrokerSettings, listener: str, module: LoginModule | None
    ) -> tuple[CheckToken, bool]:
        """The check, and whether it may block. ConfigError if nothing says how to check tokens."""
        options = {} if module is None else module.options

        def setting(name: str) -> Any:
            return listener_setting(settings, listener, f"sasl.oauthbearer.{name}", OAUTHBEARER)

        url = setting("jwks.endpoint.url")
        if url is None and any(name.startswith(UNSECURED) for name in options):
            rules = TokenRules(
                required_scopes=frozenset(options.get("unsecuredValidatorRequiredScope", "").split()),
                scope_claim=options.get("unsecuredValidatorScopeClaimName") or "scope",
                user_claim=options.get("unsecuredValidatorPrincipalClaimName") or "sub",
                clock_skew_ms=_number(options.get("unsecuredValidatorAllowableClockSkewMs") or "0", listener),
            )
            return lambda token: login_of_claims(unsecured_claims(token), rules, self._now_ms()), False
        if url is None or not url.startswith(SCHEMES):
            raise ConfigError(
                f"listener {listener} offers {OAUTHBEARER}, but {URL_KEY} is {url!r}; set it to the keys of your "
                f"provider, as https://... or file:///..., also as {LISTENER_PREFIX}{listener.lower()}."
                f"{OAUTHBEARER.lower()}.{URL_KEY}. For unsecured tokens, in tests, give the login module the option "
                'unsecuredLoginStringClaim_sub="..."'
            )
        signed_rules = TokenRules(
            issuer=setting("expected.issuer"),
            audiences=frozenset(setting("expected.audience")),
            required_scopes=frozenset(options.get(REQUIRED_SCOPE, "").split()),
            scope_claim=setting("scope.claim.name"),
            user_claim=setting("sub.claim.name"),
            clock_skew_ms=setting("clock.skew.seconds") * MS_PER_S,
        )
        keys = self._keys_at(
            url, setting("jwks.endpoint.refresh.ms"), setting("jwks.endpoint.retry.backoff.max.ms")
        )

        def check(token: str) -> Login:
            return login_of_claims(keys.claims(token), signed_rules, self._now_ms())

        return check, True

    def _keys_at(self, url: str, refresh_ms: int, retry_ms: int) -> TokenKeys:
        known = self._keys.get((url, refresh_ms, retry_ms))
        if known is None:
            known = TokenKeys(url, self._fetch, self._monotonic_ms, refresh_ms=refresh_ms, retry_ms=retry_ms)
            self._keys[url, refresh_ms, retry_ms] = known
        return known


def _number(text: str, listener: str) -> int:
    if not text.strip().isdecimal():
        raise ConfigError(
            f"listener {listener}: unsecuredValidatorAllowableClockSkewMs of its {OAUTHBEARER} login module is "
            f"{text!r}; set it to a number of milliseconds"
        )
    return int(text)
