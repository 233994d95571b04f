"""Where the tokens come from with which brokers log in to each other (KIP-255, KIP-768): read from the settings.

A token is fetched from an endpoint as the client that the settings name, or for an assertion, read from a file, or, in
tests, made without a signature. It is kept until it is time for another one.
"""

import json
import logging
import threading
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

from moldau.core.errors import ConfigError, PeerError
from moldau.core.settings.broker_keys import BrokerSettings
from moldau.core.settings.listener_keys import listener_setting
from moldau.security.sasl.exchange import OAUTHBEARER
from moldau.security.sasl.jaas import LoginModule
from moldau.security.sasl.token_assertions import GRANT, KEY_FILE, Assertion
from moldau.security.sasl.token_checks import SCHEMES, UNSECURED
from moldau.security.sasl.token_claims import MS_PER_S, TIME_MAX_S, Claims, TokenRefused
from moldau.security.sasl.token_keys import claims_as_given

_log = logging.getLogger("moldau.security")

FetchToken = Callable[[str, Mapping[str, str], bytes | None, float], bytes]
"""Takes a URL, headers, the body of a POST or None, and a limit in seconds. OSError if there is no answer."""
ENDPOINT_KEY: Final = "sasl.oauthbearer.token.endpoint.url"
FILE: Final = "file://"
FORM_HEADERS: Final = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
TIMEOUT_MS: Final = 10_000
UNSECURED_LIFE_S: Final = "3600"
_PACE: Final = ("window.factor", "window.jitter", "min.period.seconds", "buffer.seconds")


class RefreshPace(NamedTuple):
    """When a token that is still good is replaced, as Kafka's `sasl.login.refresh.*` say."""

    window: float
    """The share of its life after which it is."""
    min_period_ms: int
    buffer_ms: int
    """The end of its life, in which it no longer is."""

    def due_ms(self, begins_ms: int, expires_ms: int, now_ms: int) -> int:
        if self.min_period_ms + self.buffer_ms > expires_ms - now_ms:  # Too short a life for both.
            return now_ms + int((expires_ms - now_ms) * self.window)
        due_ms = begins_ms + int((expires_ms - begins_ms) * self.window)
        return max(now_ms + self.min_period_ms, min(due_ms, expires_ms - self.buffer_ms))


class TokenSource:
    """Keeps one token. Called on several threads."""

    def __init__(self, obtain: Callable[[], str], now_ms: Callable[[], int], pace: RefreshPace) -> None:
        self._obtain = obtain
        self._now_ms = now_ms
        self._pace = pace
        self._turn = threading.Lock()
        self._token = ""
        self._expires_ms = 0
        self._due_ms = 0

    def token(self) -> str:
        """PeerError if none can be had."""
        with self._turn:
            now_ms = self._now_ms()
            if now_ms >= self._due_ms:
                self._replace(now_ms)
            return self._token

    def _replace(self, now_ms: int) -> None:
        try:
            token = self._obtain()
            claims = claims_as_given(token)
            expires_ms = _time_ms(claims, "exp")
        except (OSError, ValueError, TokenRefused) as error:
            problem = (
                f"there is no token for the login to other brokers: {error}; correct {ENDPOINT_KEY} or repair the "
                "provider"
            )
            if now_ms >= self._expires_ms:
                raise PeerError(problem) from None
            _log.warning(
                "%s. The last one is good for %d s", problem, (self._expires_ms - now_ms) // MS_PER_S
            )
            self._due_ms = min(now_ms + self._pace.min_period_ms, self._expires_ms)
            return
        if expires_ms <= now_ms:
            raise PeerError(
                f"the token for the login to other brokers expired {(now_ms - expires_ms) // MS_PER_S} s ago"
            )
        begins_ms = min(_time_ms(claims, "iat"), now_ms) if "iat" in claims else now_ms
        self._token, self._expires_ms = token, expires_ms
        self._due_ms = self._pace.due_ms(begins_ms, expires_ms, now_ms)


class Provider(NamedTuple):
    """Where tokens are asked for, and as whom. Equal ones give the same tokens."""

    url: str
    client_id: str
    secret: str
    scope: str
    assertion: Assertion
    timeout_s: float

    def __repr__(self) -> str:
        return f"<Provider {self.url}>"

    def request(self, now_ms: int, new_id: Callable[[], str]) -> tuple[Mapping[str, str], bytes | None]:
        """The headers and the body. OSError or ValueError if there is no assertion to be had."""
        if self.url.startswith(FILE):
            return {}, None
        if not self.assertion.is_set:
            return client_credentials_request(self.client_id, self.secret, self.scope)
        form = {"scope": self.scope} if self.scope else {}
        form |= {"grant_type": GRANT, "assertion": self.assertion.text(now_ms, new_id)}
        return FORM_HEADERS, urlencode(form).encode()

    def check(self, listener: str) -> None:
        """ConfigError if something is missing."""
        if not self.url.startswith(SCHEMES):
            raise ConfigError(
                f"brokers log in to each other with {OAUTHBEARER} on {listener}, but {ENDPOINT_KEY} is "
                f"{self.url or None!r}; set it to the token endpoint of your provider, as https://..., or to a file "
                "with a token, as file:///..."
            )
        if self.url.startswith(FILE):
            return
        self.assertion.check()
        if not self.assertion.is_set and not (self.client_id and self.secret):
            raise ConfigError(
                f"{ENDPOINT_KEY}={self.url} gives tokens to clients that it knows; set "
                "sasl.oauthbearer.client.credentials.client.id and sasl.oauthbearer.client.credentials.client.secret, "
                f"or {KEY_FILE}"
            )


