"""DeleteAcls (31), v1-3: removes the rules of access that match filters, and says which they were.

v1 pattern types (KIP-290)   v2 flexible   v3 users as resources (KIP-373)
"""

from collections.abc import Sequence

from moldau.broker.handlers.acls.wire_rules import filter_problem, read_filter, security_disabled
from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.protocol.messages.security.delete_acls import (
    DeleteAclsFilterResult,
    DeleteAclsMatchingAcl,
    DeleteAclsRequest,
    DeleteAclsResponse,
)
from moldau.security.access.model import Operation, Rule


async def handle(ctx: RequestContext, request: DeleteAclsRequest) -> DeleteAclsResponse:
    filters = [
        read_filter(
            each.resource_type_filter,
            each.resource_name_filter,
            each.pattern_type_filter,
            each.principal_filter,
            each.host_filter,
            each.operation,
            each.permission_type,
        )
        for each in request.filters
    ]
    problems = [filter_problem(each) for each in filters]
    if not ctx.may_with_cluster(Operation.ALTER):
        problems = [ApiError(ErrorCode.CLUSTER_AUTHORIZATION_FAILED, "Cluster authorization failed.")] * len(
            filters
        )
    elif (disabled := security_disabled(ctx.broker.authorizer)) is not None:
        problems = [disabled] * len(filters)
    valid = [each for each, problem in zip(filters, problems, strict=True) if problem is None]
    try:
        matched = iter(await ctx.broker.security.remove_rules(valid) if valid else [])
    except ApiError as error:
        problems = [problem or error for problem in problems]
        matched = iter(())
    return DeleteAclsResponse(
        filter_results=[
            _result(next(matched)) if problem is None else _refused(problem) for problem in problems
        ]
    )


API = ApiSpec.of(DeleteAclsRequest, handle)


def _refused(problem: ApiError) -> DeleteAclsFilterResult:
    return DeleteAclsFilterResult(error_code=problem.code, error_message=problem.message, matching_acls=[])


def _result(removed: Sequence[Rule]) -> DeleteAclsFilterResult:
    return DeleteAclsFilterResult(
        error_message="",
        matching_acls=[
            DeleteAclsMatchingAcl(
                error_message="",
                resource_type=rule.kind,
                resource_name=rule.name,
                pattern_type=rule.pattern,
                principal=rule.principal,
                host=rule.host,
                operation=rule.operation,
                permission_type=rule.permission,
            )
            for rule in removed
        ],
    )
