"""DescribeDelegationToken: the tokens of some owners (KIP-48).

v1 the response is sent before throttling. v2 flexible. v3 the users who requested them (KIP-373).
"""

from collections.abc import Sequence

from moldau.protocol.spec import (
    Request,
    Response,
    array,
    bytestring,
    int16,
    int32,
    int64,
    request,
    response,
    string,
    structure,
)


@structure
class DescribeDelegationTokenOwner:
    principal_type: str = string()
    principal_name: str = string()


@request(41, versions="1-3", flexible="2+")
@structure
class DescribeDelegationTokenRequest(Request):
    owners: Sequence[DescribeDelegationTokenOwner] | None = array(DescribeDelegationTokenOwner, nullable="0+")
    """None asks for all of them."""


@structure
class DescribedDelegationTokenRenewer:
    principal_type: str = string()
    principal_name: str = string()


@structure
class DescribedDelegationToken:
    principal_type: str = string()
    principal_name: str = string()
    token_requester_principal_type: str = string(versions="3+", default="")
    token_requester_principal_name: str = string(versions="3+", default="")
    issue_timestamp: int = int64()
    expiry_timestamp: int = int64()
    max_timestamp: int = int64()
    token_id: str = string()
    hmac: bytes = bytestring()
    renewers: Sequence[DescribedDelegationTokenRenewer] = array(DescribedDelegationTokenRenewer)


@response(DescribeDelegationTokenRequest)
@structure
class DescribeDelegationTokenResponse(Response):
    error_code: int = int16(default=0)
    tokens: Sequence[DescribedDelegationToken] = array(DescribedDelegationToken)
    throttle_time_ms: int = int32(default=0)
