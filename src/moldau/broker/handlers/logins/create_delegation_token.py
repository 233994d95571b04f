"""CreateDelegationToken (38), v1-3: a token with which others log in as its owner (KIP-48).

v2 flexible   v3 for another owner, and who asked for it (KIP-373)
"""

import secrets
from base64 import urlsafe_b64encode
from typing import Final

from moldau.broker.handlers.logins.token_requests import NO_TIME, is_allowed, split_principal
from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import StorageFault
from moldau.protocol.messages.security.create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from moldau.security.access.model import Operation, ResourceKind
from moldau.security.credentials.delegation_token import USER_TYPE, DelegationToken, new_token

ID_BYTES: Final = 16


async def handle(ctx: RequestContext, request: CreateDelegationTokenRequest) -> CreateDelegationTokenResponse:
    requester = owner = ctx.client.principal
    if request.owner_principal_name:
        owner = f"{request.owner_principal_type}:{request.owner_principal_name}"
    code = _refusal(ctx, request, owner)
    if code is not ErrorCode.NONE:
        return _answer(code, owner, requester)
    tokens = ctx.broker.tokens
    settings = tokens.settings()
    lifetime_ms = settings.delegation_token_max_lifetime_ms
    token = new_token(
        urlsafe_b64encode(secrets.token_bytes(ID_BYTES)).rstrip(b"=").decode(),
        owner=owner,
        requester=requester,
        renewers=[f"{each.principal_type}:{each.principal_name}" for each in request.renewers],
        now_ms=ctx.broker.clock.now_ms(),
        lifetime_ms=min(lifetime_ms, request.max_lifetime_ms) if request.max_lifetime_ms > 0 else lifetime_ms,
        renewal_ms=settings.delegation_token_expiry_time_ms,
    )
    try:
        await tokens.put(token)
    except StorageFault:
        return _answer(ErrorCode.KAFKA_STORAGE_ERROR, owner, requester)
    return _answer(ErrorCode.NONE, owner, requester, token, tokens.hmac(token))


API = ApiSpec.of(CreateDelegationTokenRequest, handle)


def _refusal(ctx: RequestContext, request: CreateDelegationTokenRequest, owner: str) -> ErrorCode:
    if not is_allowed(ctx):
        return ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    if owner != ctx.client.principal and not ctx.may(Operation.CREATE_TOKENS, ResourceKind.USER, owner):
        return ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED
    if any(each.principal_type != USER_TYPE for each in request.renewers):
        return ErrorCode.INVALID_PRINCIPAL_TYPE
    return ErrorCode.NONE if ctx.broker.tokens.is_enabled else ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED


def _answer(
    code: ErrorCode, owner: str, requester: str, token: DelegationToken | None = None, hmac: bytes = b""
) -> CreateDelegationTokenResponse:
    (owner_type, owner_name), (requester_type, requester_name) = map(split_principal, (owner, requester))
    return CreateDelegationTokenResponse(
        error_code=code,
        principal_type=owner_type,
        principal_name=owner_name,
        token_requester_principal_type=requester_type,
        token_requester_principal_name=requester_name,
        issue_timestamp_ms=NO_TIME if token is None else token.issued_ms,
        expiry_timestamp_ms=NO_TIME if token is None else token.expires_ms,
        max_timestamp_ms=NO_TIME if token is None else token.max_ms,
        token_id="" if token is None else token.token_id,
        hmac=hmac,
    )
