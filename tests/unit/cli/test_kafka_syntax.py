"""Commands typed as for Kafka's tools, and what is answered."""

import shlex

import pytest

from moldau.cli.kafka_syntax import translated
from moldau.cli.main import main

HABITS = [
    ("topics --create --topic x --partitions 3", "topics create x --partitions 3"),
    ("topics create --topic x", "topics create x"),
    ("topics --list", "topics list"),
    ("topics --describe --topic x", "topics describe x"),
    ("topics --describe --under-replicated-partitions", "topics describe --under-replicated"),
    ("topics --alter --topic x --partitions 40", "topics alter x --partitions 40"),
    ("topics --delete --topic=x --bootstrap-server h:1", "topics delete x --bootstrap-server h:1"),
    ("topics --zookeeper z:2181 --create --topic x --config a=b", "topics create x --config a=b"),
    ("kafka-topics.sh --list --bootstrap-server h:1", "topics list --bootstrap-server h:1"),
    ("groups --describe --group g", "groups describe g"),
    ("groups describe --group g", "groups describe g"),
    ("groups --list", "groups list"),
    ("groups --describe --all-groups", "groups describe"),
    ("groups --describe --group g --members", "groups members g"),
    (
        "kafka-consumer-groups --reset-offsets --group g --topic t:0,1 --to-earliest --execute",
        "groups reset g --topic t:0,1 --to-earliest --execute",
    ),
    ("groups --reset-offsets --all-groups --all-topics --to-latest --dry-run", "groups reset --all-groups --to-latest"),
    ("groups --delete-offsets --group g --topic t", "groups delete-offsets g t"),
    (
        "kafka-acls.sh --bootstrap-server h:1 --add --allow-principal User:a --producer --topic t --force",
        "acls add User:a --bootstrap-server h:1 --producer --topic t --yes",
    ),
    (
        "acls --add --deny-principal User:* --deny-host 10.0.0.1 --operation All --topic t "
        "--resource-pattern-type PREFIXED",
        "acls add 'User:*' --deny --host 10.0.0.1 --operation All --topic t --prefixed",
    ),
    ("acls --remove --allow-principal User:a --cluster kafka-cluster", "acls remove User:a --cluster"),
    ("acls --list --principal User:a", "acls list User:a"),
    ("kafka-acls --list --topic t --resource-pattern-type match", "acls list --topic t --applying"),
    ("consume --topic x --from-beginning", "consume x --from-beginning"),
    ("consume --topic x --max-messages 5 --group g", "consume x --limit 5 --group g"),
    (
        "kafka-console-consumer --topic x --property print.key=true --property key.separator=:",
        "consume x --print-key --key-separator : --follow",
    ),
    (
        "consume --topic x --value-deserializer org.apache.kafka.common.serialization.LongDeserializer",
        "consume x --value-format long",
    ),
    ("produce --topic x --broker-list h:1", "produce x --bootstrap-server h:1"),
    (
        "kafka-console-producer --topic x --property parse.key=true --property key.separator=: --producer-property a=1",
        "produce x --key-separator : -X a=1",
    ),
    (
        "kafka-configs --alter --entity-type topics --entity-name t --add-config a=1,cleanup.policy=[compact,delete]",
        "configs set topic t a=1 cleanup.policy=compact,delete",
    ),
    ("configs --alter --entity-type topics --entity-name t --delete-config a", "configs unset topic t a"),
    ("configs --describe --entity-type brokers --entity-default", "configs describe broker-defaults"),
    ("configs --describe --topic t --all", "configs describe topic t --all"),
    (
        "kafka-configs --zookeeper z:2181 --alter --add-config producer_byte_rate=1,consumer_byte_rate=2 "
        "--entity-type clients --entity-name clueful",
        "quotas set --client clueful producer_byte_rate=1 consumer_byte_rate=2",
    ),
    (
        "configs --alter --entity-type users --entity-name Franz --entity-type clients --entity-default "
        "--delete-config request_percentage",
        "quotas remove --user Franz --any-client request_percentage",
    ),
    ("configs --describe --user-defaults --bootstrap-server h:1", "quotas list --any-user --bootstrap-server h:1"),
    ("configs --describe --entity-type ips", "quotas list"),
    ("kafka-reassign-partitions --reassignment-json-file p --execute", "partitions reassign execute --plan p"),
    ("partitions reassign execute --reassignment-json-file p", "partitions reassign execute --plan p"),
    (
        "kafka-reassign-partitions --topics-to-move-json-file t.json --broker-list 0,1 --generate",
        "partitions reassign generate --topics-file t.json --brokers 0,1",
    ),
    (
        "kafka-leader-election --election-type preferred --topic t --partition 0",
        "partitions elect t:0 --type preferred",
    ),
    ("kafka-leader-election --election-type unclean --all-topic-partitions", "partitions elect --type unclean --all"),
    ("partitions elect --topic t --partition 0", "partitions elect t:0"),
    ("perf produce --topic t --num-records 9", "perf produce t --num-records 9"),
    ("kafka-get-offsets --topic t --time -1", "offsets t --at latest"),
    ("kafka-delete-records --offset-json-file f.json", "topics delete-records --from-file f.json"),
    (
        "kafka-producer-perf-test --topic t --num-records 9 --producer-props acks=1 linger.ms=5",
        "perf produce t --num-records 9 -X acks=1 -X linger.ms=5",
    ),
    ("zookeeper-shell.sh localhost:2181 ls /", "zookeeper shell localhost:2181 ls /"),
    ("kafka-server-start.sh server.properties", "broker --config server.properties"),
]  # fmt: skip


@pytest.mark.parametrize(("typed", "meant"), HABITS)
def test_the_command_that_was_meant(typed: str, meant: str) -> None:
    assert translated(shlex.split(typed)) == f"moldau {meant}"


@pytest.mark.parametrize(
    "typed",
    [
        "",
        "topics",
        "topics creat x",
        "topics create x --partitons 3",
        "consume",
        "groups reset g",
        "up --port x",
    ],
)
def test_nothing_is_said_of_what_is_no_habit(typed: str) -> None:
    assert translated(shlex.split(typed)) is None


def test_a_refusal_shows_the_right_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["topics", "--create", "--topic", "my topic"]) == 2
    assert capsys.readouterr().err.splitlines()[-1] == "  moldau topics create 'my topic'"
    assert main(["topics", "create"]) == 2
    assert "Kafka's tools" not in capsys.readouterr().err
