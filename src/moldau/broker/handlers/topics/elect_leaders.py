"""ElectLeaders (43), v0-2.

v0 preferred replica only   v1 unclean elections (KIP-460)   v2 flexible
"""

from itertools import groupby
from typing import Final

from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.broker.topics.partition_admin import ElectionType
from moldau.core.error_codes import ErrorCode
from moldau.core.ids import TopicPartition
from moldau.protocol.messages.topics.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)
from moldau.security.access.model import Operation

FORBIDDEN: Final = "Electing leaders needs ALTER permission for the cluster."


async def handle(ctx: RequestContext, request: ElectLeadersRequest) -> ElectLeadersResponse:
    if not ctx.may_with_cluster(Operation.ALTER):
        return _forbidden(request)
    if request.election_type not in tuple(ElectionType):
        return ElectLeadersResponse(error_code=ErrorCode.INVALID_REQUEST, replica_election_results=[])
    topic_partitions = (
        None
        if request.topic_partitions is None
        else [
            TopicPartition(topic.topic, partition)
            for topic in request.topic_partitions
            for partition in topic.partitions
        ]
    )
    results = await ctx.broker.partition_admin.elect(ElectionType(request.election_type), topic_partitions)
    return ElectLeadersResponse(
        replica_election_results=[
            ReplicaElectionResult(
                topic=topic,
                partition_result=[
                    PartitionResult(
                        partition_id=each.topic_partition.partition,
                        error_code=each.code,
                        error_message=each.message,
                    )
                    for each in group
                ],
            )
            for topic, group in groupby(sorted(results), lambda each: each.topic_partition.topic)
        ]
    )


API = ApiSpec.of(ElectLeadersRequest, handle)


def _forbidden(request: ElectLeadersRequest) -> ElectLeadersResponse:
    code = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    return ElectLeadersResponse(
        error_code=code,
        replica_election_results=[
            ReplicaElectionResult(
                topic=topic.topic,
                partition_result=[
                    PartitionResult(partition_id=index, error_code=code, error_message=FORBIDDEN)
                    for index in topic.partitions
                ],
            )
            for topic in request.topic_partitions or ()
        ],
    )
