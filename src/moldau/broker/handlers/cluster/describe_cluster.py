"""DescribeCluster (60), v0-2.

v1 brokers or controllers (KIP-919)   v2 fenced brokers too (KIP-1073): a broker that answers is not fenced
"""

from typing import Final

from moldau.broker.handlers.topics.metadata import OPERATIONS_NOT_ASKED, cluster_operations
from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.cluster.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)

BROKERS: Final = 1
CONTROLLERS: Final = 2


def handle(ctx: RequestContext, request: DescribeClusterRequest) -> DescribeClusterResponse:
    if request.endpoint_type == CONTROLLERS:
        return _refused(
            ErrorCode.MISMATCHED_ENDPOINT_TYPE,
            "The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type CONTROLLER",
        )
    if request.endpoint_type != BROKERS:
        return _refused(
            ErrorCode.UNSUPPORTED_ENDPOINT_TYPE, f"Unsupported endpoint type {request.endpoint_type}"
        )
    broker = ctx.broker
    return DescribeClusterResponse(
        endpoint_type=BROKERS,
        cluster_id=broker.cluster_id,
        controller_id=broker.members.admin_broker_id,
        brokers=[
            DescribeClusterBroker(broker_id=broker_id, host=host, port=port, rack=rack)
            for broker_id, (host, port), rack in broker.members.seen_by(ctx.client.connection)
        ],
        cluster_authorized_operations=(
            cluster_operations(ctx) if request.include_cluster_authorized_operations else OPERATIONS_NOT_ASKED
        ),
    )


API = ApiSpec.of(DescribeClusterRequest, handle)


def _refused(code: ErrorCode, message: str) -> DescribeClusterResponse:
    return DescribeClusterResponse(error_code=code, error_message=message, cluster_id="", brokers=[])
