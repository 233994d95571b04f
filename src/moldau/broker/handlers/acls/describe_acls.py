"""DescribeAcls (29), v1-3: the rules of access that match a filter.

v1 pattern types (KIP-290)   v2 flexible   v3 users as resources (KIP-373)
"""

from collections.abc import Sequence

from moldau.broker.handlers.acls.wire_rules import read_filter, security_disabled
from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.security.describe_acls import (
    AclDescription,
    DescribeAclsRequest,
    DescribeAclsResource,
    DescribeAclsResponse,
)
from moldau.security.access.model import Operation, Rule
from moldau.security.access.rules import entries_by_resource, find_rules


async def handle(ctx: RequestContext, request: DescribeAclsRequest) -> DescribeAclsResponse:
    if not ctx.may_with_cluster(Operation.DESCRIBE):
        return _refused(ErrorCode.CLUSTER_AUTHORIZATION_FAILED, "Cluster authorization failed.")
    disabled = security_disabled(ctx.broker.authorizer)
    if disabled is not None:
        return _refused(disabled.code, disabled.message)
    wanted = read_filter(
        request.resource_type_filter,
        request.resource_name_filter,
        request.pattern_type_filter,
        request.principal_filter,
        request.host_filter,
        request.operation,
        request.permission_type,
    )
    entries = ctx.broker.security.rules.entries()
    # There may be a hundred thousand: other clients are served meanwhile.
    return await ctx.broker.scheduler.run_in_worker(lambda: _answer(find_rules(entries, wanted)))


API = ApiSpec.of(DescribeAclsRequest, handle)


def _answer(rules: Sequence[Rule]) -> DescribeAclsResponse:
    return DescribeAclsResponse(
        error_message="",
        resources=[
            DescribeAclsResource(
                resource_type=resource.kind,
                resource_name=resource.name,
                pattern_type=resource.pattern,
                acls=[
                    AclDescription(
                        principal=each.principal,
                        host=each.host,
                        operation=each.operation,
                        permission_type=each.permission,
                    )
                    for each in sorted(entries)
                ],
            )
            for resource, entries in entries_by_resource(rules).items()
        ],
    )


def _refused(code: ErrorCode, message: str | None) -> DescribeAclsResponse:
    return DescribeAclsResponse(error_code=code, error_message=message, resources=[])
