"""Kafka's own `kafka-transactions`."""

from collections.abc import Callable, Iterator

import pytest

from compat.client import wait_for_topic
from compat.confluent_client import ConfluentClient
from compat.groups.conftest import OpenTransactional
from compat.groups.java_admin import TRANSACTIONS, JavaAdmin
from compat.groups.java_pipe import JavaPipe
from compat.groups.raw_transactional import RawTransactional
from compat.groups.transactional import FENCED, Transactional, refusal_of
from compat.groups.waiting import wait_until
from compat.server_process import ServerProcess
from e2e.wire import WireClient

pytestmark = pytest.mark.java


def rows(printed: str) -> list[dict[str, str]]:
    """A table with tabs between its columns, by the names in its first line."""
    header, *lines = [
        [cell.strip() for cell in line.split("\t")] for line in printed.splitlines() if line.strip()
    ]
    return [dict(zip(header, line, strict=True)) for line in lines]


@pytest.fixture
def opened(new_topic: Callable[..., str], open_transactional: OpenTransactional, topic: str) -> Transactional:
    """A producer with an open transaction on the test's topic, whose name its id is."""
    new_topic()
    producer = open_transactional(topic)
    producer.begin()
    producer.send(topic, [b"x"])
    return producer


def test_list_and_describe(opened: Transactional, topic: str, java_admin: JavaAdmin) -> None:
    listed = {row["TransactionalId"]: row for row in rows(java_admin.tool(TRANSACTIONS, "list"))}
    assert listed[topic]["TransactionState"] == "Ongoing"
    described = describe(java_admin, topic)
    assert described["ProducerId"] == listed[topic]["ProducerId"]
    assert described["TransactionState"] == "Ongoing"
    assert described["TransactionTimeoutMs"] == "60000"
    assert int(described["TransactionDurationMs"]) >= 0
    assert described["TopicPartitions"] == f"{topic}-0"
    opened.commit()
    wait_until(lambda: describe(java_admin, topic)["TransactionState"] == "CompleteCommit", "it is complete")
    assert describe(java_admin, topic)["TopicPartitions"] == ""


def describe(java_admin: JavaAdmin, transactional_id: str) -> dict[str, str]:
    (row,) = rows(java_admin.tool(TRANSACTIONS, "describe", "--transactional-id", transactional_id))
    return row


def producers(java_admin: JavaAdmin, topic: str) -> list[dict[str, str]]:
    place = ("--topic", topic, "--partition", "0")
    return rows(java_admin.tool(TRANSACTIONS, "describe-producers", *place))


def test_describe_producers(opened: Transactional, topic: str, java_admin: JavaAdmin) -> None:
    (row,) = producers(java_admin, topic)
    assert row["ProducerId"] == describe(java_admin, topic)["ProducerId"]
    assert (row["LastSequence"], row["CurrentTransactionStartOffset"]) == ("0", "0")
    opened.commit()
    wait_until(
        lambda: producers(java_admin, topic)[0]["CurrentTransactionStartOffset"] == "None", "it has ended"
    )


def test_abort_an_open_one(opened: Transactional, topic: str, java_admin: JavaAdmin) -> None:
    place = ("--topic", topic, "--partition", "0")
    java_admin.tool(TRANSACTIONS, "abort", *place, "--start-offset", "0")
    assert java_admin.end_offset(topic, committed=True) == 2
    assert producers(java_admin, topic)[0]["CurrentTransactionStartOffset"] == "None"


def test_terminate_one(opened: Transactional, topic: str, java_admin: JavaAdmin) -> None:
    java_admin.tool(TRANSACTIONS, "forceTerminateTransaction", "--transactionalId", topic)
    wait_until(lambda: java_admin.end_offset(topic, committed=True) == 2, "it has ended")
    assert refusal_of(opened.commit) in FENCED


@pytest.fixture
def hanging(lone_broker: ServerProcess, topic: str) -> Iterator[RawTransactional]:
    """A transaction that is open in its partition's log, while the coordinator has lost its memory."""
    client = ConfluentClient(lone_broker.bootstrap)
    client.create_topic(topic)
    wait_for_topic(client, topic)
    with WireClient(lone_broker.port) as wire:
        producer = RawTransactional(wire, lone_broker.bootstrap, topic)
        producer.init()
        producer.produce([b"x"])
    lone_broker.stop()
    for state in lone_broker.log_dir.glob("__transaction_state-*/*.log"):
        for file in state.parent.iterdir():
            if file.name != "partition.metadata":
                file.unlink()
    lone_broker.start()
    with WireClient(lone_broker.port) as wire:
        yield RawTransactional(wire, lone_broker.bootstrap, topic)


def test_find_and_abort_a_hanging_one(
    hanging: RawTransactional, lone_broker: ServerProcess, topic: str, java_pipe: JavaPipe
) -> None:
    admin = JavaAdmin(java_pipe, lone_broker.bootstrap)
    assert admin.end_offset(topic, committed=True) == 0
    limit = ("--max-transaction-timeout", "0")

    def found() -> list[dict[str, str]]:
        return rows(admin.tool(TRANSACTIONS, "find-hanging", "--broker-id", "1", *limit))

    (row,) = found()
    assert (row["Topic"], row["Partition"], row["StartOffset"]) == (topic, "0", "0")
    place = ("--topic", topic, "--partition", "0")
    admin.tool(TRANSACTIONS, "abort", *place, "--start-offset", "0")
    assert admin.end_offset(topic, committed=True) == 2
    assert found() == []
    assert hanging.read() == []
