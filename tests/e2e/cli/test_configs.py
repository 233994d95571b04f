"""`moldau configs` and `moldau offsets` against a broker in a process of its own."""

import json
import re

import pytest

from e2e.cli.shell import Shell


def configs(shell: Shell, *arguments: str) -> dict[str, str]:
    [found] = json.loads(shell.run("configs", "describe", *arguments, "-o", "json"))
    # Kafka itself gives all brokers a min.insync.replicas of their own (KIP-966).
    return {
        config["name"]: config["value"]
        for config in found["configs"]
        if config["name"] != "min.insync.replicas"
    }


def test_settings_of_a_topic(shell: Shell, topic: str) -> None:
    shell.run("topics", "create", topic)
    assert configs(shell, "topic", topic) == {}
    done = shell.run("configs", "set", "topic", topic, "retention.ms=1000", "cleanup.policy+=compact")
    assert done == f"Topic '{topic}': set retention.ms=1000, appended to cleanup.policy: compact.\n"
    assert configs(shell, "topic", topic) == {"retention.ms": "1000", "cleanup.policy": "delete,compact"}
    shell.run("configs", "set", "topic", topic, "cleanup.policy-=delete")
    text = shell.run("configs", "describe", "topic", topic)
    assert re.search(r"^cleanup\.policy +compact +topic$", text, re.MULTILINE)
    done = shell.run("configs", "unset", "topic", topic, "retention.ms")
    assert done == f"Topic '{topic}': retention.ms is now 604800000 (default).\n"
    assert "max.message.bytes" in configs(shell, "topic", topic, "--all")


def test_one_setting_in_detail(shell: Shell, topic: str) -> None:
    shell.run("topics", "create", topic, "--config", "retention.ms=5000")
    text = shell.run("configs", "describe", "topic", topic, "retention.ms")
    assert re.search(r"^Value +5000$", text, re.MULTILINE)
    assert re.search(r"^Type +long$", text, re.MULTILINE)
    assert re.search(r"^From +topic: retention.ms=5000$", text, re.MULTILINE)
    error = shell.run("configs", "describe", "topic", topic, "retention.sm", code=1)
    assert "there is no setting 'retention.sm'" in error and "'retention.ms'" in error


def test_a_dry_run_changes_nothing(shell: Shell, topic: str) -> None:
    shell.run("topics", "create", topic)
    assert "nothing was changed" in shell.run("configs", "set", "topic", topic, "retention.ms=1", "--dry-run")
    assert configs(shell, "topic", topic) == {}
    error = shell.run("configs", "set", "topic", topic, "retention.ms=soon", "--dry-run", code=1)
    assert "retention.ms" in error and "soon" in error


def test_brokers_and_their_defaults(shell: Shell) -> None:
    assert shell.run("configs", "set", "broker-defaults", "log.cleaner.threads=2").startswith(
        "All brokers: set"
    )
    assert configs(shell, "broker-defaults")["log.cleaner.threads"] == "2"
    [[broker_id, *_]] = [
        line.split() for line in shell.run("configs", "describe", "broker").splitlines() if "log.dirs" in line
    ]
    assert configs(shell, "broker", broker_id)["log.cleaner.threads"] == "2"
    shell.run("configs", "unset", "broker-defaults", "log.cleaner.threads")
    assert "log.cleaner.threads" not in configs(shell, "broker-defaults")
    error = shell.run("configs", "describe", "broker", "4711", code=1)
    assert "there is no broker '4711'" in error and f"Its brokers are {broker_id}." in error


@pytest.mark.parametrize(
    ("kind", "setting"),
    [("group", "consumer.session.timeout.ms=50000"), ("client-metrics", "interval.ms=60000")],
)
def test_groups_and_client_metrics(shell: Shell, topic: str, kind: str, setting: str) -> None:
    key, _, value = setting.partition("=")
    shell.run("configs", "set", kind, topic, setting)
    assert configs(shell, kind, topic)[key] == value
    assert re.search(
        rf"^{topic} +{re.escape(key)} +{value}", shell.run("configs", "describe", kind), re.MULTILINE
    )
    shell.run("configs", "unset", kind, topic, key)
    assert configs(shell, kind, topic) == {}


def test_what_is_not_there(shell: Shell, topic: str) -> None:
    assert f"there is no topic '{topic}'" in shell.run("configs", "describe", "topic", topic, code=1)
    shell.run("topics", "create", topic)
    error = shell.run("configs", "set", "topic", topic, "retention.sm=1", code=1)
    assert "retention.sm" in error and "retention.ms" in error


def test_offsets_by_position_and_time(shell: Shell, topic: str) -> None:
    shell.run("topics", "create", topic, "--partitions", "2", "--config", "retention.ms=-1")
    for day in ("01", "03", "02"):
        when = f"2020-01-{day}T00:00:00Z"
        shell.run("produce", topic, "--partition", "1", "--timestamp", when, "--value", "x")
    shell.delete_records(topic, 1, before=1)
    found = json.loads(shell.run("offsets", topic, "-o", "json"))
    assert found == [
        {"topic": topic, "partition": 0, "earliest": 0, "stable": 0, "latest": 0, "max-timestamp": None},
        {
            "topic": topic,
            "partition": 1,
            "earliest": 1,
            "stable": 3,
            "latest": 3,
            "max-timestamp": {"offset": 1, "timestamp": 1578009600000},
        },
    ]
    at = ["--at", "2020-01-02T12:00:00Z", "--at", "latest"]
    heading, row = shell.run("offsets", f"{topic}:1", *at).splitlines()
    assert heading.split() == ["TOPIC", "PARTITION", "2020-01-02T12:00:00Z", "TIMESTAMP", "LATEST"]
    assert row.split() == [topic, "1", "1", "2020-01-03T00:00:00.000Z", "3"]
    assert f"topic '{topic}' has no partition 5" in shell.run("offsets", f"{topic}:5", code=1)
