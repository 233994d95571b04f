"""WriteTxnMarkers: tells partition leaders to write the markers at the end of a transaction.

v1 flexible. v2 the transaction version (KIP-1228).
"""

from collections.abc import Sequence

from moldau.protocol.spec import (
    Request,
    Response,
    array,
    bool8,
    int8,
    int16,
    int32,
    int64,
    request,
    response,
    string,
    structure,
)


@structure
class WritableTxnMarkerTopic:
    name: str = string()
    partition_indexes: Sequence[int] = array("int32")


@structure
class WritableTxnMarker:
    producer_id: int = int64()
    producer_epoch: int = int16()
    transaction_result: bool = bool8()
    """True commits, False aborts."""
    topics: Sequence[WritableTxnMarkerTopic] = array(WritableTxnMarkerTopic)
    coordinator_epoch: int = int32()
    transaction_version: int = int8(versions="2+", default=0, ignorable=True)


@request(27, versions="1-2", flexible="1+")
@structure
class WriteTxnMarkersRequest(Request):
    markers: Sequence[WritableTxnMarker] = array(WritableTxnMarker)


@structure
class WritableTxnMarkerPartitionResult:
    partition_index: int = int32()
    error_code: int = int16(default=0)


@structure
class WritableTxnMarkerTopicResult:
    name: str = string()
    partitions: Sequence[WritableTxnMarkerPartitionResult] = array(WritableTxnMarkerPartitionResult)


@structure
class WritableTxnMarkerResult:
    producer_id: int = int64()
    topics: Sequence[WritableTxnMarkerTopicResult] = array(WritableTxnMarkerTopicResult)


@response(WriteTxnMarkersRequest)
@structure
class WriteTxnMarkersResponse(Response):
    markers: Sequence[WritableTxnMarkerResult] = array(WritableTxnMarkerResult)
