"""SaslAuthenticate (36), v0-2: one message of a SASL exchange (KIP-152).

v1 how long the login lasts (KIP-368)   v2 flexible

`request.connection_login` answers it in a login. Here there is none.
"""

from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.security.sasl_authenticate import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
)


def handle(ctx: RequestContext, request: SaslAuthenticateRequest) -> SaslAuthenticateResponse:
    return SaslAuthenticateResponse(
        error_code=ErrorCode.ILLEGAL_SASL_STATE,
        error_message="SaslAuthenticate request received after successful authentication",
        auth_bytes=b"",
    )


API = ApiSpec.of(SaslAuthenticateRequest, handle)
