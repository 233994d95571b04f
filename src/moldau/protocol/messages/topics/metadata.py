"""Metadata: brokers, topics, partitions and their leaders.

v1 racks, controller id, internal topics; null asks for all topics and empty for none (v0: empty means all).
v2 cluster id. v3 throttle time. v4 auto-creation can be disabled. v5 offline replicas. v6 the response is
sent before throttling. v7 leader epochs (KIP-320). v8 authorized operations (KIP-430). v9 flexible. v10 topic
ids in the response (KIP-516). v11 cluster operations moved to DescribeCluster (KIP-700). v12 requests by
topic id. v13 top-level error code (KIP-1102).
"""

from collections.abc import Sequence

from moldau.core.ids import TOPIC_ID_ZERO, TopicId
from moldau.protocol.spec import (
    Request,
    Response,
    array,
    bool8,
    int16,
    int32,
    request,
    response,
    string,
    structure,
    uuid,
)


@structure
class MetadataRequestTopic:
    topic_id: TopicId = uuid(versions="10+", default=TOPIC_ID_ZERO, ignorable=True)
    name: str | None = string(nullable="10+")


@request(3, versions="0-13", flexible="9+")
@structure
class MetadataRequest(Request):
    topics: Sequence[MetadataRequestTopic] | None = array(MetadataRequestTopic, nullable="1+")
    allow_auto_topic_creation: bool = bool8(versions="4+", default=True)
    include_cluster_authorized_operations: bool = bool8(versions="8-10", default=False)
    include_topic_authorized_operations: bool = bool8(versions="8+", default=False)


@structure
class MetadataResponseBroker:
    node_id: int = int32()
    host: str = string()
    port: int = int32()
    rack: str | None = string(versions="1+", nullable="1+", default=None, ignorable=True)


@structure
class MetadataResponsePartition:
    error_code: int = int16(default=0)
    partition_index: int = int32()
    leader_id: int = int32()
    leader_epoch: int = int32(versions="7+", default=-1, ignorable=True)
    replica_nodes: Sequence[int] = array("int32")
    isr_nodes: Sequence[int] = array("int32")
    offline_replicas: Sequence[int] = array("int32", versions="5+", default=(), ignorable=True)


@structure
class MetadataResponseTopic:
    error_code: int = int16(default=0)
    name: str | None = string(nullable="12+")
    topic_id: TopicId = uuid(versions="10+", default=TOPIC_ID_ZERO, ignorable=True)
    is_internal: bool = bool8(versions="1+", default=False, ignorable=True)
    partitions: Sequence[MetadataResponsePartition] = array(MetadataResponsePartition)
    topic_authorized_operations: int = int32(versions="8+", default=-0x8000_0000)


@response(MetadataRequest)
@structure
class MetadataResponse(Response):
    throttle_time_ms: int = int32(versions="3+", default=0, ignorable=True)
    brokers: Sequence[MetadataResponseBroker] = array(MetadataResponseBroker)
    cluster_id: str | None = string(versions="2+", nullable="2+", default=None, ignorable=True)
    controller_id: int = int32(versions="1+", default=-1, ignorable=True)
    topics: Sequence[MetadataResponseTopic] = array(MetadataResponseTopic)
    cluster_authorized_operations: int = int32(versions="8-10", default=-0x8000_0000)
    error_code: int = int16(versions="13+", default=0, ignorable=True)
