"""CreateAcls (30), v1-3: adds rules of access.

v1 pattern types (KIP-290)   v2 flexible   v3 users as resources (KIP-373)

A rule that exists is not an error. Each rule is accepted or refused for itself.
"""

from collections.abc import Sequence
from typing import Final

from moldau.broker.handlers.acls.wire_rules import read_rules, security_disabled
from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.protocol.messages.security.create_acls import (
    AclCreationResult,
    CreateAclsRequest,
    CreateAclsResponse,
)
from moldau.security.access.model import Operation, Rule
from moldau.security.access.rules import Rules

NEW_RULES_MAX: Final = 10_000
"""As in Kafka."""


async def handle(ctx: RequestContext, request: CreateAclsRequest) -> CreateAclsResponse:
    read = read_rules(request.creations)
    refusal = None
    if not ctx.may_with_cluster(Operation.ALTER):
        refusal = ApiError(ErrorCode.CLUSTER_AUTHORIZATION_FAILED, "Cluster authorization failed.")
    refusal = refusal or security_disabled(ctx.broker.authorizer)
    rules = [each for each in read if isinstance(each, Rule)]
    if refusal is None and rules:
        try:
            _check_count(ctx.broker.security.rules, rules)
            await ctx.broker.security.add_rules(rules)
        except ApiError as error:
            refusal = error
    return CreateAclsResponse(results=[_result(refusal or each) for each in read])


API = ApiSpec.of(CreateAclsRequest, handle)


def _check_count(known: Rules, rules: Sequence[Rule]) -> None:
    if len(rules) <= NEW_RULES_MAX:
        return
    new = {rule for rule in rules if rule.entry not in known.of_resource(rule.resource)}
    if len(new) > NEW_RULES_MAX:
        raise ApiError(ErrorCode.POLICY_VIOLATION, "Unable to perform excessively large batch operation.")


def _result(outcome: Rule | ApiError) -> AclCreationResult:
    if isinstance(outcome, Rule):
        return AclCreationResult(error_message="")
    return AclCreationResult(error_code=outcome.code, error_message=outcome.message)
