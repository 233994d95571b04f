"""DescribeLogDirs (35), v1-4: the logs in each directory and their sizes (KIP-113).

v2 flexible   v3 top-level error   v4 total and free bytes of the volume (KIP-827)
"""

import os
from collections.abc import Sequence

from moldau.broker.request.api_table import ApiSpec
from moldau.broker.request.client_session import RequestContext
from moldau.core.error_codes import ErrorCode
from moldau.core.ids import TopicPartition
from moldau.protocol.messages.log.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from moldau.security.access.model import Operation
from moldau.storage.directory.log_dir import LogDirectory

SIZE_UNKNOWN = -1


async def handle(ctx: RequestContext, request: DescribeLogDirsRequest) -> DescribeLogDirsResponse:
    if not ctx.may_with_cluster(Operation.DESCRIBE):
        return DescribeLogDirsResponse(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED, results=[])
    wanted = None if request.topics is None else _places(request.topics)
    directories = ctx.broker.disks.directories
    # On a worker thread: a volume that hangs must not block the event loop.
    volumes = await ctx.broker.scheduler.run_in_worker(
        lambda: [_volume_bytes(directory.path) for directory in directories]
    )
    return DescribeLogDirsResponse(
        results=[
            *(_describe(each, wanted, volume) for each, volume in zip(directories, volumes, strict=True)),
            *(_offline(path) for path in ctx.broker.disks.unopened),
        ]
    )


API = ApiSpec.of(DescribeLogDirsRequest, handle)


def _places(topics: Sequence[DescribableLogDirTopic]) -> set[TopicPartition]:
    return {TopicPartition(topic.topic, index) for topic in topics for index in topic.partitions}


def _volume_bytes(path: str) -> tuple[int, int]:
    try:
        volume = os.statvfs(path)
    except OSError:
        return SIZE_UNKNOWN, SIZE_UNKNOWN
    return volume.f_blocks * volume.f_frsize, volume.f_bavail * volume.f_frsize


def _describe(
    directory: LogDirectory, wanted: set[TopicPartition] | None, volume: tuple[int, int]
) -> DescribeLogDirsResult:
    if directory.offline_reason is not None:
        return _offline(directory.path)
    topics: dict[str, list[DescribeLogDirsPartition]] = {}
    for topic_partition, log in directory.logs.items():
        if wanted is None or topic_partition in wanted:
            topics.setdefault(topic_partition.topic, []).append(
                DescribeLogDirsPartition(
                    partition_index=topic_partition.partition,
                    partition_size=log.size_bytes,
                    offset_lag=max(log.end_offset - log.high_watermark, 0),
                    is_future_key=False,
                )
            )
    total_bytes, usable_bytes = volume
    return DescribeLogDirsResult(
        log_dir=directory.path,
        topics=[DescribeLogDirsTopic(name=name, partitions=found) for name, found in topics.items()],
        total_bytes=total_bytes,
        usable_bytes=usable_bytes,
    )


def _offline(path: str) -> DescribeLogDirsResult:
    return DescribeLogDirsResult(error_code=ErrorCode.KAFKA_STORAGE_ERROR, log_dir=path, topics=[])
