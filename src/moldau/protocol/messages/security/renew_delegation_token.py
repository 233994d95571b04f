"""RenewDelegationToken: extends the life of a token (KIP-48).

v1 the response is sent before throttling. v2 flexible.
"""

from moldau.protocol.spec import (
    Request,
    Response,
    bytestring,
    int16,
    int32,
    int64,
    request,
    response,
    structure,
)


@request(39, versions="1-2", flexible="2+")
@structure
class RenewDelegationTokenRequest(Request):
    hmac: bytes = bytestring()
    renew_period_ms: int = int64()


@response(RenewDelegationTokenRequest)
@structure
class RenewDelegationTokenResponse(Response):
    error_code: int = int16(default=0)
    expiry_timestamp_ms: int = int64()
    throttle_time_ms: int = int32(default=0)
