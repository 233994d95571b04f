"""`moldau acls` and `moldau explain access`, on Moldau and on Kafka alike."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from compat.apache_kafka import ApacheKafka
from compat.moldau_broker import MoldauBroker
from e2e.cli.shell import Shell
from kafka_jars import KafkaJarsUnavailable

SETTINGS = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS;User:root",
}


@pytest.fixture(scope="module")
def guarded(
    broker_class: type[ApacheKafka | MoldauBroker], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Shell]:
    try:
        server = broker_class(tmp_path_factory.mktemp("guarded"), SETTINGS)
    except KafkaJarsUnavailable as reason:
        pytest.skip(str(reason))
    with server:
        yield Shell(server.bootstrap)


def listed(shell: Shell, *arguments: str) -> set[tuple[str, ...]]:
    found: list[dict[str, str]] = json.loads(shell.run("acls", "list", "--output", "json", *arguments))
    return {tuple(rule.values()) for rule in found}


def explained(shell: Shell, *arguments: str) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(shell.run("explain", "access", *arguments, "--output", "json"))
    return told


def test_a_producer_and_a_consumer_get_what_they_need_and_lose_it(guarded: Shell) -> None:
    added = guarded.run("acls", "add", "alice", "--topic", "orders", "--producer", "--transactional-id", "tx")
    assert "User:alice is allowed write on topic 'orders'.\n" in added
    guarded.run("acls", "add", "User:bob", "--topic", "orders", "--group", "shop", "--consumer")
    assert {rule[3:6] for rule in listed(guarded, "alice")} == {
        ("WRITE", "TOPIC", "orders"),
        ("DESCRIBE", "TOPIC", "orders"),
        ("CREATE", "TOPIC", "orders"),
        ("WRITE", "TRANSACTIONAL_ID", "tx"),
        ("DESCRIBE", "TRANSACTIONAL_ID", "tx"),
    }
    assert {rule[3:6] for rule in listed(guarded, "bob")} == {
        ("READ", "TOPIC", "orders"),
        ("DESCRIBE", "TOPIC", "orders"),
        ("READ", "GROUP", "shop"),
    }
    removed = guarded.run("acls", "remove", "alice", "--topic", "orders", "--producer", "--yes")
    assert removed.endswith("3 rules removed.\n")
    refusal = guarded.run("acls", "remove", "alice", code=1)
    assert "Pass --yes to skip the question" in refusal
    assert len(listed(guarded, "alice")) == 2
    guarded.run("acls", "remove", "alice", "bob", "--yes")
    assert not listed(guarded, "alice") and not listed(guarded, "bob")


def test_rules_that_apply_to_a_name(guarded: Shell) -> None:
    guarded.run("acls", "add", "carol", "--topic", "team-", "--prefixed", "--operation", "read")
    guarded.run("acls", "add", "carol", "--topic", "*", "--operation", "describe", "--host", "10.0.0.7")
    guarded.run("acls", "add", "carol", "--cluster", "--operation", "cluster-action", "--deny")
    assert listed(guarded, "carol", "--topic", "team-a") == set()
    assert {rule[5] for rule in listed(guarded, "carol", "--topic", "team-a", "--applying")} == {"team-", "*"}
    table = guarded.run("acls", "list", "carol").splitlines()
    assert table[0].split() == ["PRINCIPAL", "HOST", "PERMISSION", "OPERATION", "RESOURCE", "NAME", "PATTERN"]
    assert ["User:carol", "*", "deny", "cluster-action", "cluster", "kafka-cluster", "literal"] in [
        line.split() for line in table
    ]


def test_access_is_explained(guarded: Shell) -> None:
    guarded.run("acls", "add", "dave", "--topic", "reports", "--operation", "write")
    told = guarded.run("explain", "access", "dave", "describe", "topic:reports")
    assert told.startswith(
        "User:dave may describe topic 'reports'.\n"
        "Decided by a rule: User:dave is allowed write on topic 'reports'. Who may write may describe too.\n"
    )
    told = guarded.run("explain", "access", "dave", "read", "topic:reports")
    assert told.startswith(
        "User:dave may not read topic 'reports'.\nNo rule allows it.\n"
        "To allow it: moldau acls add User:dave --topic reports --operation read\n"
    )
    told = guarded.run("explain", "access", "dave", "read", "topic:reports", "-b", guarded.bootstrap)
    assert f"--operation read --bootstrap-server {guarded.bootstrap}\n" in told
    guarded.run("acls", "add", "User:*", "--topic", "rep", "--prefixed", "--operation", "all", "--deny")
    denied = explained(guarded, "dave", "write", "topic:reports")
    assert not denied["allowed"] and denied["rule"]["permission"] == "DENY"
    (remedy,) = denied["remedies"]
    command = remedy.removeprefix("To allow it: moldau ").replace("'", "").split()
    guarded.run(*command, "--yes")
    assert explained(guarded, "dave", "write", "topic:reports")["allowed"]
    root = explained(guarded, "root", "alter", "cluster")
    # Kafka takes the setting for a secret.
    assert root["reason"] == "SuperUser" if root["super_users_known"] else not root["allowed"]
    guarded.run("acls", "add", "dave", "--group", "shop", "--operation", "read", "--host", "10.0.0.7")
    assert explained(guarded, "dave", "read", "group:shop", "--host", "10.0.0.7")["allowed"]
    assert "--host asks for one" in explained(guarded, "dave", "read", "group:shop")["remedies"][0]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["add", "alice"], "Which resource?"),
        (["add", "alice", "--topic", "t"], "Which operation on topic 't'?"),
        (["add", "alice", "--topic", "t", "--operation", "reed"], "'reed' is not an operation"),
        (
            ["add", "alice", "--group", "g", "--operation", "write"],
            "There is no operation write on group 'g'",
        ),
        (["add", "alice", "--topic", "t", "--consumer"], "pass --topic and --group"),
        (["remove"], "Which rules?"),
    ],
)
def test_wrong_usage(arguments: list[str], says: str) -> None:
    assert says in Shell("127.0.0.1:1").run("acls", *arguments, code=2)


def test_without_an_authorizer(shell: Shell) -> None:
    assert "the brokers have no authorizer" in shell.run("acls", "list", code=1)
    assert explained(shell, "alice", "read", "topic:orders")["reason"] == "NoAuthorizer"
