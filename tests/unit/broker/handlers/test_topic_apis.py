"""CreateTopics, DeleteTopics and CreatePartitions: Kafka's codes and texts, item by item.

The expectations were taken from the answers of Apache Kafka 4.2.
"""

import errno
from collections.abc import Callable, Sequence

import pytest
from admin_rig import Rig

from moldau.broker.handlers.topics import create_partitions, create_topics, delete_topics
from moldau.broker.topics.topic_records import load_catalog
from moldau.core.error_codes import ErrorCode
from moldau.core.ids import TOPIC_ID_ZERO, TopicId, TopicPartition
from moldau.protocol.messages.topics.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)
from moldau.protocol.messages.topics.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreatableTopicResult,
    CreateTopicsRequest,
)
from moldau.protocol.messages.topics.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicState,
)

OTHER_ID = TopicId(bytes([7]) * 16)


def topic(
    name: str,
    partitions: int = 1,
    replicas: int = 1,
    assignments: Sequence[tuple[int, Sequence[int]]] = (),
    **configs: str | None,
) -> CreatableTopic:
    return CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=replicas,
        assignments=[
            CreatableReplicaAssignment(partition_index=index, broker_ids=brokers)
            for index, brokers in assignments
        ],
        configs=[
            CreatableTopicConfig(name=key.replace("_", "."), value=value) for key, value in configs.items()
        ],
    )


def create(rig: Rig, *topics: CreatableTopic, validate_only: bool = False) -> list[CreatableTopicResult]:
    request = CreateTopicsRequest(topics=topics, timeout_ms=1000, validate_only=validate_only)
    return list(rig.ask(create_topics.API, request).topics)


def delete(
    rig: Rig, *topics: tuple[str | None, TopicId], version: int | None = None
) -> list[DeletableTopicResult]:
    if version is not None and version < 6:
        names = [name or "" for name, _ in topics]
        request = DeleteTopicsRequest(topic_names=names, timeout_ms=1000)
    else:
        states = [DeleteTopicState(name=name, topic_id=topic_id) for name, topic_id in topics]
        request = DeleteTopicsRequest(topics=states, timeout_ms=1000)
    return list(rig.ask(delete_topics.API, request, version).responses)


def grow(
    rig: Rig, *topics: tuple[str, int, Sequence[Sequence[int]] | None], validate_only: bool = False
) -> list[CreatePartitionsTopicResult]:
    request = CreatePartitionsRequest(
        topics=[
            CreatePartitionsTopic(
                name=name,
                count=count,
                assignments=None
                if brokers is None
                else [CreatePartitionsAssignment(broker_ids=each) for each in brokers],
            )
            for name, count, brokers in topics
        ],
        timeout_ms=1000,
        validate_only=validate_only,
    )
    return list(rig.ask(create_partitions.API, request).results)


def test_a_topic_is_created_served_and_kept(rig: Rig) -> None:
    (result,) = create(rig, topic("orders", 3, retention_ms="77"))
    assert result.error_code == ErrorCode.NONE
    assert (result.num_partitions, result.replication_factor) == (3, 1)
    assert result.configs is not None
    configs = {config.name: (config.value, config.config_source) for config in result.configs}
    assert configs["retention.ms"] == ("77", 1)
    assert configs["segment.ms"] == ("604800000", 5)
    assert len(configs) == 33

    entry = rig.broker.catalog.find("orders")
    assert entry is not None
    assert entry.topic_id == result.topic_id
    assert rig.broker.catalog.find_by_id(TopicId(result.topic_id)) is entry
    for index in range(3):
        partition = rig.broker.partitions.find("orders", index)
        assert partition is not None and partition.log is not None
        assert partition.log.config.retention_ms == 77
        assert partition.log.topic_id == entry.topic_id
    assert load_catalog(rig.store).topics() == [entry]


def test_counts_left_open_take_the_defaults(rig_with: Callable[[str], Rig]) -> None:
    rig = rig_with("num.partitions=4")
    (result,) = create(rig, topic("t", -1, -1))
    assert (result.num_partitions, result.replication_factor) == (4, 1)


