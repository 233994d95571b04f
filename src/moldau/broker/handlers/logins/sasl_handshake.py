"""SaslHandshake (17), v0-1: chooses a SASL mechanism.

v1 the exchange that follows is in SaslAuthenticate requests (KIP-152)

`request.connection_login` answers it where a login is due. Here it comes too early, too often, or on a listener
without SASL.
"""

from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.security.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse


def handle(ctx: RequestContext, request: SaslHandshakeRequest) -> SaslHandshakeResponse:
    return SaslHandshakeResponse(error_code=ErrorCode.ILLEGAL_SASL_STATE, mechanisms=())


API = ApiSpec.of(SaslHandshakeRequest, handle)
