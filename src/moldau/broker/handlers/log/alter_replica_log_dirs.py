"""AlterReplicaLogDirs (34), v1-2: assigns replicas to log directories (KIP-113).

v2 flexible

A replica that is already in the directory succeeds. Moving one is not supported yet and answered with
UNSUPPORTED_VERSION.
"""

from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.core.error_codes import ErrorCode
from moldau.core.ids import TopicPartition
from moldau.protocol.messages.log.alter_replica_log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)
from moldau.security.access.model import Operation


def handle(ctx: RequestContext, request: AlterReplicaLogDirsRequest) -> AlterReplicaLogDirsResponse:
    is_allowed = ctx.may_with_cluster(Operation.ALTER)
    results: dict[str, list[AlterReplicaLogDirPartitionResult]] = {}
    for directory in request.dirs:
        for topic in directory.topics:
            results.setdefault(topic.name, []).extend(
                AlterReplicaLogDirPartitionResult(
                    partition_index=index,
                    error_code=(
                        _check(ctx, directory.path, TopicPartition(topic.name, index))
                        if is_allowed
                        else ErrorCode.CLUSTER_AUTHORIZATION_FAILED
                    ),
                )
                for index in topic.partitions
            )
    return AlterReplicaLogDirsResponse(
        results=[
            AlterReplicaLogDirTopicResult(topic_name=name, partitions=partitions)
            for name, partitions in results.items()
        ]
    )


API = ApiSpec.of(AlterReplicaLogDirsRequest, handle)


def _check(ctx: RequestContext, path: str, topic_partition: TopicPartition) -> ErrorCode:
    directory = next((each for each in ctx.broker.disks.directories if each.path == path), None)
    if path in ctx.broker.disks.unopened:
        return ErrorCode.KAFKA_STORAGE_ERROR
    if directory is None:
        return ErrorCode.LOG_DIR_NOT_FOUND
    if directory.offline_reason is not None:
        return ErrorCode.KAFKA_STORAGE_ERROR
    if ctx.broker.partitions.find(topic_partition.topic, topic_partition.partition) is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return ErrorCode.NONE if topic_partition in directory.logs else ErrorCode.UNSUPPORTED_VERSION
