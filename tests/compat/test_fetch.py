"""Fetch: limits that give way to progress, waiting for data, sessions."""

import os
import re
from collections.abc import Callable

import pytest

from compat.client import Client, Record
from compat.confluent_client import ConfluentClient
from compat.java_client import JavaClient
from compat.server_process import stopwatch, wait_until
from kafka_jars import kafka_jars

NewTopic = Callable[..., str]
LONG_WAIT_MS = 28_000
"""Less than the thirty seconds after which clients give a request up."""
SOON_MS = 24_000
"""Below the long wait, far above what a busy machine needs."""


def wait_for_fetch(java: JavaClient, partition: str) -> None:
    """Until the consumer has sent a fetch that names the partition, as its log tells."""
    if not any(jar.name.startswith("slf4j-simple") for jar in kafka_jars()):
        pytest.skip("the Java client's log is needed; there is no slf4j-simple among the jars given")
    wait_until(lambda: partition in java.driver.log_text(), f"the consumer has asked for {partition}")


def test_a_record_larger_than_the_fetch_limits_still_arrives(
    client: Client, java: JavaClient, new_topic: NewTopic
) -> None:
    topic = new_topic()
    records = [Record(os.urandom(size).hex().encode()) for size in (10, 200_000, 10, 300_000, 10)]
    java.produce(topic, records, {"batch.size": "0"})
    limits = {"max.partition.fetch.bytes": "1024", "fetch.max.bytes": "1024"}
    if client.name in ("confluent", "kcat"):
        # librdkafka would raise fetch.max.bytes to this.
        limits["max.request.size"] = "1024"
    back = client.consume(topic, settings=limits)
    assert [record.value for record in back] == [record.value for record in records]


def test_fetch_limits_over_several_partitions(java: JavaClient, new_topic: NewTopic) -> None:
    """With room for less than one record an answer, every partition still gets its turn."""
    topic = new_topic(partitions=4)
    for partition in range(4):
        java.produce(topic, [Record(os.urandom(20_000), partition=partition) for _ in range(5)])
    limits = {"max.partition.fetch.bytes": "10000", "fetch.max.bytes": "15000"}
    java.send_consume(topic, dict.fromkeys(range(4), 0), settings=limits)
    places = [(record.partition, record.offset) for record in java.receive_records()]
    assert sorted(places) == [(partition, offset) for partition in range(4) for offset in range(5)]


def test_too_few_bytes_wait_until_the_end(client: Client, new_topic: NewTopic) -> None:
    topic = new_topic()
    client.produce(topic, [Record(b"small")])
    settings = {"fetch.min.bytes": "100000", "fetch.max.wait.ms": "900"}
    with stopwatch() as elapsed_ms:
        back = client.consume(topic, count=1, settings=settings)
        assert elapsed_ms() > 850
    assert [record.value for record in back] == [b"small"]


def test_enough_bytes_do_not_wait(client: Client, new_topic: NewTopic) -> None:
    topic = new_topic()
    client.produce(topic, [Record(b"x" * 2000)])
    settings = {"fetch.min.bytes": "2000", "fetch.max.wait.ms": str(LONG_WAIT_MS)}
    with stopwatch() as elapsed_ms:
        client.consume(topic, count=1, settings=settings)
        assert elapsed_ms() < SOON_MS


def test_a_waiting_fetch_is_woken_by_the_append(
    java: JavaClient, confluent: ConfluentClient, new_topic: NewTopic
) -> None:
    topic = new_topic(partitions=2)
    java.send_consume(topic, {0: 0, 1: 0}, count=1, settings={"fetch.max.wait.ms": str(LONG_WAIT_MS)})
    wait_for_fetch(java, f"{topic}-1")
    with stopwatch() as elapsed_ms:
        confluent.produce(topic, [Record(b"wake up", partition=1)])
        back = java.receive_records()
        assert elapsed_ms() < SOON_MS
    assert [record.value for record in back] == [b"wake up"]


def test_a_waiting_fetch_waits_for_enough_bytes(
    java: JavaClient, confluent: ConfluentClient, new_topic: NewTopic
) -> None:
    topic = new_topic()
    settings = {"fetch.min.bytes": "5000", "fetch.max.wait.ms": str(LONG_WAIT_MS)}
    java.send_consume(topic, {0: 0}, count=1, settings=settings)
    wait_for_fetch(java, f"{topic}-0")
    with stopwatch() as elapsed_ms:
        for _ in range(6):
            confluent.produce(topic, [Record(b"x" * 1000)])
        back = java.receive_records()
        assert elapsed_ms() < SOON_MS
    # One answer brought them together: the first alone had not been enough.
    assert len(back) >= 5


def test_incremental_fetch_sessions(
    java: JavaClient, confluent: ConfluentClient, new_topic: NewTopic
) -> None:
    """KIP-227: after one full fetch a consumer names only the partitions that changed."""
    topic = new_topic(partitions=6)
    java.send_consume(topic, dict.fromkeys(range(6), 0), count=60)
    wait_for_fetch(java, f"{topic}-5")
    for round_number in range(10):
        for partition in range(6):
            confluent.produce(topic, [Record(str(round_number).encode(), partition=partition)])
    back = java.receive_records()
    for partition in range(6):
        values = [record.value for record in back if record.partition == partition]
        assert values == [str(round_number).encode() for round_number in range(10)]

    built = [line for line in java.driver.log_text().splitlines() if "Built " in line and f"{topic}-" in line]
    incremental = [line for line in built if "Built incremental fetch" in line]
    assert len([line for line in built if "Built full fetch" in line]) == 1
    sessions = {match[1] for line in incremental if (match := re.search(r"sessionId=(\d+)", line))}
    epochs = [int(match[1]) for line in incremental if (match := re.search(r"epoch=(\d+)", line))]
    assert len(sessions) == 1 and "0" not in sessions
    assert epochs == sorted(epochs) and len(set(epochs)) == len(epochs) > 5
