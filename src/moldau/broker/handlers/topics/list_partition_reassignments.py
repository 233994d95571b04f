"""ListPartitionReassignments (46), v0 (KIP-455)."""

from itertools import groupby

from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.core.ids import TopicPartition
from moldau.protocol.messages.topics.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)


def handle(
    ctx: RequestContext, request: ListPartitionReassignmentsRequest
) -> ListPartitionReassignmentsResponse:
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
