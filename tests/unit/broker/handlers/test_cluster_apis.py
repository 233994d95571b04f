"""DescribeCluster, DescribeTopicPartitions, DescribeLogDirs, AlterReplicaLogDirs, DeleteRecords, telemetry."""

from collections.abc import Callable
from typing import Any

import pytest
from admin_rig import DATA, Rig

from moldau.broker.configs.config_admin import alter
from moldau.broker.configs.config_changes import AlterOp, Change
from moldau.broker.configs.config_store import ResourceType
from moldau.broker.handlers.cluster import describe_cluster, get_telemetry_subscriptions, push_telemetry
from moldau.broker.handlers.log import alter_replica_log_dirs, delete_records, describe_log_dirs
from moldau.broker.handlers.topics import create_topics, describe_topic_partitions
from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.cluster.describe_cluster import DescribeClusterRequest
from moldau.protocol.messages.cluster.get_telemetry_subscriptions import GetTelemetrySubscriptionsRequest
from moldau.protocol.messages.cluster.push_telemetry import PushTelemetryRequest
from moldau.protocol.messages.log.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from moldau.protocol.messages.log.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from moldau.protocol.messages.log.describe_log_dirs import DescribableLogDirTopic, DescribeLogDirsRequest
from moldau.protocol.messages.topics.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from moldau.protocol.messages.topics.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    TopicRequest,
)
from moldau.protocol.records.builder import build_batch
from moldau.protocol.records.record import Record

ALL_TOPIC_OPERATIONS = 3576
ALL_CLUSTER_OPERATIONS = 8096
ZERO = bytes(16)
INSTANCE = bytes(range(16))


def create(rig: Rig, name: str, partitions: int = 1, policy: str = "delete") -> None:
    topic = CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=1,
        assignments=[],
        configs=[CreatableTopicConfig(name="cleanup.policy", value=policy)],
    )
    (result,) = rig.ask(create_topics.API, CreateTopicsRequest(topics=[topic])).topics
    assert result.error_code == 0, result.error_message


def fill(rig: Rig, topic: str, records: int) -> int:
    """Appends one batch to partition 0; returns its size."""
    partition = rig.broker.partitions.find(topic, 0)
    assert partition is not None and partition.log is not None
    batch = build_batch([Record(index, rig.clock.now_ms(), b"k", b"v", ()) for index in range(records)])
    partition.log.append_as_leader(memoryview(batch), leader_epoch=0, now_ms=rig.clock.now_ms())
    partition.log.advance_high_watermark(partition.log.end_offset)
    return len(batch)


def test_the_cluster_is_this_broker_at_the_address_dialled(rig: Rig) -> None:
    request = DescribeClusterRequest(include_cluster_authorized_operations=True)
    answer = rig.ask(describe_cluster.API, request)
    assert (answer.error_code, answer.cluster_id, answer.controller_id) == (0, "cluster", 1)
    assert answer.cluster_authorized_operations == ALL_CLUSTER_OPERATIONS
    assert [(each.broker_id, each.host, each.port, each.rack, each.is_fenced) for each in answer.brokers] == [
        (1, "192.0.2.1", 19092, "r1", False)
    ]


@pytest.mark.parametrize(
    ("endpoint_type", "code"),
    [(2, ErrorCode.MISMATCHED_ENDPOINT_TYPE), (3, ErrorCode.UNSUPPORTED_ENDPOINT_TYPE)],
)
def test_controllers_are_asked_for_elsewhere(rig: Rig, endpoint_type: int, code: ErrorCode) -> None:
    request = DescribeClusterRequest(include_cluster_authorized_operations=False, endpoint_type=endpoint_type)
    answer = rig.ask(describe_cluster.API, request)
    assert ErrorCode(answer.error_code) is code
    assert answer.brokers == []


Page = tuple[list[tuple[str, ErrorCode, list[int]]], tuple[str, int] | None]


def page(rig: Rig, names: list[str], limit: int = 2000, cursor: tuple[str, int] | None = None) -> Page:
    request = DescribeTopicPartitionsRequest(
        topics=[TopicRequest(name=name) for name in names],
        response_partition_limit=limit,
        cursor=Cursor(topic_name=cursor[0], partition_index=cursor[1]) if cursor else None,
    )
    answer = rig.ask(describe_topic_partitions.API, request)
    following = answer.next_cursor
    return (
        [
            (topic.name, ErrorCode(topic.error_code), [each.partition_index for each in topic.partitions])
            for topic in answer.topics
        ],
        (following.topic_name, following.partition_index) if following else None,
    )


