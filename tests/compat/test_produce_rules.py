"""What a broker does to batches on the way in: limits, times, keys, codecs."""

import os
import re
import time
from collections.abc import Callable

import pytest

from compat.client import (
    CODECS,
    HOUR_AGO_MS,
    AdminClient,
    Client,
    ClientFailure,
    Feature,
    OffsetSpec,
    Record,
)
from compat.java_client import JavaClient
from compat.kcat_client import KcatClient
from compat.server_process import ServerProcess
from compat.stored import stored_batches
from compat.test_configs import wait_for_value
from compat.test_topics import code_of
from moldau.protocol.records.batch import Compression

NewTopic = Callable[..., str]
ONE_BATCH = {"linger.ms": "200"}
HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS


def now_ms() -> int:
    return int(time.time() * 1000)


def test_record_too_large(admin_client: AdminClient, new_topic: NewTopic) -> None:
    topic = new_topic(max_message_bytes="1000")
    assert code_of(lambda: admin_client.produce(topic, [Record(os.urandom(1500))])) == "MESSAGE_TOO_LARGE"
    # The limit is on the batch as it is sent: what compresses well fits.
    admin_client.produce(topic, [Record(bytes(50_000))], {"compression.type": "gzip"})
    admin_client.produce(topic, [Record(b"small")])
    assert [record.offset for record in admin_client.consume(topic)] == [0, 1]


def test_record_too_large_for_the_broker(admin_client: AdminClient, new_topic: NewTopic) -> None:
    topic = new_topic()
    large = [Record(os.urandom(2_000_000))]
    settings = {"max.request.size": "5000000"}
    assert code_of(lambda: admin_client.produce(topic, large, settings)) == "MESSAGE_TOO_LARGE"
    admin_client.alter_topic_config(topic, put={"max.message.bytes": "3000000"})
    wait_for_value(admin_client, topic, "max.message.bytes", "3000000")
    admin_client.produce(topic, large, settings)
    assert admin_client.consume(topic)[0].value == large[0].value


def test_record_too_large_from_kcat(kcat: KcatClient, new_topic: NewTopic) -> None:
    topic = new_topic(max_message_bytes="1000")
    with pytest.raises(ClientFailure, match="Message size too large"):
        kcat.produce(topic, [Record(b"x" * 1500)])


def test_a_batch_too_large_is_split_by_the_client(java: JavaClient, new_topic: NewTopic) -> None:
    """The Java producer cuts a refused batch of several records in two and sends again."""
    topic = new_topic(max_message_bytes="2000")
    records = [Record(os.urandom(500)) for _ in range(20)]
    java.produce(topic, records, {**ONE_BATCH, "batch.size": "100000"})
    assert [record.value for record in java.consume(topic)] == [record.value for record in records]


def test_compacted_topic_refuses_keyless_records(client: Client, new_topic: NewTopic) -> None:
    topic = new_topic(cleanup_policy="compact")
    client.produce(topic, [Record(b"1", key=b"a"), Record(b"2", key=b"b")])
    with pytest.raises(ClientFailure) as failure:
        client.produce(topic, [Record(b"no key")])
    if Feature.INVALID_RECORD not in client.lacks:
        assert re.search("INVALID_RECORD|Broker failed to validate record", str(failure.value))
    assert [record.value for record in client.consume(topic)] == [b"1", b"2"]


def test_only_the_keyless_records_of_a_batch_are_to_blame(java: JavaClient, new_topic: NewTopic) -> None:
    topic = new_topic(cleanup_policy="compact")
    records = [Record(b"1", key=b"a"), Record(b"2"), Record(b"3", key=b"b")]
    with pytest.raises(ClientFailure):
        java.produce(topic, records, ONE_BATCH)
    assert java.offset_for(topic, OffsetSpec.LATEST) == 0


