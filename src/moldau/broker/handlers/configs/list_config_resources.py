"""ListConfigResources (74), v0-1.

v0 client metrics subscriptions only (KIP-714)   v1 any type; none named means all (KIP-1142)
"""

from typing import Final

from moldau.broker.configs.config_admin import resource_names
from moldau.broker.configs.config_store import ResourceType
from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.protocol.messages.configs.list_config_resources import (
    ConfigResource,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)
from moldau.security.access.model import Operation

TYPES_SINCE: Final = 1


def handle(ctx: RequestContext, request: ListConfigResourcesRequest) -> ListConfigResourcesResponse:
    if not ctx.may_with_cluster(Operation.DESCRIBE_CONFIGS):
        return ListConfigResourcesResponse(
            error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED, config_resources=[]
        )
    kinds = dict.fromkeys(request.resource_types) or dict.fromkeys(int(kind) for kind in ResourceType)
    if ctx.version < TYPES_SINCE:
        kinds = {int(ResourceType.CLIENT_METRICS): None}
    try:
        resources = [
            ConfigResource(resource_name=name, resource_type=kind)
            for kind in kinds
            for name in resource_names(ctx.broker.configs, kind)
        ]
    except ApiError as error:
        return ListConfigResourcesResponse(error_code=error.code, config_resources=[])
    return ListConfigResourcesResponse(config_resources=resources)


API = ApiSpec.of(ListConfigResourcesRequest, handle)
