"""Reads JSON web tokens: signed ones with the public keys of their provider (RFC 7517), unsecured ones as they are.

The keys are fetched when a login needs them, and again after a while or when a token names a key that is not known. So
logins with signed tokens may block: they run on a worker thread.
"""

import json
import logging
import threading
from base64 import urlsafe_b64decode
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from moldau.security.sasl.exchange import shown
from moldau.security.sasl.token_claims import Claims, TokenRefused

if TYPE_CHECKING:
    from joserfc.jwk import Key

_log = logging.getLogger("moldau.security")

Fetch = Callable[[str], bytes]
"""Takes a URL. OSError if there is no answer."""
ALGORITHMS: Final = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA", "Ed25519"),
)
"""Those with a public key. A shared secret, or `none`, proves nothing about the provider."""


class TokenKeys:
    """The public keys of a provider. Called on several threads."""

    def __init__(
        self, url: str, fetch: Fetch, monotonic_ms: Callable[[], int], *, refresh_ms: int, retry_ms: int
    ) -> None:
        self._url = url
        self._fetch = fetch
        self._monotonic_ms = monotonic_ms
        self._refresh_ms = refresh_ms
        self._retry_ms = retry_ms
        self._turn = threading.Lock()
        self._keys: list[Key] = []
        self._fetched_at_ms: int | None = None
        self._is_due_at_ms = 0
        self._problem = ""

    def claims(self, token: str) -> Claims:
        """The claims of a token with a good signature. TokenRefused if it has none."""
        from joserfc import jwt
        from joserfc.errors import JoseError

        header, _ = _decoded(token)
        algorithm, key_id = header.get("alg"), header.get("kid")
        if algorithm not in ALGORITHMS:
            raise TokenRefused(f"the token is signed with {shown(str(algorithm))}, which is not accepted")
        for key in self._candidates(key_id):
            try:
                return dict(jwt.decode(token, key, algorithms=ALGORITHMS).claims)
            except (JoseError, ValueError, TypeError):  # TypeError: of a `crit` that is no list.
                continue
        raise TokenRefused("the token's signature is wrong")

    def _candidates(self, key_id: object) -> "list[Key]":
        found = self._matching(key_id)
        if not found or self._is_due(key_id):
            # One thread fetches. The others wait only if they do not know the key.
            if self._turn.acquire(blocking=not found):
                try:
                    if self._is_due(key_id):
                        self._refresh()
                finally:
                    self._turn.release()
            found = self._matching(key_id)
        if not found:
            why = self._problem or f"the provider has no key {shown(str(key_id))}"
            raise TokenRefused(f"the token's signature cannot be checked: {why}")
        return found

    def _matching(self, key_id: object) -> "list[Key]":
        return [key for key in self._keys if key_id is None or key.kid in (None, key_id)]

    def _is_due(self, key_id: object) -> bool:
        """Whether it is time for another fetch: earlier for a key that is not known."""
        now_ms = self._monotonic_ms()
        if self._fetched_at_ms is None or now_ms >= self._is_due_at_ms:
            return True
        return now_ms - self._fetched_at_ms >= self._retry_ms and not self._matching(key_id)

    def _refresh(self) -> None:
        """Keeps the keys it has if no others can be had."""
        try:
            self._keys, self._problem = _parsed_keys(self._fetch(self._url)), ""
        except (OSError, ValueError) as error:
            self._problem = f"the keys at {self._url} could not be read: {error}"
            _log.error("%s; correct sasl.oauthbearer.jwks.endpoint.url or repair the provider", self._problem)
        self._fetched_at_ms = self._monotonic_ms()
        wait_ms = min(self._retry_ms, self._refresh_ms) if self._problem else self._refresh_ms
        self._is_due_at_ms = self._fetched_at_ms + wait_ms


def unsecured_claims(token: str) -> Claims:
    """The claims of a token without a signature."""
    header, claims = _decoded(token)
    if header.get("alg") != "none" or token.rpartition(".")[2]:
        raise TokenRefused("the token is signed, but this listener accepts unsecured tokens only")
    return claims


def claims_as_given(token: str) -> Claims:
    """The claims of a token of one's own, whose signature is for others to check. TokenRefused if it has no claims."""
    return _decoded(token)[1]


def _decoded(token: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Header and claims, not verified."""
    parts = token.split(".")
    if len(parts) != 3:
        raise TokenRefused("the token is not a JSON web token of three parts")
    try:
        header, claims = (json.loads(urlsafe_b64decode(part + "=" * (-len(part) % 4))) for part in parts[:2])
    except (ValueError, RecursionError):
        raise TokenRefused("the token's header or claims are not base64 of JSON") from None
    if not isinstance(header, dict) or not isinstance(claims, dict):
        raise TokenRefused("the token's header and claims must be JSON objects")
    return header, claims


def _parsed_keys(document: bytes) -> "list[Key]":
    """The keys for signatures. ValueError if there are none."""
    from joserfc.errors import JoseError
    from joserfc.jwk import import_key

    content = json.loads(document)
    listed = content.get("keys") if isinstance(content, dict) else None
    if not isinstance(listed, list):
        raise ValueError("it is not a JSON web key set: it has no array `keys`")
    keys = []
    for each in listed:
        if not isinstance(each, dict) or each.get("kty") == "oct" or each.get("use", "sig") != "sig":
            continue
        try:
            keys.append(import_key(each))
        except (JoseError, ValueError, KeyError):
            continue
    if not keys:
        raise ValueError("it has no public key for signatures")
    return keys
