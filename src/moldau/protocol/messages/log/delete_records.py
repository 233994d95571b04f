"""DeleteRecords: moves the log start offset forward (KIP-107).

v1 the response is sent before throttling. v2 flexible.
"""

from collections.abc import Sequence

from moldau.protocol.spec import (
    Request,
    Response,
    array,
    int16,
    int32,
    int64,
    request,
    response,
    string,
    structure,
)


@structure
class DeleteRecordsPartition:
    partition_index: int = int32()
    offset: int = int64()
    """-1 is the high watermark."""


@structure
class DeleteRecordsTopic:
    name: str = string()
    partitions: Sequence[DeleteRecordsPartition] = array(DeleteRecordsPartition)


@request(21, versions="0-2", flexible="2+")
@structure
class DeleteRecordsRequest(Request):
    topics: Sequence[DeleteRecordsTopic] = array(DeleteRecordsTopic)
    timeout_ms: int = int32()


@structure
class DeleteRecordsPartitionResult:
    partition_index: int = int32()
    low_watermark: int = int64()
    error_code: int = int16(default=0)


@structure
class DeleteRecordsTopicResult:
    name: str = string()
    partitions: Sequence[DeleteRecordsPartitionResult] = array(DeleteRecordsPartitionResult)


@response(DeleteRecordsRequest)
@structure
class DeleteRecordsResponse(Response):
    throttle_time_ms: int = int32(default=0)
    topics: Sequence[DeleteRecordsTopicResult] = array(DeleteRecordsTopicResult)
