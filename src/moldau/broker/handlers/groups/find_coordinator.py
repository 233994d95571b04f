"""FindCoordinator (10), v0-6.

v1 key types   v3 flexible   v4 many keys at once (KIP-699)   v5 abortable errors   v6 share groups

The first request creates the internal topic of the coordinator. librdkafka takes the presence of this API as
a sign that lz4 is supported.
"""

from typing import Final

from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.protocol.messages.groups.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from moldau.security.access.model import Operation, ResourceKind

GROUP: Final = 0
TRANSACTION: Final = 1
SHARE: Final = 2
BATCHED_SINCE: Final = 4
SHARE_SINCE: Final = 6
NO_NODE: Final = -1


async def handle(ctx: RequestContext, request: FindCoordinatorRequest) -> FindCoordinatorResponse:
    keys = request.coordinator_keys if ctx.version >= BATCHED_SINCE else [request.key]
    forbidden = {key: code for key in keys if (code := _forbidden(ctx, request.key_type, key)) is not None}
    code, message = ErrorCode.NONE, None
    if not keys or len(forbidden) < len(set(keys)):
        code, message = await _make_ready(ctx, request.key_type)
    found = [
        _refused(key, forbidden.get(key, code), None if key in forbidden else message)
        if key in forbidden or code is not ErrorCode.NONE
        else _coordinator(ctx, request.key_type, key)
        for key in keys
    ]
    first = found[0] if found else _refused("", code, message)
    return FindCoordinatorResponse(
        throttle_time_ms=0,
        error_code=first.error_code,
        error_message=first.error_message,
        node_id=first.node_id,
        host=first.host,
        port=first.port,
        coordinators=found,
    )


API = ApiSpec.of(FindCoordinatorRequest, handle)


def _forbidden(ctx: RequestContext, key_type: int, key: str) -> ErrorCode | None:
    if key_type == GROUP and not ctx.may(Operation.DESCRIBE, ResourceKind.GROUP, key):
        return ErrorCode.GROUP_AUTHORIZATION_FAILED
    if key_type == TRANSACTION and not ctx.may(Operation.DESCRIBE, ResourceKind.TRANSACTIONAL_ID, key):
        return ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    is_share = key_type == SHARE and ctx.version >= SHARE_SINCE
    if is_share and not ctx.may_with_cluster(Operation.CLUSTER_ACTION):
        return ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    return None


async def _make_ready(ctx: RequestContext, key_type: int) -> tuple[ErrorCode, str | None]:
    try:
        if key_type == GROUP:
            await ctx.broker.groups.shards.ensure()
            return ErrorCode.NONE, None
        if key_type == TRANSACTION:
            await ctx.broker.transactions.shards.ensure()
            return ErrorCode.NONE, None
        return ErrorCode.INVALID_REQUEST, f"there is no coordinator for keys of type {key_type}"
    except ApiError as error:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE, error.message


def _coordinator(ctx: RequestContext, key_type: int, key: str) -> Coordinator:
    """The broker that leads the partition with the state of the key."""
    broker = ctx.broker
    shards = broker.groups.shards if key_type == GROUP else broker.transactions.shards
    topic_partition = shards.partition_of(key)
    leader = NO_NODE if topic_partition is None else broker.catalog.leader_of(topic_partition)
    address = broker.members.address_of(leader, ctx.client.connection)
    if address is None:
        return _refused(
            key, ErrorCode.COORDINATOR_NOT_AVAILABLE, f"{topic_partition} has no leader at present"
        )
    return Coordinator(
        key=key,
        node_id=leader,
        host=address.host,
        port=address.port,
        error_code=ErrorCode.NONE,
        error_message=None,
    )


def _refused(key: str, code: ErrorCode, message: str | None) -> Coordinator:
    return Coordinator(
        key=key, node_id=NO_NODE, host="", port=NO_NODE, error_code=code, error_message=message
    )
