"""DescribeDelegationToken (41), v1-3: the tokens that the client may see (KIP-48).

v2 flexible   v3 who asked for each (KIP-373)
"""

from moldau.broker.handlers.logins.token_requests import is_allowed, split_principal
from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.security.describe_delegation_token import (
    DescribedDelegationToken,
    DescribedDelegationTokenRenewer,
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)
from moldau.security.access.model import Operation, ResourceKind
from moldau.security.credentials.delegation_token import DelegationToken


def handle(ctx: RequestContext, request: DescribeDelegationTokenRequest) -> DescribeDelegationTokenResponse:
    if not is_allowed(ctx):
        return _answer(ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED)
    tokens = ctx.broker.tokens
    if not tokens.is_enabled:
        return _answer(ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED)
    owners = None
    if request.owners is not None:
        owners = [f"{each.principal_type}:{each.principal_name}" for each in request.owners]
    found = [token for token in tokens.all() if _may_see(ctx, token, owners)]
    return _answer(ErrorCode.NONE, [_described(token, tokens.hmac(token)) for token in found])


API = ApiSpec.of(DescribeDelegationTokenRequest, handle)


def _may_see(ctx: RequestContext, token: DelegationToken, owners: list[str] | None) -> bool:
    if owners is not None and not any(token.is_known_to(owner) for owner in owners):
        return False
    if token.is_known_to(ctx.client.principal):
        return True
    return ctx.may(
        Operation.DESCRIBE, ResourceKind.DELEGATION_TOKEN, token.token_id, is_logged=False
    ) or ctx.may(Operation.DESCRIBE_TOKENS, ResourceKind.USER, token.owner, is_logged=False)


def _described(token: DelegationToken, hmac: bytes) -> DescribedDelegationToken:
    (owner_type, owner_name), (requester_type, requester_name) = map(
        split_principal, (token.owner, token.requester)
    )
    return DescribedDelegationToken(
        principal_type=owner_type,
        principal_name=owner_name,
        token_requester_principal_type=requester_type,
        token_requester_principal_name=requester_name,
        issue_timestamp=token.issued_ms,
        expiry_timestamp=token.expires_ms,
        max_timestamp=token.max_ms,
        token_id=token.token_id,
        hmac=hmac,
        renewers=[
            DescribedDelegationTokenRenewer(principal_type=kind, principal_name=name)
            for kind, name in map(split_principal, token.renewers)
        ],
    )


def _answer(
    code: ErrorCode, tokens: list[DescribedDelegationToken] | None = None
) -> DescribeDelegationTokenResponse:
    return DescribeDelegationTokenResponse(error_code=code, tokens=tokens or [])
