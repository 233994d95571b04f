"""TxnOffsetCommit: stores the offsets of a group as part of a transaction.

v1 the response is sent before throttling. v2 leader epochs (KIP-320). v3 flexible; the member is checked
(KIP-447). v4 TRANSACTION_ABORTABLE possible (KIP-890). v5 also adds the offsets to the transaction (KIP-890).
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
class TxnOffsetCommitRequestPartition:
    partition_index: int = int32()
    committed_offset: int = int64()
    committed_leader_epoch: int = int32(versions="2+", default=-1, ignorable=True)
    committed_metadata: str | None = string(nullable="0+")


@structure
class TxnOffsetCommitRequestTopic:
    name: str = string()
    partitions: Sequence[TxnOffsetCommitRequestPartition] = array(TxnOffsetCommitRequestPartition)


@request(28, versions="0-5", flexible="3+")
@structure
class TxnOffsetCommitRequest(Request):
    transactional_id: str = string()
    group_id: str = string()
    producer_id: int = int64()
    producer_epoch: int = int16()
    generation_id: int = int32(versions="3+", default=-1)
    member_id: str = string(versions="3+", default="")
    group_instance_id: str | None = string(versions="3+", nullable="3+", default=None)
    topics: Sequence[TxnOffsetCommitRequestTopic] = array(TxnOffsetCommitRequestTopic)


@structure
class TxnOffsetCommitResponsePartition:
    partition_index: int = int32()
    error_code: int = int16(default=0)


@structure
class TxnOffsetCommitResponseTopic:
    name: str = string()
    partitions: Sequence[TxnOffsetCommitResponsePartition] = array(TxnOffsetCommitResponsePartition)


@response(TxnOffsetCommitRequest)
@structure
class TxnOffsetCommitResponse(Response):
    throttle_time_ms: int = int32(default=0)
    topics: Sequence[TxnOffsetCommitResponseTopic] = array(TxnOffsetCommitResponseTopic)
