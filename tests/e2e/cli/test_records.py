"""`moldau produce` and `moldau consume` against a broker in a process of its own."""

import json
import signal

import pytest

from compat.server_process import wait_until
from e2e.cli.shell import COMMAND_TIMEOUT_S, Shell, consumed, read_line, records


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
    assert f"cannot write to topic '{topic}': the record is larger than the topic allows" in done.stderr
    assert "max.message.bytes" in done.stderr


def test_the_broker_creates_an_unknown_topic_and_the_command_says_so(shell: Shell, orders: str) -> None:
    done = shell.finished("produce", orders + "x", "--value", "v")
    assert done.returncode == 0, done.stderr
    assert done.stderr == (
        f"Topic '{orders}x' did not exist; the broker created it. (A similar topic exists: '{orders}'.)\n"
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
    assert f"topic '{orders}' partition 0 has no offset 9: it has offsets 0 to 2." in error


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
        assert f"cannot read topic '{orders}': it does not exist." in error
    finally:
        follower.kill()
        follower.communicate()


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


def test_what_one_topic_gave_another_takes(shell: Shell, orders: str) -> None:
    lines = b"k:v\n\xff:\xfe\nk:NULL\n"
    stamped = ["--header", "a=1", "--timestamp", "2020-01-01T00:00:00Z"]
    shell.run("produce", orders, "--key-separator", ":", "--null-marker", "NULL", *stamped, stdin=lines)
    shell.run("topics", "create", f"{orders}-copy", "--config", "retention.ms=-1")
    copied = shell.run(
        "produce",
        f"{orders}-copy",
        "--format",
        "json",
        stdin=shell.run("consume", orders, "--format", "json"),
    )
    assert copied == "3 records acknowledged.\n"
    assert [{**record, "topic": orders} for record in records(shell, f"{orders}-copy")] == records(
        shell, orders
    )


def test_a_group_reads_on_where_it_stopped(shell: Shell, orders: str) -> None:
    shell.run("produce", orders, stdin="a\nb\nc\nd\n")
    group = ["--group", f"group-of-{orders}"]
    assert consumed(shell, orders, *group, "--limit", "3") == ["a", "b", "c"]
    shell.run("produce", orders, "--value", "e")
    assert consumed(shell, orders, *group) == ["d", "e"]
    assert consumed(shell, orders, *group) == []
    assert consumed(shell, orders) == ["a", "b", "c", "d", "e"]
    [found] = json.loads(shell.run("groups", "offsets", group[1], "-o", "json"))
    assert found["offset"] == 5
    assert "groups reset" in shell.run("consume", orders, *group, "--offset", "1", code=2)


def test_a_group_that_has_nothing_left_says_so(shell: Shell, orders: str) -> None:
    shell.run("produce", orders, "--value", "x")
    group = ["--group", f"group-of-{orders}"]
    # The range assignor gives the partition to the member whose id comes first.
    first = shell.started("consume", orders, *group, "--follow", "--from-beginning", "-X", "client.id=a")
    try:
        assert read_line(first) == "x\n"
        error = shell.run("consume", orders, *group, "-X", "client.id=b", "--timeout", "30", code=1)
        assert f"group 'group-of-{orders}' assigned no partition of topic '{orders}' to this command" in error
    finally:
        first.send_signal(signal.SIGINT)
        first.communicate(timeout=COMMAND_TIMEOUT_S)


def test_numbers_are_written_and_shown_as_text(shell: Shell, orders: str) -> None:
    formats = ("--key-format", "string", "--value-format", "long")
    shell.run("produce", orders, *formats, "--key-separator", ":", stdin="eins:1\nzwei:-2\n")
    # What Kafka's LongSerializer writes.
    assert records(shell, orders)[1]["value_base64"] == "//////////4="
    shown = consumed(shell, orders, *formats, "--print-key")
    assert shown == ["eins\t1", "zwei\t-2"]
    error = shell.run("consume", orders, "--value-format", "int", code=1)
    assert "the value at offset 0 of partition 0 has 8 bytes, but an int has 4." in error
    error = shell.run("produce", orders, "--value-format", "long", "--value", "drei", code=1)
    assert "the value of record 1 cannot be written as long: 'drei' is not a valid long" in error