@pytest.mark.parametrize(
    ("wanted", "code", "text"),
    [
        (topic(""), ErrorCode.INVALID_TOPIC_EXCEPTION, "the empty string is not allowed"),
        (topic("."), ErrorCode.INVALID_TOPIC_EXCEPTION, "'.' is not allowed"),
        (topic(".."), ErrorCode.INVALID_TOPIC_EXCEPTION, "'..' is not allowed"),
        (topic("z" * 250), ErrorCode.INVALID_TOPIC_EXCEPTION, "longer than the max allowed length 249"),
        (topic("sp ace"), ErrorCode.INVALID_TOPIC_EXCEPTION, "other than ASCII alphanumerics"),
        (topic("né"), ErrorCode.INVALID_TOPIC_EXCEPTION, "other than ASCII alphanumerics"),
        (topic("a\n"), ErrorCode.INVALID_TOPIC_EXCEPTION, "other than ASCII alphanumerics"),
        (topic("here"), ErrorCode.TOPIC_ALREADY_EXISTS, "Topic 'here' already exists."),
        (topic("a_b"), ErrorCode.INVALID_TOPIC_EXCEPTION, "Topic 'a_b' collides with existing topic: a.b"),
        (topic("__cluster_metadata"), ErrorCode.INVALID_REQUEST, "__cluster_metadata is prohibited"),
        (topic("t", 0), ErrorCode.INVALID_PARTITIONS, "non-positive value"),
        (topic("t", -2), ErrorCode.INVALID_PARTITIONS, "non-positive value"),
        (topic("t", 10_001), ErrorCode.POLICY_VIOLATION, "Excessively large"),
        (topic("t", 1, 0), ErrorCode.INVALID_REPLICATION_FACTOR, "must be larger than 0, or -1"),
        (topic("t", 0, 0), ErrorCode.INVALID_REPLICATION_FACTOR, "must be larger than 0, or -1"),
        (topic("t", 1, 3), ErrorCode.INVALID_REPLICATION_FACTOR, "only 1 broker(s) are registered"),
        (topic("t", 1, -1, [(0, [1])]), ErrorCode.INVALID_REQUEST, "numPartitions was not set to -1"),
        (topic("t", -1, 1, [(0, [1])]), ErrorCode.INVALID_REQUEST, "replication factor was not set to -1"),
        (topic("t", -1, -1, [(0, [5])]), ErrorCode.INVALID_REPLICA_ASSIGNMENT, "broker 5, but no such"),
        (topic("t", -1, -1, [(1, [1])]), ErrorCode.INVALID_REPLICA_ASSIGNMENT, "consecutive 0-based"),
        (topic("t", -1, -1, [(0, [])]), ErrorCode.INVALID_REPLICA_ASSIGNMENT, "empty replica list"),
        (topic("t", -1, -1, [(0, [1, 1])]), ErrorCode.INVALID_REPLICA_ASSIGNMENT, "more than once"),
        (topic("t", -1, -1, [(0, [1]), (0, [1])]), ErrorCode.INVALID_REPLICA_ASSIGNMENT, "Found multiple"),
        (
            topic("t", retention_ms="abc"),
            ErrorCode.INVALID_CONFIG,
            "Invalid value abc for configuration retention.ms",
        ),
        (topic("t", nonsense="1"), ErrorCode.INVALID_CONFIG, "Unknown topic config name: nonsense"),
        (
            topic("t", retention_ms=None),
            ErrorCode.INVALID_CONFIG,
            "Null value not supported for topic configs",
        ),
        (topic("t", remote_storage_enable="true"), ErrorCode.INVALID_CONFIG, "Tiered Storage"),
    ],
)
def test_what_cannot_be_is_refused(rig: Rig, wanted: CreatableTopic, code: ErrorCode, text: str) -> None:
    create(rig, topic("here"), topic("a.b"))
    before = rig.broker.catalog.epoch
    (result,) = create(rig, wanted)
    assert (ErrorCode(result.error_code), result.topic_id) == (code, TOPIC_ID_ZERO)
    assert text in (result.error_message or "")
    assert rig.broker.catalog.epoch == before


def test_assignments_are_taken(rig: Rig) -> None:
    (result,) = create(rig, topic("t", -1, -1, [(1, [1]), (0, [1])]))
    assert (result.error_code, result.num_partitions) == (ErrorCode.NONE, 2)


