"""CreateDelegationToken: a token that authenticates as its owner (KIP-48).

v1 the response is sent before throttling. v2 flexible. v3 on behalf of another user (KIP-373).
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
class CreatableRenewers:
    principal_type: str = string()
    principal_name: str = string()


@request(38, versions="1-3", flexible="2+")
@structure
class CreateDelegationTokenRequest(Request):
    owner_principal_type: str | None = string(versions="3+", nullable="3+", default="")
    owner_principal_name: str | None = string(versions="3+", nullable="3+", default="")
    renewers: Sequence[CreatableRenewers] = array(CreatableRenewers)
    max_lifetime_ms: int = int64()


@response(CreateDelegationTokenRequest)
@structure
class CreateDelegationTokenResponse(Response):
    error_code: int = int16(default=0)
    principal_type: str = string()
    principal_name: str = string()
    token_requester_principal_type: str = string(versions="3+", default="")
    token_requester_principal_name: str = string(versions="3+", default="")
    issue_timestamp_ms: int = int64()
    expiry_timestamp_ms: int = int64()
    max_timestamp_ms: int = int64()
    token_id: str = string()
    hmac: bytes = bytestring()
    throttle_time_ms: int = int32(default=0)
