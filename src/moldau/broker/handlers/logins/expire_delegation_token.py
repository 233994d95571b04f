"""ExpireDelegationToken (40), v1-2: shortens the life of a token, or ends it at once (KIP-48).

v2 flexible
"""

from moldau.broker.handlers.logins.token_requests import NO_TIME, is_allowed
from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import StorageFault
from moldau.protocol.messages.security.expire_delegation_token import (
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
)


async def handle(ctx: RequestContext, request: ExpireDelegationTokenRequest) -> ExpireDelegationTokenResponse:
    tokens, now_ms = ctx.broker.tokens, ctx.broker.clock.now_ms()
    if not is_allowed(ctx):
        return _answer(ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED)
    if not tokens.is_enabled:
        return _answer(ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED)
    token = tokens.of_hmac(bytes(request.hmac))
    if token is None:
        return _answer(ErrorCode.DELEGATION_TOKEN_NOT_FOUND)
    if not token.may_renew(ctx.client.principal):
        return _answer(ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH)
    try:
        if request.expiry_time_period_ms < 0:
            await tokens.remove(token)
            return _answer(ErrorCode.NONE, now_ms)
        if token.is_expired(now_ms):
            return _answer(ErrorCode.DELEGATION_TOKEN_EXPIRED)
        shortened = token.renewed(now_ms, request.expiry_time_period_ms)
        await tokens.put(shortened)
    except StorageFault:
        return _answer(ErrorCode.KAFKA_STORAGE_ERROR)
    return _answer(ErrorCode.NONE, shortened.expires_ms)


API = ApiSpec.of(ExpireDelegationTokenRequest, handle)


def _answer(code: ErrorCode, expires_ms: int = NO_TIME) -> ExpireDelegationTokenResponse:
    return ExpireDelegationTokenResponse(error_code=code, expiry_timestamp_ms=expires_ms)
