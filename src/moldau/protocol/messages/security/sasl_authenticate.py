"""SaslAuthenticate: one step of the SASL exchange (KIP-152).

v1 lifetime of the session (KIP-368). v2 flexible.
"""

from moldau.protocol.spec import (
    Request,
    Response,
    bytestring,
    int16,
    int64,
    request,
    response,
    string,
    structure,
)


@request(36, versions="0-2", flexible="2+")
@structure
class SaslAuthenticateRequest(Request):
    auth_bytes: bytes = bytestring()


@response(SaslAuthenticateRequest)
@structure
class SaslAuthenticateResponse(Response):
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable="0+")
    auth_bytes: bytes = bytestring()
    session_lifetime_ms: int = int64(versions="1+", default=0, ignorable=True)
