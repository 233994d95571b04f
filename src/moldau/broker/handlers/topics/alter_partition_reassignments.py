"""AlterPartitionReassignments (45), v0-1 (KIP-455).

v1 can forbid a change of the replication factor (KIP-860)

The answer says whether a reassignment has started. ListPartitionReassignments shows when it is done.
"""

from itertools import groupby
from typing import Final

from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.core.error_codes import ErrorCode
from moldau.core.ids import TopicPartition
from moldau.protocol.messages.topics.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)
from moldau.security.access.model import Operation

FORBIDDEN: Final = "Altering partition reassignments needs ALTER permission for the cluster."


async def handle(
    ctx: RequestContext, request: AlterPartitionReassignmentsRequest
) -> AlterPartitionReassignmentsResponse:
    if not ctx.may_with_cluster(Operation.ALTER):
        return _forbidden(request)
    targets = {
        TopicPartition(topic.name, partition.partition_index): partition.replicas
        for topic in request.topics
        for partition in topic.partitions
    }
    results = await ctx.broker.partition_admin.reassign(
        targets, allows_factor_change=request.allow_replication_factor_change
    )
    return AlterPartitionReassignmentsResponse(
        allow_replication_factor_change=request.allow_replication_factor_change,
        error_message=None,
        responses=[
            ReassignableTopicResponse(
                name=topic,
                partitions=[
                    ReassignablePartitionResponse(
                        partition_index=each.topic_partition.partition,
                        error_code=each.code,
                        error_message=each.message,
                    )
                    for each in group
                ],
            )
            for topic, group in groupby(sorted(results), lambda each: each.topic_partition.topic)
        ],
    )


API = ApiSpec.of(AlterPartitionReassignmentsRequest, handle)


def _forbidden(request: AlterPartitionReassignmentsRequest) -> AlterPartitionReassignmentsResponse:
    code = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    return AlterPartitionReassignmentsResponse(
        allow_replication_factor_change=request.allow_replication_factor_change,
        error_code=code,
        error_message=FORBIDDEN,
        responses=[
            ReassignableTopicResponse(
                name=topic.name,
                partitions=[
                    ReassignablePartitionResponse(
                        partition_index=each.partition_index, error_code=code, error_message=FORBIDDEN
                    )
                    for each in topic.partitions
                ],
            )
            for topic in request.topics
        ],
    )
