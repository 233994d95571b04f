"""DescribeUserScramCredentials (50), v0: the SCRAM mechanisms and iterations of users (KIP-554)."""

from collections import Counter

from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.coordination.security.entity_nodes import USER, Entity
from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.security.describe_user_scram_credentials import (
    CredentialInfo,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)
from moldau.security.access.model import Operation
from moldau.security.credentials.scram_credential import MECHANISMS, parse_credential


def handle(
    ctx: RequestContext, request: DescribeUserScramCredentialsRequest
) -> DescribeUserScramCredentialsResponse:
    if not ctx.may_with_cluster(Operation.DESCRIBE):
        code, text = ErrorCode.CLUSTER_AUTHORIZATION_FAILED, "Cluster authorization failed."
        return DescribeUserScramCredentialsResponse(
            error_code=code,
            error_message=text,
            results=[
                DescribeUserScramCredentialsResult(
                    user="", error_code=code, error_message=text, credential_infos=()
                )
                for _ in request.users or ()
            ],
        )
    asked = Counter(user.name for user in request.users or ())
    if not asked:
        names = [user for user in map(_name_of_user, ctx.broker.security.entities) if user is not None]
        found = (_described(ctx, user) for user in sorted(names))
        results = [each for each in found if not each.error_code]
    else:
        results = [
            _described(ctx, user) if times == 1 else _named_twice(user) for user, times in asked.items()
        ]
    return DescribeUserScramCredentialsResponse(error_message="", results=results)


API = ApiSpec.of(DescribeUserScramCredentialsRequest, handle)


def _described(ctx: RequestContext, user: str) -> DescribeUserScramCredentialsResult:
    settings = ctx.broker.security.user_configs(user)
    infos = [
        CredentialInfo(mechanism=mechanism.code, iterations=credential.iterations)
        for mechanism in MECHANISMS.values()
        if (credential := parse_credential(settings.get(mechanism.name, ""))) is not None
    ]
    if not infos:
        return DescribeUserScramCredentialsResult(
            user=user,
            error_code=ErrorCode.RESOURCE_NOT_FOUND,
            error_message=f"Attempt to describe a user credential that does not exist: {user}",
            credential_infos=(),
        )
    return DescribeUserScramCredentialsResult(user=user, error_message="", credential_infos=infos)


def _named_twice(user: str) -> DescribeUserScramCredentialsResult:
    return DescribeUserScramCredentialsResult(
        user=user,
        error_code=ErrorCode.DUPLICATE_RESOURCE,
        error_message=f"Cannot describe SCRAM credentials for the same user twice in a single request: {user}",
        credential_infos=(),
    )


def _name_of_user(entity: Entity) -> str | None:
    """None for a client, an address, a user's client, and for the default of all users."""
    return entity[0].name if len(entity) == 1 and entity[0].kind == USER else None