NONE = ErrorCode.NONE
UNKNOWN = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize(
    ("names", "limit", "cursor", "topics", "following"),
    [
        (["b", "a"], 2000, None, [("a", NONE, [0, 1, 2]), ("b", NONE, [0, 1])], None),
        ([], 4, None, [("a", NONE, [0, 1, 2]), ("b", NONE, [0])], ("b", 1)),
        ([], 4, ("b", 1), [("b", NONE, [1]), ("c", NONE, [0])], None),
        (["a", "b"], 3, None, [("a", NONE, [0, 1, 2])], ("b", 0)),
        (["a", "zzz"], 3, None, [("a", NONE, [0, 1, 2])], ("zzz", 0)),
        (["a", "b", "c"], 2, ("a", 2), [("a", NONE, [2]), ("b", NONE, [0])], ("b", 1)),
        ([], 10, ("aa", 7), [("b", NONE, [0, 1]), ("c", NONE, [0])], None),
        (["a", "a", "nope"], 2000, None, [("a", NONE, [0, 1, 2]), ("nope", UNKNOWN, [])], None),
        (["a"], 10, ("a", 3), [("a", NONE, [])], None),
        (["a"], 0, None, [("a", NONE, [0])], ("a", 1)),
        (["bad name"], 10, None, [("bad name", ErrorCode.INVALID_TOPIC_EXCEPTION, [])], None),
        (["a"], 10, ("b", 0), [("a", ErrorCode.INVALID_REQUEST, [])], None),
        (["a"], 10, ("a", -1), [("a", ErrorCode.INVALID_REQUEST, [])], None),
    ],
)
def test_topics_come_page_by_page(
    rig: Rig,
    names: list[str],
    limit: int,
    cursor: tuple[str, int] | None,
    topics: list[tuple[str, ErrorCode, list[int]]],
    following: tuple[str, int] | None,
) -> None:
    for name, partitions in (("a", 3), ("b", 2), ("c", 1)):
        create(rig, name, partitions)
    assert page(rig, names, limit, cursor) == (topics, following)


def test_the_broker_bounds_a_page(rig_with: Callable[[str], Rig]) -> None:
    rig = rig_with("max.request.partition.size.limit=2")
    create(rig, "a", 3)
    assert page(rig, [], limit=2000) == ([("a", NONE, [0, 1])], ("a", 2))


def test_a_partition_is_described_whole(rig: Rig) -> None:
    create(rig, "a")
    (topic,) = rig.ask(describe_topic_partitions.API, DescribeTopicPartitionsRequest(topics=[])).topics
    (partition,) = topic.partitions
    assert topic.topic_authorized_operations == ALL_TOPIC_OPERATIONS
    assert (partition.leader_id, partition.leader_epoch) == (1, 0)
    assert (partition.replica_nodes, partition.isr_nodes) == ([1], [1])
    assert (partition.eligible_leader_replicas, partition.last_known_elr, partition.offline_replicas) == (
        [],
        [],
        [],
    )


def test_log_directories_tell_what_lies_in_them(rig: Rig) -> None:
    create(rig, "a", 2)
    create(rig, "b")
    size = fill(rig, "a", 10)
    answer = rig.ask(describe_log_dirs.API, DescribeLogDirsRequest(topics=None))
    healthy, broken = answer.results
    assert (healthy.error_code, healthy.log_dir) == (0, DATA)
    found = {
        (topic.name, each.partition_index): (each.partition_size, each.offset_lag)
        for topic in healthy.topics
        for each in topic.partitions
    }
    assert found == {("a", 0): (size, 0), ("a", 1): (0, 0), ("b", 0): (0, 0)}
    assert (ErrorCode(broken.error_code), broken.log_dir) == (ErrorCode.KAFKA_STORAGE_ERROR, "/broken")

    wanted = [
        DescribableLogDirTopic(topic="a", partitions=[1, 7]),
        DescribableLogDirTopic(topic="no", partitions=[0]),
    ]
    healthy, _ = rig.ask(describe_log_dirs.API, DescribeLogDirsRequest(topics=wanted)).results
    assert [
        (topic.name, [each.partition_index for each in topic.partitions]) for topic in healthy.topics
    ] == [("a", [1])]


