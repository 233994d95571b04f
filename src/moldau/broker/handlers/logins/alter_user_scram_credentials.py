"""AlterUserScramCredentials (51), v0: sets and removes SCRAM credentials of users (KIP-554).

A client sends the salted password; what is stored are the keys that follow from it.
"""

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.coordination.security.entity_nodes import user_entity
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.protocol.messages.security.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from moldau.security.access.model import Operation
from moldau.security.credentials.scram_credential import (
    ITERATIONS_MAX,
    ITERATIONS_MIN,
    MECHANISM_OF_CODE,
    ScramMechanism,
    credential_of_salted,
    credential_text,
)

Asked = ScramCredentialDeletion | ScramCredentialUpsertion


class Change(NamedTuple):
    """The value of a user's setting; None removes it."""

    mechanism: str
    text: str | None


async def handle(
    ctx: RequestContext, request: AlterUserScramCredentialsRequest
) -> AlterUserScramCredentialsResponse:
    if not ctx.may_with_cluster(Operation.ALTER):
        users = {each.name for each in _asked(request)}
        code = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
        return AlterUserScramCredentialsResponse(
            results=[_result(user, code, "Cluster authorization failed.") for user in sorted(users)]
        )
    changes, refused = _planned(ctx, request)
    results = []
    for user, change in changes.items():
        try:
            await ctx.broker.security.write_entity(user_entity(user), partial(_changed, change))
            results.append(_result(user))
        except ApiError as refusal:
            results.append(_result(user, refusal.code, refusal.message))
    results += [_result(user, refusal.code, refusal.message) for user, refusal in refused.items()]
    return AlterUserScramCredentialsResponse(results=results)


API = ApiSpec.of(AlterUserScramCredentialsRequest, handle)


def _asked(request: AlterUserScramCredentialsRequest) -> list[Asked]:
    return [*request.deletions, *request.upsertions]


def _planned(
    ctx: RequestContext, request: AlterUserScramCredentialsRequest
) -> tuple[dict[str, Change], dict[str, ApiError]]:
    """The changes by user, and the errors of the users who are not changed."""
    changes: dict[str, Change] = {}
    refused: dict[str, ApiError] = {}
    for each in _asked(request):
        if each.name in refused:
            continue
        try:
            if changes.pop(each.name, None) is not None:
                raise ApiError(
                    ErrorCode.DUPLICATE_RESOURCE,
                    "A user credential cannot be altered twice in the same request",
                )
            if isinstance(each, ScramCredentialDeletion):
                changes[each.name] = _deletion(ctx, each)
            else:
                changes[each.name] = _upsertion(each)
        except ApiError as refusal:
            refused[each.name] = refusal
    return changes, refused


def _deletion(ctx: RequestContext, deletion: ScramCredentialDeletion) -> Change:
    mechanism = _mechanism(deletion.name, deletion.mechanism)
    if mechanism.name not in ctx.broker.security.user_configs(deletion.name):
        raise ApiError(
            ErrorCode.RESOURCE_NOT_FOUND, "Attempt to delete a user credential that does not exist"
        )
    return Change(mechanism.name, None)


def _upsertion(upsertion: ScramCredentialUpsertion) -> Change:
    mechanism = _mechanism(upsertion.name, upsertion.mechanism)
    iterations = upsertion.iterations
    if not ITERATIONS_MIN <= iterations <= ITERATIONS_MAX:
        few = iterations < ITERATIONS_MIN
        raise ApiError(
            ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too few iterations" if few else "Too many iterations"
        )
    credential = credential_of_salted(
        mechanism, bytes(upsertion.salted_password), bytes(upsertion.salt), iterations
    )
    return Change(mechanism.name, credential_text(credential))


def _mechanism(user: str, code: int) -> ScramMechanism:
    if not user:
        raise ApiError(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Username must not be empty")
    mechanism = MECHANISM_OF_CODE.get(code)
    if mechanism is None:
        raise ApiError(ErrorCode.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism")
    return mechanism


def _changed(change: Change, present: Mapping[str, str]) -> dict[str, str]:
    texts = {name: text for name, text in present.items() if name != change.mechanism}
    if change.text is not None:
        texts[change.mechanism] = change.text
    return texts


def _result(
    user: str, code: ErrorCode = ErrorCode.NONE, message: str | None = None
) -> AlterUserScramCredentialsResult:
    return AlterUserScramCredentialsResult(user=user, error_code=code, error_message=message)
