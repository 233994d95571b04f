"""AlterReplicaLogDirs: moves replicas between directories of a broker (KIP-113).

v1 the response is sent before throttling. v2 flexible.
"""

from collections.abc import Sequence

from moldau.protocol.spec import Request, Response, array, int16, int32, request, response, string, structure


@structure
class AlterReplicaLogDirTopic:
    name: str = string()
    partitions: Sequence[int] = array("int32")


@structure
class AlterReplicaLogDir:
    path: str = string()
    topics: Sequence[AlterReplicaLogDirTopic] = array(AlterReplicaLogDirTopic)


@request(34, versions="1-2", flexible="2+")
@structure
class AlterReplicaLogDirsRequest(Request):
    dirs: Sequence[AlterReplicaLogDir] = array(AlterReplicaLogDir)


@structure
class AlterReplicaLogDirPartitionResult:
    partition_index: int = int32()
    error_code: int = int16(default=0)


@structure
class AlterReplicaLogDirTopicResult:
    topic_name: str = string()
    partitions: Sequence[AlterReplicaLogDirPartitionResult] = array(AlterReplicaLogDirPartitionResult)


@response(AlterReplicaLogDirsRequest)
@structure
class AlterReplicaLogDirsResponse(Response):
    throttle_time_ms: int = int32(default=0)
    results: Sequence[AlterReplicaLogDirTopicResult] = array(AlterReplicaLogDirTopicResult)