@pytest.mark.parametrize(
    ("path", "topic", "index", "code"),
    [
        (DATA, "a", 0, ErrorCode.NONE),
        (DATA, "a", 9, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ("/nope", "a", 0, ErrorCode.LOG_DIR_NOT_FOUND),
        ("/broken", "a", 0, ErrorCode.KAFKA_STORAGE_ERROR),
    ],
)
def test_replicas_stay_in_their_directory(
    rig: Rig, path: str, topic: str, index: int, code: ErrorCode
) -> None:
    create(rig, "a")
    wanted = AlterReplicaLogDir(path=path, topics=[AlterReplicaLogDirTopic(name=topic, partitions=[index])])
    (result,) = rig.ask(alter_replica_log_dirs.API, AlterReplicaLogDirsRequest(dirs=[wanted])).results
    assert [(each.partition_index, ErrorCode(each.error_code)) for each in result.partitions] == [
        (index, code)
    ]


def delete_before(rig: Rig, topic: str, index: int, offset: int) -> tuple[int, ErrorCode]:
    partition = DeleteRecordsPartition(partition_index=index, offset=offset)
    request = DeleteRecordsRequest(
        topics=[DeleteRecordsTopic(name=topic, partitions=[partition])], timeout_ms=1
    )
    (result,) = rig.ask(delete_records.API, request).topics
    (answer,) = result.partitions
    return answer.low_watermark, ErrorCode(answer.error_code)


def test_records_are_deleted_up_to_an_offset(rig: Rig) -> None:
    create(rig, "a")
    fill(rig, "a", 10)
    assert delete_before(rig, "a", 0, 5) == (5, ErrorCode.NONE)
    assert delete_before(rig, "a", 0, 3) == (5, ErrorCode.NONE)
    assert delete_before(rig, "a", 0, 11) == (-1, ErrorCode.OFFSET_OUT_OF_RANGE)
    assert delete_before(rig, "a", 0, -2) == (-1, ErrorCode.OFFSET_OUT_OF_RANGE)
    assert delete_before(rig, "a", 0, -1) == (10, ErrorCode.NONE)


@pytest.mark.parametrize(
    ("topic", "index", "code"),
    [
        ("a", 9, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ("nope", 0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ("compacted", 0, ErrorCode.POLICY_VIOLATION),
        ("both", 0, ErrorCode.NONE),
        ("__consumer_offsets", 0, ErrorCode.INVALID_TOPIC_EXCEPTION),
    ],
)
def test_records_that_must_not_be_deleted_stay(rig: Rig, topic: str, index: int, code: ErrorCode) -> None:
    create(rig, "a")
    create(rig, "compacted", policy="compact")
    create(rig, "both", policy="compact,delete")
    create(rig, "__consumer_offsets")
    assert delete_before(rig, topic, index, 0)[1] is code


async def subscribe(rig: Rig, name: str, **settings: str) -> None:
    changes = [Change(key.replace("_", "."), AlterOp.SET, text) for key, text in settings.items()]
    await alter(rig.broker.configs, ResourceType.CLIENT_METRICS, name, changes, validate_only=False)


def subscription(rig: Rig, instance: bytes = INSTANCE) -> Any:
    return rig.ask(
        get_telemetry_subscriptions.API, GetTelemetrySubscriptionsRequest(client_instance_id=instance)
    )


def test_nothing_is_wanted_until_somebody_asks(rig: Rig) -> None:
    answer = subscription(rig, ZERO)
    assert answer.client_instance_id != ZERO
    assert (answer.requested_metrics, answer.push_interval_ms, answer.telemetry_max_bytes) == (
        [],
        300_000,
        1 << 20,
    )
    assert answer.accepted_compression_types == [4, 3, 1, 2]
    assert subscription(rig).client_instance_id == INSTANCE
    assert subscription(rig).subscription_id == subscription(rig).subscription_id


def test_matching_subscriptions_add_up(rig: Rig) -> None:
    import asyncio

    asyncio.run(subscribe(rig, "one", metrics="org.a,org.b", match="client_id=test.*"))
    asyncio.run(
        subscribe(rig, "two", metrics="org.b,org.c", interval_ms="5000", match="client_source_address=192.*")
    )
    asyncio.run(subscribe(rig, "other", metrics="org.x", interval_ms="100", match="client_id=else"))
    answer = subscription(rig)
    assert (answer.requested_metrics, answer.push_interval_ms) == (["org.a", "org.b", "org.c"], 5000)
    before = answer.subscription_id
    asyncio.run(subscribe(rig, "two", metrics="*"))
    answer = subscription(rig)
    assert answer.requested_metrics == ["*"]
    assert answer.subscription_id != before


@pytest.mark.parametrize(
    ("instance", "id_offset", "codec", "size", "code"),
    [
        (INSTANCE, 0, 0, 10, ErrorCode.NONE),
        (INSTANCE, 0, 4, 10, ErrorCode.NONE),
        (ZERO, 0, 0, 10, ErrorCode.INVALID_REQUEST),
        (INSTANCE, 1, 0, 10, ErrorCode.UNKNOWN_SUBSCRIPTION_ID),
        (INSTANCE, 0, 9, 10, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE),
        (INSTANCE, 0, 0, 2_000_000, ErrorCode.TELEMETRY_TOO_LARGE),
    ],
)
def test_pushes_are_checked(
    rig: Rig, instance: bytes, id_offset: int, codec: int, size: int, code: ErrorCode
) -> None:
    request = PushTelemetryRequest(
        client_instance_id=instance,
        subscription_id=subscription(rig).subscription_id + id_offset,
        terminating=False,
        compression_type=codec,
        metrics=bytes(size),
    )
    assert ErrorCode(rig.ask(push_telemetry.API, request).error_code) is code
