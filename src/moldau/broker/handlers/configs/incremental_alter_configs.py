"""IncrementalAlterConfigs (44), v0-1: sets, deletes, appends to and subtracts from single settings (KIP-339).

v1 flexible

The changes of one resource are applied all or none; resources succeed and fail independently.
"""

from moldau.broker.configs.config_admin import alter, change_each
from moldau.broker.configs.config_changes import Change
from moldau.broker.handlers.configs.config_access import check_config_access
from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.protocol.messages.configs.incremental_alter_configs import (
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from moldau.security.access.model import Operation


async def handle(
    ctx: RequestContext, request: IncrementalAlterConfigsRequest
) -> IncrementalAlterConfigsResponse:
    async def change(resource: AlterConfigsResource) -> None:
        check_config_access(ctx, Operation.ALTER_CONFIGS, resource.resource_type, resource.resource_name)
        changes = [Change(each.name, each.config_operation, each.value) for each in resource.configs]
        await alter(
            ctx.broker.configs,
            resource.resource_type,
            resource.resource_name,
            changes,
            validate_only=request.validate_only,
        )

    responses = [
        AlterConfigsResourceResponse(
            error_code=code,
            error_message=message,
            resource_type=resource.resource_type,
            resource_name=resource.resource_name,
        )
        async for resource, code, message in change_each(request.resources, change)
    ]
    return IncrementalAlterConfigsResponse(responses=responses)


API = ApiSpec.of(IncrementalAlterConfigsRequest, handle)
