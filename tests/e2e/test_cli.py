"""The installed `moldau` command as a person uses it, against a broker in a process of its own.

The commands talk Kafka's protocol only, so the same tests hold against Apache Kafka (--against-kafka).
"""

import itertools
import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from compat.apache_kafka import ApacheKafka
from compat.moldau_broker import MoldauBroker
from compat.server_process import wait_until
from kafka_jars import KafkaJarsUnavailable

MOLDAU = str(Path(sys.executable).with_name("moldau"))
COMMAND_TIMEOUT_S = 60
HELP_MS_MAX = 200


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "broker_class" in metafunc.fixturenames:
        kafka = pytest.param(ApacheKafka, id="kafka", marks=pytest.mark.java)
        moldau = pytest.param(MoldauBroker, id="moldau")
        against = [moldau, kafka] if metafunc.config.getoption("--against-kafka") else [moldau]
        metafunc.parametrize("broker_class", against, scope="module")


@pytest.fixture(scope="module")
def bootstrap(
    broker_class: type[ApacheKafka | MoldauBroker], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    try:
        server = broker_class(tmp_path_factory.mktemp("broker"))
    except KafkaJarsUnavailable as reason:
        pytest.skip(str(reason))
    with server:
        yield server.bootstrap


class Shell:
    """Runs `moldau` with the broker's address in the environment."""

    def __init__(self, bootstrap: str) -> None:
        self.environment = {**os.environ, "MOLDAU_BOOTSTRAP_SERVER": bootstrap}

    def run(self, *arguments: str, stdin: str | bytes = b"", code: int = 0) -> str:
        """Standard output, or standard error when the command is to fail."""
        done = self.finished(*arguments, stdin=stdin)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stderr if code else done.stdout

    def finished(self, *arguments: str, stdin: str | bytes = b"") -> "subprocess.CompletedProcess[str]":
        done = subprocess.run(
            [MOLDAU, *arguments],
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            capture_output=True,
            env=self.environment,
            timeout=COMMAND_TIMEOUT_S,
            check=False,
        )
        return subprocess.CompletedProcess(
            done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
        )

    def started(self, *arguments: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [MOLDAU, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environment,
            text=True,
        )


@pytest.fixture
def shell(bootstrap: str) -> Shell:
    return Shell(bootstrap)


_serial = itertools.count()


@pytest.fixture
def topic() -> str:
    """A name no other test uses."""
    return f"cli-{os.getpid()}-{next(_serial)}"


@pytest.fixture
def orders(shell: Shell, topic: str) -> str:
    """A topic of one partition that keeps records however old their timestamps are."""
    shell.run("topics", "create", topic, "--partitions", "1", "--config", "retention.ms=-1")
    return topic


def consumed(shell: Shell, topic: str, *options: str) -> list[str]:
    return shell.run("consume", topic, *options).splitlines()


def records(shell: Shell, topic: str, *options: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in consumed(shell, topic, "--format", "json", *options)]


def describe(shell: Shell, topic: str) -> dict[str, object]:
    [report] = json.loads(shell.run("topics", "describe", topic, "--output", "json"))
    assert isinstance(report, dict)
    return report


# Topics


def test_a_topic_is_created_listed_described_and_deleted(shell: Shell, topic: str) -> None:
    created = shell.run("topics", "create", topic, "--partitions", "3", "--config", "retention.ms=3600000")
    assert created == f"Created topic '{topic}' with 3 partitions, replication factor 1.\n"

    listed = shell.run("topics", "list")
    assert re.search(rf"^{topic} +3 +1$", listed, re.MULTILINE)
    assert {"topic": topic, "partitions": 3, "replication_factor": 1} in json.loads(
        shell.run("topics", "list", "--output", "json")
    )

    report = describe(shell, topic)
    assert report["topic"] == topic
    assert re.fullmatch(r"[A-Za-z0-9_-]{22}", str(report["topic_id"]))
    assert [part["partition"] for part in report["partitions"]] == [0, 1, 2]  # type: ignore[attr-defined]
    for part in report["partitions"]:  # type: ignore[attr-defined]
        assert part["replicas"] == part["isr"] == [part["leader"]]
        assert (part["start_offset"], part["end_offset"]) == (0, 0)
    assert {"name": "retention.ms", "value": "3600000", "source": "topic"} in report["configs"]  # type: ignore[operator]

    assert shell.run("topics", "delete", topic, "--yes") == f"Deleted topic '{topic}'.\n"
    wait_until(lambda: topic not in shell.run("topics", "list"), "the topic is gone")


def test_describe_for_people_shows_offsets_and_who_set_what(shell: Shell, orders: str) -> None:
    shell.run("produce", orders, stdin="a\nb\n")
    shell.run("topics", "alter", orders, "--set", "max.message.bytes=5000")
    text = shell.run("topics", "describe", orders)
    assert re.search(rf"^Topic +{orders}$", text, re.MULTILINE)
    assert "max.message.bytes=5000 (topic)" in text
    heading, row = text.splitlines()[-2:]
    assert re.split("  +", heading.strip()) == [
        *["PARTITION", "LEADER", "REPLICAS", "ISR", "START OFFSET", "END OFFSET", "BYTES"]
    ]
    [partition, _leader, _replicas, _isr, start, end, size_bytes] = row.split()
    assert (partition, start, end) == ("0", "0", "2")
    assert 61 < int(size_bytes) < 200


def test_a_topic_that_exists_is_refused_or_left_alone(shell: Shell, orders: str) -> None:
    error = shell.run("topics", "create", orders, code=1)
    assert f"cannot create topic '{orders}': it exists already." in error
    assert shell.run("topics", "create", orders, "--if-not-exists") == f"Topic '{orders}' exists already.\n"


def test_a_dry_run_creates_nothing(shell: Shell, topic: str) -> None:
    assert shell.run("topics", "create", topic, "--dry-run") == f"Topic '{topic}' can be created.\n"
    assert topic not in shell.run("topics", "list")


def test_settings_are_set_and_unset_one_by_one(shell: Shell, topic: str) -> None:
    shell.run("topics", "create", topic, "--config", "retention.ms=1000", "--config", "segment.ms=60000")
    shell.run("topics", "alter", topic, "--set", "cleanup.policy=compact", "--unset", "retention.ms")
    configs = describe(shell, topic)["configs"]
    assert {
        config["name"]: config["value"]
        for config in configs
        if config["source"] == "topic"  # type: ignore[attr-defined]
    } == {"cleanup.policy": "compact", "segment.ms": "60000"}


def test_a_topic_grows_and_does_not_shrink(shell: Shell, orders: str) -> None:
    assert "4 partitions, before 1" in shell.run("topics", "alter", orders, "--partitions", "4")
    wait_until(lambda: len(describe(shell, orders)["partitions"]) == 4, "the new partitions")  # type: ignore[arg-type]
    error = shell.run("topics", "alter", orders, "--partitions", "2", code=1)
    assert f"cannot grow topic '{orders}' from 4 to 2 partitions" in error


def test_a_setting_that_is_none_is_refused_by_name(shell: Shell, orders: str) -> None:
    assert "retention.sm" in shell.run("topics", "alter", orders, "--set", "retention.sm=1", code=1)
    assert "retention.sm" in shell.run(
        "topics", "create", f"{orders}-2", "--config", "retention.sm=1", code=1
    )


def test_deleting_asks_first(shell: Shell, orders: str) -> None:
    assert "nothing was deleted" in shell.run("topics", "delete", orders, stdin="n\n", code=1)
    assert "Pass --yes" in shell.run("topics", "delete", orders, stdin="", code=1)
    assert orders in shell.run("topics", "list")
    assert shell.run("topics", "delete", orders, stdin="y\n") == f"Deleted topic '{orders}'.\n"


def test_deleting_what_is_not_there(shell: Shell, topic: str) -> None:
    assert f"there is no topic '{topic}'" in shell.run("topics", "delete", topic, "--yes", code=1)
    assert shell.run("topics", "delete", topic, "--yes", "--if-exists") == f"There is no topic '{topic}'.\n"


def test_list_filters_by_pattern(shell: Shell, topic: str) -> None:
    for name in (f"{topic}-a", f"{topic}-b"):
        shell.run("topics", "create", name)
    found = json.loads(shell.run("topics", "list", f"{topic}-*", "-o", "json"))
    assert [item["topic"] for item in found] == [f"{topic}-a", f"{topic}-b"]


def test_an_unknown_topic_comes_with_the_nearest_name(shell: Shell, orders: str) -> None:
    for arguments in (["topics", "describe"], ["topics", "alter", "--partitions", "2"], ["consume"]):
        error = shell.run(*arguments, orders + "x", code=1)
        assert f"there is no topic '{orders}x' at " in error
        assert f"'{orders}'" in error.splitlines()[-1]


def test_a_bad_topic_name_says_what_a_good_one_is(shell: Shell) -> None:
    for arguments in (["topics", "create"], ["topics", "describe"], ["produce"], ["consume"]):
        assert "A topic name is made of ASCII letters" in shell.run(*arguments, "no good", code=1)


# Records


def test_lines_go_in_and_come_out(shell: Shell, orders: str) -> None:
    assert shell.run("produce", orders, stdin="one\ntwo\r\nthree") == "3 records acknowledged.\n"
    done = shell.finished("consume", orders)
    assert done.stdout == "one\ntwo\nthree\n"
    assert done.stderr == f"3 records read from topic '{orders}'.\n"
    assert shell.finished("consume", orders, "--quiet").stderr == ""


def test_every_part_of_a_record_arrives(shell: Shell, orders: str) -> None:
    shell.run(
        *["produce", orders, "--value", "v", "--key", "k", "--header", "a=1", "--header", "a=2"],
        *["--timestamp", "2020-01-01T00:00:00Z"],
    )
    assert records(shell, orders) == [
        {
            "topic": orders,
            "partition": 0,
            "offset": 0,
            "timestamp": 1577836800000,
            "timestamp_type": "create_time",
            "key": "k",
            "value": "v",
            "headers": [{"name": "a", "value": "1"}, {"name": "a", "value": "2"}],
        }
    ]


def test_keys_tombstones_and_bytes_that_are_no_text(shell: Shell, orders: str) -> None:
    lines = b"k1:v1\nk2:NULL\n\xff:\xfe\n"
    shell.run("produce", orders, "--key-separator", ":", "--null-marker", "NULL", stdin=lines)
    assert consumed(shell, orders, "--print-key", "--key-separator", ":", "-n", "2") == ["k1:v1", "k2:null"]
    found = records(shell, orders)
    assert [found[0]["value"], found[1]["value"]] == ["v1", None]
    assert (found[2]["key_base64"], found[2]["value_base64"]) == ("/w==", "/g==")


def test_a_line_without_key_ends_the_run_after_those_before_it(shell: Shell, orders: str) -> None:
    done = shell.finished("produce", orders, "--key-separator", ":", stdin="k:a\noops\nk:b\n")
    assert done.returncode == 1
    assert done.stdout == "1 record acknowledged.\n"
    assert "line 2 has no key" in done.stderr
    assert consumed(shell, orders) == ["a"]


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_compression(shell: Shell, orders: str, codec: str) -> None:
    lines = [f"record {number} " + "x" * 50 for number in range(500)]
    text = shell.run("produce", orders, "--compression", codec, stdin="\n".join(lines))
    assert text == "500 records acknowledged.\n"
    assert consumed(shell, orders) == lines


@pytest.mark.parametrize("acks", ["0", "1", "all"])
def test_acks(shell: Shell, orders: str, acks: str) -> None:
    summary = json.loads(shell.run("produce", orders, "--acks", acks, "--value", "x", "--output", "json"))
    assert summary == {"sent": 1, "acknowledged": 0 if acks == "0" else 1, "failed": 0}
    wait_until(lambda: consumed(shell, orders) == ["x"], "the record is there")


def test_a_record_too_large_fails_with_the_way_out(shell: Shell, topic: str) -> None:
    shell.run("topics", "create", topic, "--config", "max.message.bytes=1000")
    done = shell.finished("produce", topic, "--value", "x" * 5000)
    assert done.returncode == 1
    assert done.stdout == "0 records acknowledged, 1 failed.\n"
    assert f"cannot write to topic '{topic}': the record is larger than the topic takes" in done.stderr
    assert "max.message.bytes" in done.stderr


def test_the_broker_creates_an_unknown_topic_and_the_command_says_so(shell: Shell, orders: str) -> None:
    done = shell.finished("produce", orders + "x", "--value", "v")
    assert done.returncode == 0, done.stderr
    assert done.stderr == (
        f"There was no topic '{orders}x'; the broker created it. (There is '{orders}', too.)\n"
    )
    assert consumed(shell, orders + "x") == ["v"]


def test_partitions_are_written_and_read_one_by_one(shell: Shell, topic: str) -> None:
    shell.run("topics", "create", topic, "--partitions", "3")
    for partition in range(3):
        shell.run("produce", topic, "--partition", str(partition), "--value", f"p{partition}")
    assert consumed(shell, topic, "--partition", "1") == ["p1"]
    assert sorted(consumed(shell, topic, "-p", "0", "-p", "2")) == ["p0", "p2"]
    assert sorted(consumed(shell, topic)) == ["p0", "p1", "p2"]
    for command in ("produce", "consume"):
        error = shell.run(command, topic, "--partition", "7", code=1)
        assert f"topic '{topic}' has no partition 7: it has 3 partitions" in error
    assert "pass --partition as well" in shell.run("consume", topic, "--offset", "1", code=2)


def test_a_key_goes_where_java_clients_put_it(shell: Shell, topic: str) -> None:
    shell.run("topics", "create", topic, "--partitions", "3")
    # murmur2 as Kafka's own producer computes it; librdkafka's own default would put each elsewhere.
    expected = {"order-3": 0, "order-7": 1, "order-8": 2}
    for key in expected:
        shell.run("produce", topic, "--key", key, "--value", key)
    found = {record["key"]: record["partition"] for record in records(shell, topic)}
    assert found == expected


def test_where_reading_starts_and_stops(shell: Shell, orders: str) -> None:
    for number, day in enumerate(("01", "02", "03")):
        shell.run("produce", orders, "--timestamp", f"2020-01-{day}T00:00:00Z", "--value", f"r{number}")
    assert consumed(shell, orders, "--from-beginning", "--limit", "2") == ["r0", "r1"]
    assert consumed(shell, orders, "--offset", "1") == ["r1", "r2"]
    assert consumed(shell, orders, "--offset", "-1") == ["r2"]
    assert consumed(shell, orders, "--offset", "end") == []
    assert consumed(shell, orders, "--from-time", "2020-01-02T00:00:00Z") == ["r1", "r2"]
    assert consumed(shell, orders, "--from-time", "2020-02-01T00:00:00Z") == []
    error = shell.run("consume", orders, "--offset", "9", code=1)
    assert f"topic '{orders}' partition 0 has no offset 9: it holds 0 to 2." in error


def test_an_empty_topic_is_read_at_once(shell: Shell, orders: str) -> None:
    done = shell.finished("consume", orders)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == f"0 records read from topic '{orders}'.\n"


def test_the_other_formats(shell: Shell, orders: str) -> None:
    shell.run("produce", orders, "--key", "k", "--value", "hello")
    assert "68 65 6c 6c 6f" in shell.run("consume", orders, "--format", "hex")
    heading, row = consumed(shell, orders, "--format", "table")
    assert heading.split() == ["PARTITION", "OFFSET", "TIMESTAMP", "KEY", "VALUE"]
    assert row.split()[:2] == ["0", "0"] and row.split()[-2:] == ["k", "hello"]


def test_following_shows_what_comes_and_ends_on_ctrl_c(shell: Shell, orders: str) -> None:
    shell.run("produce", orders, "--value", "before")
    follower = shell.started("consume", orders, "--follow", "--from-beginning")
    assert follower.stdout is not None and follower.stderr is not None
    try:
        assert read_line(follower) == "before\n"
        shell.run("produce", orders, "--value", "after")
        assert read_line(follower) == "after\n"
        follower.send_signal(signal.SIGINT)
        assert follower.wait(COMMAND_TIMEOUT_S) == 130
        assert follower.stderr.read().strip() == f"2 records read from topic '{orders}'."
    finally:
        follower.kill()
        follower.communicate()


def test_following_ends_when_the_topic_is_deleted(shell: Shell, orders: str) -> None:
    shell.run("produce", orders, "--value", "last")
    quickly = ["-X", "topic.metadata.propagation.max.ms=100"]
    follower = shell.started("consume", orders, "--follow", "--from-beginning", *quickly)
    try:
        assert read_line(follower) == "last\n"
        shell.run("topics", "delete", orders, "--yes")
        _, error = follower.communicate(timeout=COMMAND_TIMEOUT_S)
        assert follower.returncode == 1
        assert f"cannot read topic '{orders}': it does not exist, or no longer." in error
    finally:
        follower.kill()
        follower.communicate()


def read_line(process: "subprocess.Popen[str]") -> str:
    lines: list[str] = []
    assert process.stdout is not None
    reader = threading.Thread(target=lambda stream: lines.append(stream.readline()), args=[process.stdout])
    reader.start()
    reader.join(COMMAND_TIMEOUT_S)
    if not lines:
        process.kill()
        reader.join()
    return lines[0]


def test_records_typed_before_ctrl_c_are_delivered(shell: Shell, orders: str) -> None:
    producer = shell.started("produce", orders)
    assert producer.stdin is not None and producer.stdout is not None
    try:
        producer.stdin.write("typed\n")
        producer.stdin.flush()
        wait_until(lambda: consumed(shell, orders) == ["typed"], "the line is a record", COMMAND_TIMEOUT_S)
        producer.send_signal(signal.SIGINT)
        assert producer.wait(COMMAND_TIMEOUT_S) == 130
        assert producer.stdout.read() == "1 record acknowledged.\n"
    finally:
        producer.kill()
        producer.communicate()


def test_a_reader_that_has_enough_is_no_error(shell: Shell, orders: str) -> None:
    shell.run("produce", orders, stdin="\n".join(map(str, range(50_000))))
    consumer = shell.started("consume", orders)
    assert consumer.stdout is not None and consumer.stderr is not None
    assert consumer.stdout.readline() == "0\n"
    consumer.stdout.close()
    assert consumer.wait(COMMAND_TIMEOUT_S) == 0
    assert consumer.stderr.read() == ""
    consumer.stderr.close()
    assert consumer.stdin is not None
    consumer.stdin.close()


# What goes wrong


def test_nobody_at_the_address(topic: str) -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{bound.getsockname()[1]}"
        for arguments in (["topics", "list"], ["produce", topic, "--value", "x"], ["consume", topic]):
            error = Shell(address).run(*arguments, code=1)
            assert error == (
                f"Error: nothing answers at {address} (connection refused).\n"
                "Start a broker with `moldau broker`, or name another one with --bootstrap-server HOST:PORT.\n"
            )


def test_somebody_else_at_the_address() -> None:
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        address = f"127.0.0.1:{stranger.getsockname()[1]}"
        error = Shell(address).run("topics", "list", "--timeout", "1", code=1)
        assert f"cannot list topics: no answer from {address} within 1 s" in error
        assert "Is it a Kafka broker" in error


def test_an_advertised_address_that_cannot_be_reached(
    broker_class: type[ApacheKafka | MoldauBroker], tmp_path: Path, topic: str
) -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        nowhere = f"127.0.0.1:{bound.getsockname()[1]}"
        try:
            server = broker_class(tmp_path, {"advertised.listeners": f"PLAINTEXT://{nowhere}"})
        except KafkaJarsUnavailable as reason:
            pytest.skip(str(reason))
        with server:
            error = Shell(server.bootstrap).run("topics", "create", topic, "--timeout", "2", code=1)
    assert f"cannot create topic '{topic}': no answer from {server.bootstrap} within 2 s" in error
    assert nowhere in error
    assert "check advertised.listeners" in error


def test_a_client_property_that_is_none_is_wrong_usage(shell: Shell) -> None:
    assert 'No such configuration property: "sasl.usrname"' in shell.run(
        "topics", "list", "-X", "sasl.usrname=me", code=2
    )


def test_a_broker_setting_that_is_none_is_wrong_usage_with_the_nearest_name(tmp_path: Path) -> None:
    error = Shell("").run("broker", "--override", "log.dir.s=x", code=2)
    assert "log.dir.s" in error and "log.dirs" in error
    assert "nowhere.properties" in Shell("").run(
        "broker", "--config", str(tmp_path / "nowhere.properties"), code=2
    )


# The shell


def test_topic_names_complete(shell: Shell, orders: str) -> None:
    for line in (f"moldau topics describe {orders[:-1]}", f"moldau consume {orders[:-1]}"):
        words = {"COMP_WORDS": line, "COMP_CWORD": str(line.count(" ")), "_MOLDAU_COMPLETE": "bash_complete"}
        done = subprocess.run(
            [MOLDAU], env={**shell.environment, **words}, capture_output=True, text=True, check=True
        )
        assert f"plain,{orders}" in done.stdout.splitlines()


def test_help_is_instant() -> None:
    """In processor time, the best of five: what other processes do to the clock is not counted."""

    def spent_ms() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([MOLDAU, "--help"], stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)

    assert min(spent_ms() for _ in range(5)) < HELP_MS_MAX
