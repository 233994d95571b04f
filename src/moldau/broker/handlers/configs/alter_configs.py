"""AlterConfigs (33), v0-2: replaces all settings of a resource; a key that is not named returns to its
default.

v2 flexible
"""

from moldau.broker.configs.config_admin import change_each, replace
from moldau.broker.configs.config_store import ResourceType
from moldau.broker.handlers.configs.config_access import check_config_access
from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.protocol.messages.configs.alter_configs import (
    AlterConfigsRequest,
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)
from moldau.security.access.model import Operation


async def handle(ctx: RequestContext, request: AlterConfigsRequest) -> AlterConfigsResponse:
    async def change(resource: AlterConfigsResource) -> None:
        if resource.resource_type != ResourceType.BROKER_LOGGER:  # Nobody can replace all levels.
            check_config_access(ctx, Operation.ALTER_CONFIGS, resource.resource_type, resource.resource_name)
        await replace(
            ctx.broker.configs,
            resource.resource_type,
            resource.resource_name,
            [(each.name, each.value) for each in resource.configs],
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
    return AlterConfigsResponse(responses=responses)


API = ApiSpec.of(AlterConfigsRequest, handle)
