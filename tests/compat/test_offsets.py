"""ListOffsets in all its forms, and DeleteRecords, which moves the earliest."""

from collections.abc import Callable

import pytest

from compat.client import HOUR_AGO_MS as START_MS
from compat.client import AdminClient, Client, ClientFailure, Feature, OffsetSpec, Record
from compat.confluent_client import ConfluentClient
from compat.java_client import JavaClient
from compat.server_process import ServerProcess
from compat.stored import segment_files

NewTopic = Callable[..., str]


def at(second: int) -> Record:
    return Record(f"at {second}".encode(), timestamp_ms=START_MS + second * 1000)


def after_the_last(client: Client, end: int) -> int:
    """What a client says when no record is as late as the time asked for."""
    return end if Feature.TIME_AFTER_END in client.lacks else -1


def test_of_an_empty_partition(client: Client, new_topic: NewTopic) -> None:
    topic = new_topic()
    assert client.offset_for(topic, OffsetSpec.EARLIEST) == 0
    assert client.offset_for(topic, OffsetSpec.LATEST) == 0
    assert client.offset_for(topic, START_MS) == after_the_last(client, 0)


def test_by_time(client: Client, confluent: ConfluentClient, new_topic: NewTopic) -> None:
    topic = new_topic(partitions=2)
    confluent.produce(topic, [at(second) for second in range(100)])
    assert client.offset_for(topic, OffsetSpec.EARLIEST) == 0
    assert client.offset_for(topic, OffsetSpec.LATEST) == 100
    assert client.offset_for(topic, 0) == 0
    assert client.offset_for(topic, START_MS + 42_000) == 42
    assert client.offset_for(topic, START_MS + 42_001) == 43
    assert client.offset_for(topic, START_MS + 99_000) == 99
    assert client.offset_for(topic, START_MS + 99_001) == after_the_last(client, 100)
    assert client.offset_for(topic, OffsetSpec.LATEST, partition=1) == 0


@pytest.mark.parametrize("codec", ["none", "gzip"])
def test_by_time_when_times_are_out_of_order(
    admin_client: AdminClient, new_topic: NewTopic, codec: str
) -> None:
    """The first record by offset that is at or after the time, not the nearest in time."""
    topic = new_topic()
    settings = {"compression.type": codec, "linger.ms": "100"}
    admin_client.produce(topic, [at(10), at(50), at(20), at(50), at(30)], settings)
    assert admin_client.offset_for(topic, START_MS + 15_000) == 1
    assert admin_client.offset_for(topic, START_MS + 30_000) == 1
    assert admin_client.offset_for(topic, START_MS + 10_000) == 0
    assert admin_client.offset_for(topic, START_MS + 50_001) == after_the_last(admin_client, 5)


def test_by_time_across_segments(
    broker: ServerProcess, client: Client, confluent: ConfluentClient, new_topic: NewTopic
) -> None:
    topic = new_topic(segment_ms="1000")
    for second in range(0, 100, 10):
        confluent.produce(topic, [at(second), at(second)])
    assert len(segment_files(broker.partition_dir(topic))) == 10
    for second in range(0, 100, 10):
        offset = second // 10 * 2
        assert client.offset_for(topic, START_MS + second * 1000) == offset
        assert client.offset_for(topic, START_MS + second * 1000 - 1) == offset


@pytest.mark.needs(Feature.MAX_TIMESTAMP)
@pytest.mark.parametrize("codec", ["none", "lz4"])
def test_of_the_max_timestamp(admin_client: AdminClient, new_topic: NewTopic, codec: str) -> None:
    topic = new_topic()
    assert admin_client.offset_for(topic, OffsetSpec.MAX_TIMESTAMP) == -1
    settings = {"compression.type": codec, "linger.ms": "100"}
    admin_client.produce(topic, [at(10), at(20)], settings)
    admin_client.produce(topic, [at(30), at(50), at(40)], settings)
    admin_client.produce(topic, [at(15)], settings)
    assert admin_client.offset_for(topic, OffsetSpec.MAX_TIMESTAMP) == 3


def test_the_answer_carries_the_time_and_the_epoch(java: JavaClient, new_topic: NewTopic) -> None:
    topic = new_topic()
    java.produce(topic, [at(10), at(20), at(30)])
    found = java.list_offset(topic, START_MS + 15_000)
    assert found == {"offset": 1, "timestamp_ms": START_MS + 20_000, "leader_epoch": 0}
    assert java.list_offset(topic, OffsetSpec.MAX_TIMESTAMP)["timestamp_ms"] == START_MS + 30_000
    assert java.list_offset(topic, OffsetSpec.LATEST) == {"offset": 3, "timestamp_ms": -1, "leader_epoch": 0}


def test_delete_records_moves_the_start(admin_client: AdminClient, new_topic: NewTopic) -> None:
    topic = new_topic()
    admin_client.produce(topic, [at(second) for second in range(10)])
    assert admin_client.delete_records(topic, before=4) == 4
    assert admin_client.offset_for(topic, OffsetSpec.EARLIEST) == 4
    assert admin_client.offset_for(topic, OffsetSpec.LATEST) == 10
    assert admin_client.offset_for(topic, 0) == 4
    assert [record.offset for record in admin_client.consume(topic, start=4)] == list(range(4, 10))
    # Before the start there is nothing more to delete, which is no failure.
    assert admin_client.delete_records(topic, before=2) == 4
    assert admin_client.delete_records(topic, before=-1) == 10
    assert admin_client.offset_for(topic, OffsetSpec.EARLIEST) == 10
    with pytest.raises(ClientFailure) as failure:
        admin_client.delete_records(topic, before=11)
    assert failure.value.code == "OFFSET_OUT_OF_RANGE"
    admin_client.produce(topic, [at(99)])
    assert [record.offset for record in admin_client.consume(topic, start=10)] == [10]


def test_reading_before_the_start_is_out_of_range(
    java: JavaClient, confluent: ConfluentClient, new_topic: NewTopic
) -> None:
    topic = new_topic()
    java.produce(topic, [at(second) for second in range(10)])
    java.delete_records(topic, before=4)
    with pytest.raises(ClientFailure) as failure:
        java.consume(topic, start=0)
    assert failure.value.code == "OffsetOutOfRangeException"
    with pytest.raises(ClientFailure) as failure:
        confluent.consume(topic, start=0)
    assert failure.value.code == "_AUTO_OFFSET_RESET"
    for reader in (java, confluent):
        back = reader.consume(topic, start=0, settings={"auto.offset.reset": "earliest"})
        assert [record.offset for record in back] == list(range(4, 10))