def test_one_refused_topic_does_not_stop_the_others_and_twins_are_refused(rig: Rig) -> None:
    results = create(rig, topic("twin"), topic("bad name"), topic("good"), topic("twin"))
    assert {each.name: ErrorCode(each.error_code) for each in results} == {
        "twin": ErrorCode.INVALID_REQUEST,
        "bad name": ErrorCode.INVALID_TOPIC_EXCEPTION,
        "good": ErrorCode.NONE,
    }
    assert [entry.name for entry in rig.broker.catalog.topics()] == ["good"]


def test_validate_only_answers_and_makes_nothing(rig: Rig) -> None:
    (result,) = create(rig, topic("t", 2), validate_only=True)
    assert (result.error_code, result.num_partitions) == (ErrorCode.NONE, 2)
    assert len(rig.broker.catalog) == 0
    assert rig.broker.disks.find(TopicPartition("t", 0)) is None
    assert (
        create(rig, topic("bad name"), validate_only=True)[0].error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
    )


def test_ten_thousand_partitions_are_one_write(rig: Rig) -> None:
    """The store alone: their directories are the storage's to make quick."""
    from moldau.broker.topics.catalog import TopicEntry, initial_entry
    from moldau.broker.topics.topic_records import write_new

    entry = TopicEntry("wide", OTHER_ID, (initial_entry((1,)),) * 10_000, {})
    write_new(rig.store, entry)
    assert rig.store.children("/brokers/topics/wide") == []
    assert load_catalog(rig.store).find("wide") == entry


def test_a_disk_that_refuses_leaves_no_topic_behind(rig: Rig) -> None:
    rig.disk.fail_writes(errno.ENOSPC)
    (result,) = create(rig, topic("t", 3))
    assert result.error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert result.error_message
    assert len(rig.broker.catalog) == 0
    assert load_catalog(rig.store).topics() == []


def test_topics_are_deleted_by_name_and_by_id(rig: Rig) -> None:
    by_name, by_id = create(rig, topic("a", 2), topic("b"))
    results = delete(rig, ("a", TOPIC_ID_ZERO), (None, TopicId(by_id.topic_id)))
    assert [(each.name, each.topic_id, each.error_code) for each in results] == [
        ("a", by_name.topic_id, ErrorCode.NONE),
        ("b", by_id.topic_id, ErrorCode.NONE),
    ]
    assert len(rig.broker.catalog) == 0
    assert rig.broker.partitions.find("a", 0) is None
    assert rig.broker.disks.find(TopicPartition("a", 1)) is None
    assert load_catalog(rig.store).topics() == []
    assert rig.store.children("/admin/delete_topics") == []


def test_a_name_can_be_taken_again_by_another_topic(rig: Rig) -> None:
    (first,) = create(rig, topic("t", 2, retention_ms="5"))
    delete(rig, ("t", TOPIC_ID_ZERO))
    (second,) = create(rig, topic("t"))
    assert first.topic_id != second.topic_id
    entry = rig.broker.catalog.find("t")
    assert entry is not None
    assert entry.configs == {}
    assert rig.broker.partitions.find("t", 1) is None


@pytest.mark.parametrize(
    ("wanted", "code", "text"),
    [
        (
            [("nope", TOPIC_ID_ZERO)],
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            "does not host this topic-partition",
        ),
        ([(None, OTHER_ID)], ErrorCode.UNKNOWN_TOPIC_ID, "does not host this topic ID"),
        ([(None, TOPIC_ID_ZERO)], ErrorCode.INVALID_REQUEST, "Neither topic name nor id"),
        ([("t", OTHER_ID)], ErrorCode.INVALID_REQUEST, "both topic name and topic id"),
        ([("t", TOPIC_ID_ZERO)] * 2, ErrorCode.INVALID_REQUEST, "Duplicate topic name."),
    ],
)
def test_deletions_that_make_no_sense_are_refused(
    rig: Rig, wanted: list[tuple[str | None, TopicId]], code: ErrorCode, text: str
) -> None:
    create(rig, topic("t"))
    (result,) = delete(rig, *wanted)
    assert ErrorCode(result.error_code) is code
    assert text in (result.error_message or "")
    assert rig.broker.catalog.find("t") is not None


def test_a_topic_named_twice_in_two_ways_stays(rig: Rig) -> None:
    (made,) = create(rig, topic("t"))
    results = delete(rig, ("t", TOPIC_ID_ZERO), (None, TopicId(made.topic_id)))
    assert [(each.name, each.topic_id, each.error_code) for each in results] == [
        ("t", made.topic_id, ErrorCode.INVALID_REQUEST)
    ]
    assert rig.broker.catalog.find("t") is not None