class TokenSources:
    """Keeps the token of each source while settings change."""

    def __init__(
        self,
        fetch: FetchToken,
        now_ms: Callable[[], int],
        *,
        jitter: Callable[[], float],
        new_id: Callable[[], str],
    ) -> None:
        """`jitter` is random, from 0 to 1; `new_id` is unique."""
        self._fetch = fetch
        self._now_ms = now_ms
        self._jitter = jitter
        self._new_id = new_id
        self._kept: dict[tuple[object, ...], TokenSource] = {}

    def source(self, settings: BrokerSettings, listener: str, module: LoginModule) -> TokenSource:
        """ConfigError if nothing says where tokens come from."""

        def setting(name: str) -> Any:
            return listener_setting(settings, listener, f"sasl.{name}", OAUTHBEARER)

        provider, options = _provider(setting, module.options), module.options
        pace = tuple(setting(f"login.refresh.{name}") for name in _PACE)
        known = (provider, pace, *sorted(options.items()))
        if known not in self._kept:
            is_unsecured = not provider.url and any(name.startswith(UNSECURED) for name in options)
            if not is_unsecured:
                provider.check(listener)
            window, jitter, period_s, buffer_s = pace
            self._kept[known] = TokenSource(
                (lambda: unsecured_token(options, self._now_ms()))
                if is_unsecured
                else lambda: self._asked(provider),
                self._now_ms,
                RefreshPace(window + jitter * self._jitter(), period_s * MS_PER_S, buffer_s * MS_PER_S),
            )
        return self._kept[known]

    def _asked(self, provider: Provider) -> str:
        headers, body = provider.request(self._now_ms(), self._new_id)
        answer = self._fetch(provider.url, headers, body, provider.timeout_s)
        return answer.decode().strip() if body is None else token_of_answer(answer, provider.url)


def _provider(setting: Callable[[str], Any], options: Mapping[str, str]) -> Provider:
    timeout_ms = setting("login.read.timeout.ms") or setting("login.connect.timeout.ms") or TIMEOUT_MS

    def given(name: str) -> Any:
        return setting(f"oauthbearer.{name}")

    return Provider(
        url=given("token.endpoint.url") or "",
        client_id=given("client.credentials.client.id") or options.get("clientId", ""),
        secret=given("client.credentials.client.secret") or options.get("clientSecret", ""),
        scope=given("scope") or options.get("scope", ""),
        assertion=Assertion(
            file=given("assertion.file"),
            key_file=given("assertion.private.key.file"),
            passphrase=given("assertion.private.key.passphrase"),
            template_file=given("assertion.template.file"),
            algorithm=given("assertion.algorithm"),
            issuer=given("assertion.claim.iss"),
            subject=given("assertion.claim.sub"),
            audience=given("assertion.claim.aud"),
            life_s=given("assertion.claim.exp.seconds"),
            valid_before_s=given("assertion.claim.nbf.seconds"),
            has_id=given("assertion.claim.jti.include"),
        ),
        timeout_s=timeout_ms / MS_PER_S,
    )


def unsecured_token(options: Mapping[str, str], now_ms: int) -> str:
    """A token without a signature, with the claims that options of the login module name, as Kafka's own handler makes
    it. ValueError for a number that is none."""
    user_claim = options.get("unsecuredLoginPrincipalClaimName") or "sub"
    claims: dict[str, object] = {}
    for name, value in options.items():
        kind, _, claim = name.removeprefix(f"{UNSECURED}Login").partition("Claim_")
        if not claim or not name.startswith(f"{UNSECURED}Login"):
            continue
        if kind == "String":
            claims[claim] = value
        elif kind == "Number":
            claims[claim] = float(value)
        elif kind == "List":  # Its first character separates the others.
            claims[claim] = [each for each in value[1:].split(value[:1] or " ") if each]
    if not isinstance(claims.get(user_claim), str):
        raise ValueError(f'the login module has no unsecuredLoginStringClaim_{user_claim}="..."')
    life_s = float(options.get("unsecuredLoginLifetimeSeconds") or UNSECURED_LIFE_S)
    claims.setdefault("iat", now_ms / MS_PER_S)
    claims.setdefault("exp", now_ms / MS_PER_S + life_s)
    parts = ({"alg": "none"}, claims)
    encoded = (urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts)
    return ".".join([*encoded, ""])


def client_credentials_request(client_id: str, secret: str, scope: str) -> tuple[Mapping[str, str], bytes]:
    """The headers and the body with which a client asks for a token (RFC 6749, 4.4)."""
    proof = b64encode(f"{client_id}:{secret}".encode()).decode()
    form = {"grant_type": "client_credentials"} | ({"scope": scope} if scope else {})
    return FORM_HEADERS | {"Authorization": f"Basic {proof}"}, urlencode(form).encode()


def token_of_answer(answer: bytes, url: str) -> str:
    """ValueError if there is none."""
    content = json.loads(answer)
    token = content.get("access_token") if isinstance(content, dict) else None
    if not isinstance(token, str) or not token:
        raise ValueError(f"the answer of {url} has no access_token")
    return token


def _time_ms(claims: Claims, name: str) -> int:
    value = claims.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < TIME_MAX_S:
        raise ValueError(f"the claim {name} of the token is not a time")
    return int(value * MS_PER_S)
