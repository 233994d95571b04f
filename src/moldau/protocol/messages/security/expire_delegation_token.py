"""ExpireDelegationToken: shortens the life of a token (KIP-48).

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


@request(40, versions="1-2", flexible="2+")
@structure
class ExpireDelegationTokenRequest(Request):
    hmac: bytes = bytestring()
    expiry_time_period_ms: int = int64()


@response(ExpireDelegationTokenRequest)
@structure
class ExpireDelegationTokenResponse(Response):
    error_code: int = int16(default=0)
    expiry_timestamp_ms: int = int64()
    throttle_time_ms: int = int32(default=0)
