"""RenewDelegationToken (39), v1-2: extends the life of a token (KIP-48).

v2 flexible
"""

from moldau.broker.handlers.logins.token_requests import NO_TIME, is_allowed
from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import StorageFault
from moldau.protocol.messages.security.renew_delegation_token import (
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)


async def handle(ctx: RequestContext, request: RenewDelegationTokenRequest) -> RenewDelegationTokenResponse:
    tokens, now_ms = ctx.broker.tokens, ctx.broker.clock.now_ms()
    if not is_allowed(ctx):
        return _answer(ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED)
    if not tokens.is_enabled:
        return _answer(ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED)
    token = tokens.of_hmac(bytes(request.hmac))
    if token is None:
        return _answer(ErrorCode.DELEGATION_TOKEN_NOT_FOUND)
    if token.is_expired(now_ms):
        return _answer(ErrorCode.DELEGATION_TOKEN_EXPIRED)
    if not token.may_renew(ctx.client.principal):
        return _answer(ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH)
    period_ms = tokens.settings().delegation_token_expiry_time_ms
    if request.renew_period_ms > 0:
        period_ms = min(period_ms, request.renew_period_ms)
    renewed = token.renewed(now_ms, period_ms)
    try:
        await tokens.put(renewed)
    except StorageFault:
        return _answer(ErrorCode.KAFKA_STORAGE_ERROR)
    return _answer(ErrorCode.NONE, renewed.expires_ms)


API = ApiSpec.of(RenewDelegationTokenRequest, handle)


def _answer(code: ErrorCode, expires_ms: int = NO_TIME) -> RenewDelegationTokenResponse:
    return RenewDelegationTokenResponse(error_code=code, expiry_timestamp_ms=expires_ms)