def test_old_versions_name_topics_only(rig: Rig) -> None:
    create(rig, topic("t"))
    results = delete(rig, ("t", TOPIC_ID_ZERO), ("nope", TOPIC_ID_ZERO), version=1)
    assert [(each.name, each.error_code) for each in results] == [
        ("t", ErrorCode.NONE),
        ("nope", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ]


def test_deletion_can_be_disabled(rig_with: Callable[[str], Rig]) -> None:
    rig = rig_with("delete.topic.enable=false")
    create(rig, topic("t"))
    assert delete(rig, ("t", TOPIC_ID_ZERO))[0].error_code == ErrorCode.TOPIC_DELETION_DISABLED
    assert delete(rig, ("t", TOPIC_ID_ZERO), version=2)[0].error_code == ErrorCode.INVALID_REQUEST
    assert rig.broker.catalog.find("t") is not None


def test_a_topic_grows_and_keeps_what_it_had(rig: Rig) -> None:
    create(rig, topic("t", 2, retention_ms="5"))
    old = rig.broker.partitions.find("t", 0)
    (result,) = grow(rig, ("t", 4, None))
    assert result == CreatePartitionsTopicResult(name="t", error_code=0, error_message=None)
    assert rig.broker.partitions.find("t", 0) is old
    added = rig.broker.partitions.find("t", 3)
    assert added is not None and added.log is not None
    assert added.log.config.retention_ms == 5
    assert load_catalog(rig.store).topics() == rig.broker.catalog.topics()


@pytest.mark.parametrize(
    ("wanted", "code", "text"),
    [
        (("t", 3, None), ErrorCode.INVALID_PARTITIONS, "Topic already has 3 partition(s)."),
        (("t", 2, None), ErrorCode.INVALID_PARTITIONS, "3 partition(s); 2 would not be an increase"),
        (("t", -1, None), ErrorCode.INVALID_PARTITIONS, "-1 would not be an increase"),
        (("nope", 3, None), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ""),
        (("t", 5, [[1]]), ErrorCode.INVALID_REPLICA_ASSIGNMENT, "add 2 additional partition(s), but only 1"),
        (("t", 5, [[1], [5]]), ErrorCode.INVALID_REPLICA_ASSIGNMENT, "broker 5, but no such"),
        (("t", 5, [[1], []]), ErrorCode.INVALID_REPLICA_ASSIGNMENT, "empty replica list"),
        (("t", 4, [[1, 1]]), ErrorCode.INVALID_REPLICA_ASSIGNMENT, "more than once"),
        (("t", 20_000, None), ErrorCode.POLICY_VIOLATION, "Excessively large"),
    ],
)
def test_growth_that_cannot_be_is_refused(
    rig: Rig, wanted: tuple[str, int, list[list[int]] | None], code: ErrorCode, text: str
) -> None:
    create(rig, topic("t", 3))
    (result,) = grow(rig, wanted)
    assert ErrorCode(result.error_code) is code
    assert text in (result.error_message or "")
    entry = rig.broker.catalog.find("t")
    assert entry is not None and len(entry.partitions) == 3


def test_growth_with_assignments_validate_only_and_twins(rig: Rig) -> None:
    create(rig, topic("t"))
    assert grow(rig, ("t", 3, [[1], [1]]), validate_only=True)[0].error_code == ErrorCode.NONE
    entry = rig.broker.catalog.find("t")
    assert entry is not None and len(entry.partitions) == 1
    results = grow(rig, ("t", 3, None), ("t", 4, None), ("nope", 1, None))
    assert [(each.name, ErrorCode(each.error_code)) for each in results] == [
        ("t", ErrorCode.INVALID_REQUEST),
        ("nope", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ]
    assert grow(rig, ("t", 3, [[1], [1]]))[0].error_code == ErrorCode.NONE


def test_growth_that_the_disk_refuses_is_taken_back(rig: Rig) -> None:
    create(rig, topic("t"))
    rig.disk.fail_writes(errno.ENOSPC)
    assert grow(rig, ("t", 3, None))[0].error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert load_catalog(rig.store).topics() == rig.broker.catalog.topics()
    entry = rig.broker.catalog.find("t")
    assert entry is not None and len(entry.partitions) == 1
