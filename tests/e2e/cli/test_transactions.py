"""`moldau transactions` against a broker in a process of its own, with producers that are real, or gone."""

import json
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from confluent_kafka import KafkaException, Producer

from compat.apache_kafka import ApacheKafka
from compat.moldau_broker import MoldauBroker
from e2e.cli.shell import COMMAND_TIMEOUT_S, Shell, consumed
from kafka_jars import KafkaJarsUnavailable
from moldau.protocol.records.builder import build_batch
from moldau.protocol.records.record import Record

GHOST_ID = 4711


@contextmanager
def open_transaction(shell: Shell, topic: str) -> Iterator[Producer]:
    """Three records of a transaction that is neither committed nor aborted."""
    producer = Producer(
        {"bootstrap.servers": shell.bootstrap, "transactional.id": f"till-{topic}", "log_level": 0}
    )
    producer.init_transactions(COMMAND_TIMEOUT_S)
    producer.begin_transaction()
    for number in range(3):
        producer.produce(topic, f"t{number}")
    producer.flush(COMMAND_TIMEOUT_S)
    yield producer


def test_an_open_transaction_is_listed_described_and_counted(shell: Shell, orders: str) -> None:
    shell.run("produce", orders, stdin="a\nb\n")
    shell.run("groups", "reset", f"group-of-{orders}", "--topic", orders, "--to-earliest", "--execute")
    with open_transaction(shell, orders) as producer:
        listed = shell.run("transactions", "list", "till-*")
        assert re.search(rf"^till-{orders} +\d+ +\d+ +Ongoing$", listed, re.MULTILINE)
        assert f"till-{orders}" not in shell.run("transactions", "list", "--state", "CompleteCommit")
        assert f"till-{orders}" not in shell.run("transactions", "list", "--longer-than", "1h")

        found = json.loads(shell.run("transactions", "describe", f"till-{orders}", "-o", "json"))
        assert found["state"] == "Ongoing"
        [part] = found["partitions"]
        assert (part["first_offset"], part["stable_offset"], part["end_offset"]) == (2, 2, 5)
        assert part["holds_back"] == 3
        assert re.search(
            rf"^{orders} +0 +2 +2 +5 +3$",
            shell.run("transactions", "describe", f"till-{orders}"),
            re.MULTILINE,
        )

        [writer] = json.loads(shell.run("transactions", "producers", orders, "--open", "-o", "json"))
        assert (writer["transactional_id"], writer["note"]) == (f"till-{orders}", "blocks readers")

        [lag] = json.loads(shell.run("groups", "offsets", f"group-of-{orders}", "-o", "json"))
        assert (lag["stable_offset"], lag["end_offset"], lag["lag"]) == (2, 5, 2)
        assert lag["note"] == "3 offsets are blocked by an open transaction"
        assert consumed(shell, orders) == ["a", "b"]
        assert consumed(shell, orders, "--isolation-level", "read_uncommitted") == [
            "a",
            "b",
            "t0",
            "t1",
            "t2",
        ]
        producer.commit_transaction(COMMAND_TIMEOUT_S)

    assert "No open transactions." in shell.finished("transactions", "producers", orders, "--open").stderr
    assert consumed(shell, orders) == ["a", "b", "t0", "t1", "t2"]
    [lag] = json.loads(shell.run("groups", "offsets", f"group-of-{orders}", "-o", "json"))
    # The marker that ends the transaction has an offset, too.
    assert lag["lag"] == 6


def test_a_transaction_is_aborted_and_its_producer_fenced(shell: Shell, orders: str) -> None:
    with open_transaction(shell, orders) as producer:
        assert "nothing was aborted" in shell.run(
            "transactions", "abort", f"till-{orders}", stdin="n\n", code=1
        )
        error = shell.run("transactions", "abort", "--hanging", f"{orders}:0", "--yes", code=1)
        assert f"`moldau transactions abort till-{orders}` aborts it through the coordinator." in error
        done = shell.run("transactions", "abort", f"till-{orders}", "--yes")
        assert done == f"Aborted the transaction of 'till-{orders}'; its producer is fenced.\n"
        with pytest.raises(KafkaException):
            producer.commit_transaction(COMMAND_TIMEOUT_S)
    shell.run("produce", orders, "--value", "after")
    assert consumed(shell, orders) == ["after"]
    error = shell.run("transactions", "abort", f"till-{orders}", "--yes", code=1)
    assert "has no open transaction" in error


def test_what_is_not_there(shell: Shell, orders: str) -> None:
    with open_transaction(shell, orders) as producer:
        error = shell.run("transactions", "describe", f"till-{orders}x", code=1)
        assert f"there is no transactional id 'till-{orders}x'" in error
        assert f"'till-{orders}'" in error.splitlines()[-1]
        producer.abort_transaction(COMMAND_TIMEOUT_S)
    assert "has no open transaction" in shell.run("transactions", "abort", "--hanging", f"{orders}:0", code=1)
    assert "is not a state of transactions" in shell.run("transactions", "list", "--state", "Asleep", code=1)


def test_a_transaction_that_hangs_is_found_and_ended(
    broker_class: type[ApacheKafka | MoldauBroker], tmp_path: Path, topic: str
) -> None:
    """Its coordinator knows nothing of it, as after a loss of data: brokers that check partitions make none."""
    try:
        server = broker_class(tmp_path)
    except KafkaJarsUnavailable as reason:
        pytest.skip(str(reason))
    shell = Shell(server.bootstrap)
    with server:
        shell.run("topics", "create", topic, "--partitions", "1")
    segment = server.partition_dir(topic) / f"{0:020d}.log"
    ghost = {"producer_id": GHOST_ID, "producer_epoch": 0, "base_sequence": 0, "is_transactional": True}
    records = [Record(number, int(time.time() * 1000), b"k", b"v") for number in range(2)]
    segment.write_bytes(bytes(build_batch(records, leader_epoch=0, **ghost)))  # type: ignore[arg-type]
    (server.log_dir / ".kafka_cleanshutdown").unlink(missing_ok=True)
    with server:
        [found] = json.loads(shell.run("transactions", "producers", topic, "-o", "json"))
        assert (found["producer_id"], found["txn_start_offset"]) == (GHOST_ID, 0)
        assert found["note"].startswith("hanging")
        assert "Open transactions begin at 0." in shell.run(
            *["transactions", "abort", "--hanging", f"{topic}:0", "--first-offset", "1", "-y"], code=1
        )
        done = shell.run("transactions", "abort", "--hanging", f"{topic}:0", "--yes")
        assert done == f"Aborted the transaction of producer {GHOST_ID} in {topic}-0.\n"
        [offsets] = json.loads(shell.run("offsets", topic, "-o", "json"))
        assert (offsets["stable"], offsets["latest"]) == (3, 3)
        assert consumed(shell, topic) == []
