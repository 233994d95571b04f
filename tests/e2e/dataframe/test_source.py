"""Which records a query reads: by offset, time and pattern, in portions, and what it says about lost ones."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Producer

from e2e.dataframe.frames import (
    WAIT_S,
    admin_of,
    at_ms,
    read,
    run_stream,
    start_stream,
    stream,
    wait_for,
)
from e2e.spark.kit import Sent, committed, create_topics, send
from moldau.pipeline.spark.topic_offsets import topic_facts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def numbered(count: int, partitions: int = 2, start: int = 0) -> list[Sent]:
    """One a second."""
    return [
        Sent(f"k{number}", f"v{number}", number % partitions, at_ms(number))
        for number in range(start, start + count)
    ]


def values(frame: "DataFrame") -> list[int]:
    return sorted(int(bytes(row.value)[1:]) for row in frame.select("value").collect())


def test_a_batch_reads_between_offsets_and_times(spark: "SparkSession", servers: str) -> None:
    create_topics(servers, ranges=2)
    send(servers, "ranges", numbered(40))
    assert values(read(spark, servers, "ranges")) == list(range(40))
    between = read(
        spark,
        servers,
        "ranges",
        startingOffsets=json.dumps({"ranges": {"0": 5, "1": -2}}),
        endingOffsets=json.dumps({"ranges": {"0": -1, "1": 3}}),
        minPartitions="6",
    )
    assert between.rdd.getNumPartitions() >= 6
    assert values(between) == sorted([*range(10, 40, 2), 1, 3, 5])
    timed = read(spark, servers, "ranges", startingTimestamp=str(at_ms(30)), endingTimestamp=str(at_ms(35)))
    assert values(timed) == list(range(30, 35))
    by_partition = json.dumps({"ranges": {"0": at_ms(38), "1": at_ms(37)}})
    assigned = read(
        spark, servers, assign=json.dumps({"ranges": [0, 1]}), startingOffsetsByTimestamp=by_partition
    )
    assert values(assigned) == [37, 38, 39]
    with pytest.raises(Exception, match="has no record from"):
        read(spark, servers, "ranges", startingTimestamp=str(at_ms(100))).count()
    with pytest.raises(Exception, match="topic nowhere does not exist"):
        read(spark, servers, "nowhere").count()


def test_only_committed_records_are_read(spark: "SparkSession", servers: str) -> None:
    """The end of the partition is a marker, which is never delivered."""
    create_topics(servers, transactions=1)
    producer = Producer({"bootstrap.servers": servers, "transactional.id": "test-transactions"})
    producer.init_transactions(WAIT_S)
    for outcome in (producer.abort_transaction, producer.commit_transaction, producer.abort_transaction):
        producer.begin_transaction()
        producer.produce("transactions", outcome.__name__.encode())
        producer.flush(WAIT_S)
        outcome(WAIT_S)
    rows = read(spark, servers, "transactions").collect()
    assert [bytes(row.value) for row in rows] == [b"commit_transaction"]
    rows = read(spark, servers, "transactions", kafka__isolation__level="read_uncommitted").collect()
    assert len(rows) == 3


def test_a_stream_reads_in_portions_and_finds_new_topics(
    spark: "SparkSession", servers: str, tmp_path: Path
) -> None:
    create_topics(servers, pattern_1=2, gathered=1)
    send(servers, "pattern-1", numbered(50))

    def frame() -> "DataFrame":
        options = {"subscribePattern": "pattern-.", "maxOffsetsPerTrigger": "20"}
        return stream(spark, servers, **options).select("value")

    assert run_stream(frame(), servers, tmp_path, "gathered") == [20, 20, 10]
    create_topics(servers, pattern_2=1)
    send(servers, "pattern-2", numbered(10, 1, start=100))
    assert run_stream(frame(), servers, tmp_path, "gathered") == [10]
    expected = [b"v%d" % number for number in [*range(50), *range(100, 110)]]
    assert sorted(one.value or b"" for one in committed(servers, "gathered")) == sorted(expected)


def test_a_stream_starts_at_a_time(spark: "SparkSession", servers: str, tmp_path: Path) -> None:
    create_topics(servers, timed=2, timed_out=1)
    send(servers, "timed", numbered(20))
    frame = stream(spark, servers, "timed", startingTimestamp=str(at_ms(15))).select("value")
    run_stream(frame, servers, tmp_path, "timed-out")
    assert sorted(one.value or b"" for one in committed(servers, "timed-out")) == [
        b"v%d" % n for n in range(15, 20)
    ]


def test_a_topic_that_was_created_again_stops_the_query(
    spark: "SparkSession", servers: str, tmp_path: Path
) -> None:
    create_topics(servers, reborn=1, reborn_out=1)
    send(servers, "reborn", numbered(10, 1))
    run_stream(stream(spark, servers, "reborn").select("value"), servers, tmp_path, "reborn-out")
    admin = admin_of(servers)
    admin.delete_topics(["reborn"])["reborn"].result(WAIT_S)
    wait_for(lambda: not topic_facts(admin, ["reborn"]), lambda: "the topic is gone")
    create_topics(servers, reborn=1)
    # As many as before: the offsets fit, the records are others.
    send(servers, "reborn", numbered(12, 1, start=50))
    query = start_stream(stream(spark, servers, "reborn").select("value"), servers, tmp_path, "reborn-out")
    with pytest.raises(Exception, match="topic reborn was deleted and created again"):
        query.awaitTermination(WAIT_S)
    assert len(committed(servers, "reborn-out")) == 10
    lossy = stream(spark, servers, "reborn", failOnDataLoss="false").select("value")
    run_stream(lossy, servers, tmp_path, "reborn-out")
    expected = [b"v%d" % number for number in [*range(10), *range(50, 62)]]
    assert sorted(one.value or b"" for one in committed(servers, "reborn-out")) == sorted(expected)


def test_records_that_retention_removed_are_missed(spark: "SparkSession", servers: str) -> None:
    from confluent_kafka import TopicPartition

    create_topics(servers, retained=1)
    send(servers, "retained", numbered(20, 1))
    admin = admin_of(servers)
    for future in admin.delete_records([TopicPartition("retained", 0, 8)]).values():
        future.result(WAIT_S)
    start = json.dumps({"retained": {"0": 3}})
    with pytest.raises(Exception, match="no longer has offset 3"):
        read(spark, servers, "retained", startingOffsets=start).count()
    lossy = read(spark, servers, "retained", startingOffsets=start, failOnDataLoss="false")
    assert values(lossy) == list(range(8, 20))
