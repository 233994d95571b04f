"""AlterUserScramCredentials: sets and removes SCRAM credentials (KIP-554)."""

from collections.abc import Sequence

from moldau.protocol.spec import (
    Request,
    Response,
    array,
    bytestring,
    int8,
    int16,
    int32,
    request,
    response,
    string,
    structure,
)


@structure
class ScramCredentialDeletion:
    name: str = string()
    mechanism: int = int8()


@structure
class ScramCredentialUpsertion:
    name: str = string()
    mechanism: int = int8()
    """1 SHA-256, 2 SHA-512."""
    iterations: int = int32()
    salt: bytes = bytestring()
    salted_password: bytes = bytestring()


@request(51, versions="0", flexible="0+")
@structure
class AlterUserScramCredentialsRequest(Request):
    deletions: Sequence[ScramCredentialDeletion] = array(ScramCredentialDeletion)
    upsertions: Sequence[ScramCredentialUpsertion] = array(ScramCredentialUpsertion)


@structure
class AlterUserScramCredentialsResult:
    user: str = string()
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable="0+")


@response(AlterUserScramCredentialsRequest)
@structure
class AlterUserScramCredentialsResponse(Response):
    throttle_time_ms: int = int32(default=0)
    results: Sequence[AlterUserScramCredentialsResult] = array(AlterUserScramCredentialsResult)
