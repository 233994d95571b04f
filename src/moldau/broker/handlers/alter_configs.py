"""AlterConfigs (33), v0-2: replaces all settings of a resource; what is not named goes back to its default.

v2 flexible
"""

from collections import Counter

from moldau.broker.api_table import ApiSpec
from moldau.broker.config_admin import replace
from moldau.broker.session import RequestContext
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.protocol.messages.alter_configs import (
    AlterConfigsRequest,
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)


async def handle(ctx: RequestContext, request: AlterConfigsRequest) -> AlterConfigsResponse:
    times = Counter((each.resource_type, each.resource_name) for each in request.resources)
    responses = []
    for resource in request.resources:
        error: ApiError | None = None
        try:
            if times[resource.resource_type, resource.resource_name] > 1:
                raise ApiError(ErrorCode.INVALID_REQUEST, "Each resource must appear at most once.")
            await _replace(ctx, resource, validate_only=request.validate_only)
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
    return AlterConfigsResponse(responses=responses)


API = ApiSpec.of(AlterConfigsRequest, handle)


async def _replace(ctx: RequestContext, resource: AlterConfigsResource, *, validate_only: bool) -> None:
    await replace(
        ctx.broker.configs,
        resource.resource_type,
        resource.resource_name,
        [(each.name, each.value) for each in resource.configs],
        validate_only=validate_only,
    )
