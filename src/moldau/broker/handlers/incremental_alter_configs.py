"""IncrementalAlterConfigs (44), v0-1: sets, deletes, appends to and subtracts from single settings (KIP-339).

v1 flexible

All changes of a resource are made or none; resources succeed and fail apart.
"""

from collections import Counter

from moldau.broker.api_table import ApiSpec
from moldau.broker.config_admin import alter
from moldau.broker.config_changes import Change
from moldau.broker.session import RequestContext
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.protocol.messages.incremental_alter_configs import (
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)


async def handle(
    ctx: RequestContext, request: IncrementalAlterConfigsRequest
) -> IncrementalAlterConfigsResponse:
    times = Counter((each.resource_type, each.resource_name) for each in request.resources)
    responses = []
    for resource in request.resources:
        error: ApiError | None = None
        try:
            if times[resource.resource_type, resource.resource_name] > 1:
                raise ApiError(ErrorCode.INVALID_REQUEST, "Each resource must appear at most once.")
            await _alter(ctx, resource, validate_only=request.validate_only)
        except ApiError as refusal:
            error = refusal
        responses.append(
            AlterConfigsResourceResponse(
                error_code=error.code if error else ErrorCode.NONE,
                error_message=error.message if error else None,
                resource_type=resource.resource_type,
                resource_name=resource.resource_name,
            )
        )
    return IncrementalAlterConfigsResponse(responses=responses)


API = ApiSpec.of(IncrementalAlterConfigsRequest, handle)


async def _alter(ctx: RequestContext, resource: AlterConfigsResource, *, validate_only: bool) -> None:
    changes = [Change(each.name, each.config_operation, each.value) for each in resource.configs]
    await alter(
        ctx.broker.configs,
        resource.resource_type,
        resource.resource_name,
        changes,
        validate_only=validate_only,
    )
