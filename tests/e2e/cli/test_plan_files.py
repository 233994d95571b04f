"""Files of Kafka's tools for moving partitions and electing leaders, on two brokers."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from compat.server_process import wait_until
from e2e.cli.shell import Shell
from moldau.testing import LocalCluster

PATIENCE_S = 60


@pytest.fixture(scope="module")
def shell() -> Iterator[Shell]:
    with LocalCluster(brokers=2, settings={"auto.leader.rebalance.enable": "false"}) as cluster:
        yield Shell(cluster.bootstrap_servers)


def replicas(shell: Shell, topic: str) -> list[list[int]]:
    [report] = json.loads(shell.run("topics", "describe", topic, "-o", "json"))
    return [part["replicas"] for part in report["partitions"]]


def test_topics_to_move_stand_in_a_file(shell: Shell, tmp_path: Path) -> None:
    for topic in ("one", "two"):
        shell.run("topics", "create", topic, "--replica-assignment", "1")
    file, plan = tmp_path / "topics.json", tmp_path / "plan.json"
    file.write_text(json.dumps({"version": 1, "topics": [{"topic": "one"}, {"topic": "two"}]}))
    generate = ("partitions", "reassign", "generate", "--brokers", "2")
    shell.run(*generate, "--topics-file", str(file), "--plan", str(plan))
    assert [each["replicas"] for each in json.loads(plan.read_text())["partitions"]] == [[2], [2]]
    shell.run("partitions", "reassign", "execute", "--plan", str(plan))
    wait_until(lambda: replicas(shell, "one") == replicas(shell, "two") == [[2]], "both moved", PATIENCE_S)
    assert "Pass either topics or --topics-file" in shell.run(*generate, code=2)
    file.write_text('{"topics": [{"name": "one"}]}')
    error = shell.run(*generate, "--topics-file", str(file), code=1)
    assert f"{file} is not a valid list of topics to move: entry 1 of 'topics' has no 'topic'." in error


def test_a_malformed_plan_says_what_is_wrong_with_it(shell: Shell, tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    plan.write_text('{"partitions": [{"topic": "one", "partition": 0}]}')
    error = shell.run("partitions", "reassign", "execute", "--plan", str(plan), code=1)
    assert "entry 1 of 'partitions' has no 'replicas'" in error and "KeyError" not in error


def test_leaders_are_elected_for_the_partitions_of_a_file(shell: Shell, tmp_path: Path) -> None:
    shell.run("topics", "create", "led", "--replica-assignment", "1:2")
    plan, file = tmp_path / "plan.json", tmp_path / "election.json"
    plan.write_text(json.dumps({"partitions": [{"topic": "led", "partition": 0, "replicas": [2, 1]}]}))
    shell.run("partitions", "reassign", "execute", "--plan", str(plan))
    wait_until(lambda: replicas(shell, "led") == [[2, 1]], "the preferred leader is another", PATIENCE_S)
    file.write_text(json.dumps({"partitions": [{"topic": "led", "partition": 0}]}))

    def elected() -> bool:
        said = shell.run("partitions", "elect", "--from-file", str(file))
        return "for partitions led-0" in said or "not needed" in said

    wait_until(elected, "it is elected", PATIENCE_S)
    [report] = json.loads(shell.run("topics", "describe", "led", "-o", "json"))
    assert report["partitions"][0]["leader"] == 2
    error = shell.run("partitions", "elect", "--from-file", str(file), "--all", code=2)
    assert "--all or --from-file" in error
