"""What `produce` and `cluster status` say when records cannot be written, and why."""

import json
from collections.abc import Iterator

import pytest

from compat.server_process import wait_until
from e2e.cli.shell import Shell
from moldau.testing import LocalCluster

PATIENCE_S = 60


@pytest.fixture
def cluster() -> Iterator[LocalCluster]:
    with LocalCluster() as running:
        yield running


def test_a_refusal_that_was_tried_again_is_told(cluster: LocalCluster) -> None:
    cluster.create_topic("orders")
    cluster.faults.fail("Produce", "KAFKA_STORAGE_ERROR", times=None)
    error = Shell(cluster.bootstrap_servers).run(
        "produce", "orders", "--value", "x", "--timeout", "3", code=1
    )
    assert "cannot write to topic 'orders': Broker: Disk error" in error
    assert "It was retried for 3 s." in error


def test_a_record_of_a_compacted_topic_needs_a_key(cluster: LocalCluster) -> None:
    cluster.create_topic("latest", configs={"cleanup.policy": "compact"})
    error = Shell(cluster.bootstrap_servers).run("produce", "latest", "--value", "x", code=1)
    assert "the record has no key, and the topic is compacted (cleanup.policy=compact)" in error
    assert "--key KEY" in error


def test_too_few_replicas_in_sync() -> None:
    with LocalCluster(brokers=2, settings={"min.insync.replicas": "2"}) as cluster:
        cluster.create_topic("orders", replication_factor=2)
        leader = cluster.leader("orders")
        (other,) = {1, 2} - {leader}
        cluster.kill(other)
        shell = Shell(cluster.bootstrap_servers.split(",")[leader - 1])

        cluster.wait_until(
            lambda: list(cluster.partition("orders").isr) == [leader], "the dead replica is out of sync"
        )
        error = shell.run("produce", "orders", "--value", "x", "--timeout", "3", code=1)
        assert "partition 0 has 1 of 2 replicas in sync, and min.insync.replicas is 2" in error
        assert "The broker reports: Not enough in-sync replicas." in error
        assert f"Start broker {other} again" in error
        [row] = json.loads(shell.run("topics", "describe", "--under-min-isr", "-o", "json"))
        assert (row["topic"], row["isr"]) == ("orders", [leader])


def test_a_partition_without_a_leader_is_listed_and_named() -> None:
    with LocalCluster(brokers=2) as cluster:
        shell = Shell(cluster.bootstrap_servers.split(",")[0])
        shell.run("topics", "create", "orders", "--replica-assignment", "2,1")
        cluster.kill(2)

        def unavailable() -> list[dict[str, object]]:
            found = json.loads(shell.run("topics", "describe", "--unavailable", "-o", "json"))
            assert isinstance(found, list)
            return found

        wait_until(lambda: bool(unavailable()), "nobody leads partition 0", PATIENCE_S)
        [row] = unavailable()
        assert (row["topic"], row["partition"], row["leader"]) == ("orders", 0, None)
        status = shell.finished("cluster", "status")
        assert status.returncode == 1
        assert (
            "`moldau topics describe --unavailable` lists the partitions without a leader." in status.stdout
        )
        error = shell.run("produce", "orders", "--partition", "0", "--value", "x", "--timeout", "3", code=1)
        assert "cannot write to topic 'orders': partition 0 has no leader" in error
        assert "Start broker 2 again" in error
        assert (
            shell.run("produce", "orders", "--partition", "1", "--value", "x") == "1 record acknowledged.\n"
        )
