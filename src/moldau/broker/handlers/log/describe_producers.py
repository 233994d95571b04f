"""DescribeProducers (61), v0: the active producers of a partition, with sequence and open transaction
(KIP-664).
"""

from moldau.broker.hosting.hosted_partitions import missing_partition_error
from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.broker.topics.topic_rules import topic_name_problem
from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.log.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicRequest,
    TopicResponse,
)
from moldau.security.access.model import Operation, ResourceKind


def handle(ctx: RequestContext, request: DescribeProducersRequest) -> DescribeProducersResponse:
    return DescribeProducersResponse(
        throttle_time_ms=0,
        topics=[
            TopicResponse(name=topic.name, partitions=_described(ctx, topic)) for topic in request.topics
        ],
    )


API = ApiSpec.of(DescribeProducersRequest, handle)


def _described(ctx: RequestContext, topic: TopicRequest) -> list[PartitionResponse]:
    if (problem := topic_name_problem(topic.name)) is not None:
        message = f"Topic name is invalid: {problem}"
        code = ErrorCode.INVALID_TOPIC_EXCEPTION
        return [_refused(index, code, message) for index in topic.partition_indexes]
    if not ctx.may(Operation.READ, ResourceKind.TOPIC, topic.name):
        code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        return [_refused(index, code) for index in topic.partition_indexes]
    return [_describe(ctx, topic.name, index) for index in topic.partition_indexes]


def _refused(index: int, code: ErrorCode, message: str | None = None) -> PartitionResponse:
    return PartitionResponse(
        partition_index=index, error_code=code, error_message=message, active_producers=[]
    )


def _describe(ctx: RequestContext, topic: str, index: int) -> PartitionResponse:
    partition = ctx.broker.partitions.find(topic, index)
    code = ErrorCode.NONE
    producers: list[ProducerState] = []
    if partition is None:
        code = missing_partition_error(ctx.broker.catalog, topic, index)
    elif not partition.is_leader:
        code = ErrorCode.NOT_LEADER_OR_FOLLOWER
    elif partition.log is None:
        code = ErrorCode.KAFKA_STORAGE_ERROR
    else:
        producers = [
            ProducerState(
                producer_id=state.producer_id,
                producer_epoch=state.producer_epoch,
                last_sequence=state.last_sequence,
                last_timestamp=state.last_timestamp_ms,
                coordinator_epoch=state.coordinator_epoch,
                current_txn_start_offset=state.txn_first_offset,
            )
            for state in partition.log.producers.views()
        ]
    return PartitionResponse(
        partition_index=index, error_code=code, error_message=None, active_producers=producers
    )
