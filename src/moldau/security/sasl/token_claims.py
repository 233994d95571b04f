"""What the claims of a JSON web token must say before it is a login (RFC 7519, KIP-768). Pure."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from moldau.security.sasl.exchange import Login, shown

Claims = Mapping[str, Any]
MS_PER_S: Final = 1000
TIME_MAX_S: Final = 1 << 40


class TokenRefused(Exception):
    """The text is for the log. `missing_scope` is set where only a scope is missing."""

    def __init__(self, reason: str, missing_scope: str | None = None) -> None:
        super().__init__(reason)
        self.missing_scope = missing_scope


class TokenRules(NamedTuple):
    issuer: str | None = None
    audiences: frozenset[str] = frozenset()
    """A token must name one of them. Without any, a token must not have an audience: it was made for others."""
    required_scopes: frozenset[str] = frozenset()
    scope_claim: str = "scope"
    user_claim: str = "sub"
    clock_skew_ms: int = 0


def login_of_claims(claims: Claims, rules: TokenRules, now_ms: int) -> Login:
    """TokenRefused says which rule the token breaks."""
    expires_ms = _check_times(claims, rules, now_ms)
    _check_parties(claims, rules)
    missing = rules.required_scopes - _scopes(claims.get(rules.scope_claim))
    if missing:
        wanted = " ".join(sorted(rules.required_scopes))
        raise TokenRefused(f"the token lacks the scope {', '.join(sorted(missing))}", wanted)
    user = claims.get(rules.user_claim)
    if not isinstance(user, str) or not user.strip():
        raise TokenRefused(f"the token's claim {rules.user_claim} names no user")
    return Login(user.strip(), expires_ms)


def _check_times(claims: Claims, rules: TokenRules, now_ms: int) -> int:
    """Returns when the token expires."""
    expires_ms = _time_ms(claims, "exp")
    if expires_ms is None:
        raise TokenRefused("the token has no expiry (exp)")
    issued_ms, begins_ms = _time_ms(claims, "iat"), _time_ms(claims, "nbf")
    if expires_ms + rules.clock_skew_ms <= now_ms:
        raise TokenRefused(f"the token expired {(now_ms - expires_ms) // MS_PER_S} s ago")
    for name, time_ms in (("iat", issued_ms), ("nbf", begins_ms)):
        if time_ms is None:
            continue
        if time_ms - rules.clock_skew_ms > now_ms:
            raise TokenRefused(
                f"the token is not valid before {(time_ms - now_ms) // MS_PER_S} s from now ({name})"
            )
        if time_ms > expires_ms:
            raise TokenRefused(f"the token expires before it is valid ({name})")
    return expires_ms


def _check_parties(claims: Claims, rules: TokenRules) -> None:
    issuer, audience = claims.get("iss"), claims.get("aud")
    if rules.issuer is not None and issuer != rules.issuer:
        raise TokenRefused(f"the token was issued by {shown(str(issuer))}, not by {rules.issuer}")
    audiences = {each for each in _listed(audience) if isinstance(each, str)}
    if not rules.audiences and audience is not None:
        raise TokenRefused(
            f"the token is for {shown(str(audience))}, and sasl.oauthbearer.expected.audience names no audience"
        )
    if rules.audiences and not audiences & rules.audiences:
        expected = ", ".join(sorted(rules.audiences))
        raise TokenRefused(f"the token is for {shown(str(audience))}, not for {expected}")


def _scopes(claim: object) -> set[str]:
    return {scope for each in _listed(claim) if isinstance(each, str) for scope in each.split()}


def _listed(claim: object) -> list[object]:
    if claim is None:
        return []
    return claim if isinstance(claim, list) else [claim]


def _time_ms(claims: Claims, name: str) -> int | None:
    value = claims.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < TIME_MAX_S:
        raise TokenRefused(f"the token's claim {name} is not a time")
    return int(value * MS_PER_S)
