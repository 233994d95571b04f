"""Logins with signed tokens of an identity provider (RFC 6750): the checks are those of a broker's OAUTHBEARER."""

import time
import urllib.request
from collections.abc import Mapping
from typing import Any, Final

from moldau.core.errors import ConfigError
from moldau.security.sasl.token_checks import MS_PER_S, SCHEMES, URL_KEY
from moldau.security.sasl.token_claims import TokenRefused, TokenRules, login_of_claims
from moldau.security.sasl.token_keys import TokenKeys
from moldau.services.security.checked_logins import Caller, WrongLogin

KEYS_TIMEOUT_S: Final = 10.0
KEYS_BYTES_MAX: Final = 1 << 20
PREFIX: Final = "sasl.oauthbearer."


class Tokens:
    """Checks tokens with the provider's public keys. Called on several threads."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        """`values` are those of `HttpSecurity.security`. Raises ConfigError."""
        url = values[URL_KEY]
        if not url or not url.startswith(SCHEMES):
            raise ConfigError(
                f"authentication.method=BEARER needs the public keys of the identity provider: set {URL_KEY} to "
                f"https://... or file:///... (it is {url!r})"
            )
        self._keys = TokenKeys(
            url,
            fetch_keys,
            lambda: time.monotonic_ns() // 1_000_000,
            refresh_ms=values[f"{PREFIX}jwks.endpoint.refresh.ms"],
            retry_ms=values[f"{PREFIX}jwks.endpoint.retry.backoff.max.ms"],
        )
        self._rules = TokenRules(
            issuer=values[f"{PREFIX}expected.issuer"],
            audiences=frozenset(values[f"{PREFIX}expected.audience"]),
            required_scopes=frozenset(values["authentication.scopes"]),
            scope_claim=values[f"{PREFIX}scope.claim.name"],
            user_claim=values[f"{PREFIX}sub.claim.name"],
            clock_skew_ms=values[f"{PREFIX}clock.skew.seconds"] * MS_PER_S,
        )

    def caller(self, token: bytes) -> Caller:
        """Raises WrongLogin. Blocks while keys are fetched."""
        try:
            claims = self._keys.claims(token.decode("ascii"))
            login = login_of_claims(claims, self._rules, int(time.time() * MS_PER_S))
        except UnicodeDecodeError:
            raise WrongLogin("the token is not ASCII") from None
        except TokenRefused as refused:
            raise WrongLogin(str(refused)) from None
        ends_s = None if login.expires_ms is None else login.expires_ms / MS_PER_S
        return Caller(f"User:{login.user}", ends_s)


def fetch_keys(url: str) -> bytes:
    """OSError if there is no answer. HTTPS is verified with the certificates of the system."""
    with urllib.request.urlopen(url, timeout=KEYS_TIMEOUT_S) as answer:  # noqa: S310 The administrator sets the URL.
        document: bytes = answer.read(KEYS_BYTES_MAX + 1)
    if len(document) > KEYS_BYTES_MAX:
        raise OSError(f"the document is larger than {KEYS_BYTES_MAX} bytes")
    return document
