"""Delegation tokens (KIP-48, KIP-373): what one says, and who may do what with it. Pure.

A token is an ID and the HMAC of that ID under the brokers' secret. Its HMAC is the password of a SCRAM login, its ID
the user name; the client is then the token's owner.
"""

import hmac
from base64 import b64encode
from collections.abc import Collection
from typing import Final, NamedTuple

USER_TYPE: Final = "User"
HASH: Final = "sha512"


class DelegationToken(NamedTuple):
    token_id: str
    owner: str
    """A principal as text, `User:alice`, as those below."""
    requester: str
    renewers: tuple[str, ...]
    issued_ms: int
    max_ms: int
    expires_ms: int

    def is_expired(self, now_ms: int) -> bool:
        return min(self.max_ms, self.expires_ms) < now_ms

    def may_renew(self, principal: str) -> bool:
        """Owner and renewers may also expire it."""
        return principal == self.owner or principal in self.renewers

    def is_known_to(self, principal: str) -> bool:
        """Whoever asked for it for somebody else sees it, too, but may not renew it."""
        return principal == self.requester or self.may_renew(principal)

    def renewed(self, now_ms: int, period_ms: int) -> "DelegationToken":
        return self._replace(expires_ms=min(self.max_ms, now_ms + period_ms))


def new_token(
    token_id: str,
    *,
    owner: str,
    requester: str,
    renewers: Collection[str],
    now_ms: int,
    lifetime_ms: int,
    renewal_ms: int,
) -> DelegationToken:
    max_ms = now_ms + lifetime_ms
    return DelegationToken(
        token_id, owner, requester, tuple(renewers), now_ms, max_ms, min(max_ms, now_ms + renewal_ms)
    )


def token_hmac(secret: str, token_id: str) -> bytes:
    return hmac.digest(secret.encode(), token_id.encode(), HASH)


def token_password(hmac_bytes: bytes) -> str:
    """What a client gives as its password."""
    return b64encode(hmac_bytes).decode()
