"""SaslHandshake: chooses a SASL mechanism.

v1 the following exchange is wrapped in SaslAuthenticate (KIP-152).
"""

from collections.abc import Sequence

from moldau.protocol.spec import Request, Response, array, int16, request, response, string, structure


@request(17, versions="0-1", flexible="none")
@structure
class SaslHandshakeRequest(Request):
    mechanism: str = string()


@response(SaslHandshakeRequest)
@structure
class SaslHandshakeResponse(Response):
    error_code: int = int16(default=0)
    mechanisms: Sequence[str] = array("string")
