"""Which access the configuration of a resource needs: to the topic, to the group, or else to the cluster."""

from typing import Final

from moldau.broker.configs.config_store import ResourceType
from moldau.broker.request.client_session import RequestContext
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.security.access.model import CLUSTER_NAME, Operation, ResourceKind

_CLUSTER: Final = (
    ResourceKind.CLUSTER,
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
    "Cluster authorization failed.",
)
_NEEDED: Final = {
    ResourceType.TOPIC: (
        ResourceKind.TOPIC,
        ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        "Topic authorization failed.",
    ),
    ResourceType.GROUP: (
        ResourceKind.GROUP,
        ErrorCode.GROUP_AUTHORIZATION_FAILED,
        "Group authorization failed.",
    ),
    ResourceType.BROKER: _CLUSTER,
    ResourceType.BROKER_LOGGER: _CLUSTER,
    ResourceType.CLIENT_METRICS: _CLUSTER,
}


def check_config_access(ctx: RequestContext, operation: Operation, kind: int, name: str) -> None:
    """ApiError if the client may not do it. What a kind that does not exist becomes is for others to say."""
    if kind not in tuple(ResourceType):
        return
    resource_kind, code, message = _NEEDED[ResourceType(kind)]
    if not ctx.may(operation, resource_kind, CLUSTER_NAME if resource_kind is ResourceKind.CLUSTER else name):
        raise ApiError(code, message)
