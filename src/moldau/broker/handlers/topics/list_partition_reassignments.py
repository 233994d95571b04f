"""ListPartitionReassignments (46), v0 (KIP-455)."""

from itertools import groupby
from typing import Final

from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.core.error_codes import ErrorCode
from moldau.core.ids import TopicPartition
from moldau.protocol.messages.topics.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)
from moldau.security.access.model import Operation

FORBIDDEN: Final = "Listing partition reassignments needs DESCRIBE permission for the cluster."


def handle(
    ctx: RequestContext, request: ListPartitionReassignmentsRequest
) -> ListPartitionReassignmentsResponse:
    if not ctx.may_with_cluster(Operation.DESCRIBE):
        return ListPartitionReassignmentsResponse(
            error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED, error_message=FORBIDDEN, topics=[]
        )
    topic_partitions = (
        None
        if request.topics is None
        else [
            TopicPartition(topic.name, index) for topic in request.topics for index in topic.partition_indexes
        ]
    )
    found = sorted(ctx.broker.partition_admin.reassignments(topic_partitions))
    return ListPartitionReassignmentsResponse(
        error_message=None,
        topics=[
            OngoingTopicReassignment(
                name=topic,
                partitions=[
                    OngoingPartitionReassignment(
                        partition_index=each.topic_partition.partition,
                        replicas=each.replicas,
                        adding_replicas=each.adding,
                        removing_replicas=each.removing,
                    )
                    for each in group
                ],
            )
            for topic, group in groupby(found, lambda each: each.topic_partition.topic)
        ],
    )


API = ApiSpec.of(ListPartitionReassignmentsRequest, handle)
