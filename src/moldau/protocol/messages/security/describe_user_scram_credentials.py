"""DescribeUserScramCredentials: SCRAM mechanisms and iterations by user (KIP-554)."""

from collections.abc import Sequence

from moldau.protocol.spec import (
    Request,
    Response,
    array,
    int8,
    int16,
    int32,
    request,
    response,
    string,
    structure,
)


@structure
class UserName:
    name: str = string()


@request(50, versions="0", flexible="0+")
@structure
class DescribeUserScramCredentialsRequest(Request):
    users: Sequence[UserName] | None = array(UserName, nullable="0+")
    """None or empty asks for all of them."""


@structure
class CredentialInfo:
    mechanism: int = int8()
    iterations: int = int32()


@structure
class DescribeUserScramCredentialsResult:
    user: str = string()
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable="0+")
    credential_infos: Sequence[CredentialInfo] = array(CredentialInfo)


@response(DescribeUserScramCredentialsRequest)
@structure
class DescribeUserScramCredentialsResponse(Response):
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable="0+")
    results: Sequence[DescribeUserScramCredentialsResult] = array(DescribeUserScramCredentialsResult)