@pytest.mark.needs(Feature.LOG_APPEND_TIME)
def test_log_append_time(broker: ServerProcess, client: Client, new_topic: NewTopic) -> None:
    topic = new_topic(message_timestamp_type="LogAppendTime")
    before_ms = now_ms()
    old = None if Feature.RECORD_TIMES in client.lacks else 1_000_000_000_000
    for codec in ("none", "zstd"):
        records = [Record(b"a", timestamp_ms=old), Record(b"b", timestamp_ms=old)]
        client.produce(topic, records, {**ONE_BATCH, "compression.type": codec})
    back = client.consume(topic)
    assert [record.value for record in back] == [b"a", b"b"] * 2
    assert all(before_ms <= (record.timestamp_ms or 0) <= now_ms() for record in back)
    assert all(batch.is_log_append_time for batch in stored_batches(broker.partition_dir(topic)))
    assert client.offset_for(topic, before_ms) == 0


@pytest.mark.parametrize(
    ("configs", "age_ms", "accepted"),
    [
        ({}, 10 * 365 * DAY_MS, True),
        ({}, -2 * HOUR_MS, False),
        ({"message_timestamp_after_max_ms": str(DAY_MS)}, -2 * HOUR_MS, True),
        ({"message_timestamp_before_max_ms": str(HOUR_MS)}, 2 * HOUR_MS, False),
        ({"message_timestamp_before_max_ms": str(HOUR_MS)}, HOUR_MS // 2, True),
    ],
)
def test_times_too_far_from_now(
    admin_client: AdminClient, new_topic: NewTopic, configs: dict[str, str], age_ms: int, accepted: bool
) -> None:
    topic = new_topic(retention_ms="-1", **configs)
    records = [Record(b"x", timestamp_ms=now_ms() - age_ms)]
    if accepted:
        admin_client.produce(topic, records)
        assert [record.timestamp_ms for record in admin_client.consume(topic)] == [records[0].timestamp_ms]
    else:
        assert code_of(lambda: admin_client.produce(topic, records)) == "INVALID_TIMESTAMP"


@pytest.mark.needs(Feature.ZSTD)
@pytest.mark.parametrize("topic_codec", ["zstd", "gzip", "lz4", "snappy", "uncompressed"])
def test_the_topic_decides_the_codec(
    broker: ServerProcess, admin_client: AdminClient, new_topic: NewTopic, topic_codec: str
) -> None:
    topic = new_topic(compression_type=topic_codec)
    written: list[Record] = []
    for codec in CODECS:
        records = [
            Record(
                key=f"{codec}-{number}".encode(),
                value=b"value " * 50,
                headers=(("codec", codec.encode()),),
                timestamp_ms=HOUR_AGO_MS + number,
            )
            for number in range(20)
        ]
        admin_client.produce(topic, records, {**ONE_BATCH, "compression.type": codec})
        written += records
    back = admin_client.consume(topic)
    assert [record.content for record in back] == [record.content for record in written]
    assert [record.offset for record in back] == list(range(len(written)))
    batches = stored_batches(broker.partition_dir(topic))
    expected = Compression.NONE if topic_codec == "uncompressed" else Compression[topic_codec.upper()]
    assert {batch.compression for batch in batches} == {expected}
    assert {batch.producer_epoch for batch in batches if batch.producer_id >= 0} <= {0}


def test_recompression_keeps_the_producers_numbers(
    broker: ServerProcess, java: JavaClient, new_topic: NewTopic
) -> None:
    topic = new_topic(compression_type="zstd", message_timestamp_type="LogAppendTime")
    java.produce(topic, [Record(b"x" * 100)] * 30, {"compression.type": "gzip"})
    (producer,) = java.call("describe_producers", topic=topic, partition=0)
    batches = stored_batches(broker.partition_dir(topic))
    assert {batch.producer_id for batch in batches} == {producer["producer_id"]}
    assert producer["last_sequence"] == 29
    assert all(batch.is_log_append_time and batch.compression is Compression.ZSTD for batch in batches)


def test_more_insync_replicas_asked_than_there_are_replicas(
    admin_client: AdminClient, new_topic: NewTopic
) -> None:
    """Kafka counts at most the partition's replicas, so a topic of one replica stays writable."""
    topic = new_topic(min_insync_replicas="2")
    admin_client.produce(topic, [Record(b"x")], {"acks": "all"})
    assert [record.value for record in admin_client.consume(topic)] == [b"x"]
