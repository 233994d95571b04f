"""`moldau topics` against a broker in a process of its own."""

import json
import re
from pathlib import Path

from compat.server_process import wait_until
from e2e.cli.shell import Shell, describe


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
    assert f"cannot create topic '{orders}': it already exists." in error
    assert shell.run("topics", "create", orders, "--if-not-exists") == f"Topic '{orders}' already exists.\n"


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
        assert "Topic names consist of ASCII letters" in shell.run(*arguments, "no good", code=1)


def test_a_topic_is_created_on_the_brokers_named(shell: Shell, topic: str) -> None:
    [broker] = json.loads(shell.run("cluster", "brokers", "-o", "json"))
    at = str(broker["broker"])
    said = shell.run("topics", "create", topic, "--replica-assignment", f"{at},{at}")
    assert said == f"Created topic '{topic}' with 2 partitions, replication factor 1.\n"
    wrong = shell.run("topics", "create", f"{topic}-2", "--replica-assignment", f"{at}:x", code=2)
    assert "'" + at + ":x' for partition 0 is not a list of broker ids" in wrong
    both = shell.run(
        "topics", "create", f"{topic}-2", "--replica-assignment", at, "--partitions", "1", code=2
    )
    assert "omit --partitions and --replication-factor" in both


def test_a_name_that_collides_is_refused_in_the_brokers_words(shell: Shell, topic: str) -> None:
    shell.run("topics", "create", f"{topic}.a")
    error = shell.run("topics", "create", f"{topic}_a", code=1)
    assert f"'{topic}_a' collides with existing topic" in error
    assert "Choose another name" in error


def test_names_that_mix_dot_and_underscore_come_with_a_warning(shell: Shell, topic: str) -> None:
    done = shell.finished("topics", "create", f"{topic}.b_c")
    assert done.returncode == 0
    assert f"Warning: the name '{topic}.b_c' contains both '.' and '_'" in done.stderr
    assert "Warning" not in shell.finished("topics", "create", f"{topic}-plain").stderr


def test_all_topics_are_described_and_those_with_settings_of_their_own_found(
    shell: Shell, topic: str
) -> None:
    plain, own = f"{topic}-plain", f"{topic}-own"
    shell.run("topics", "create", plain)
    shell.run("topics", "create", own, "--config", "retention.ms=1000")
    everything = [each["topic"] for each in json.loads(shell.run("topics", "describe", "-o", "json"))]
    assert plain in everything and own in everything
    chosen = json.loads(shell.run("topics", "describe", "--topics-with-overrides", "-o", "json"))
    named = [each["topic"] for each in chosen]
    assert own in named and plain not in named
    both = shell.run("topics", "describe", "--unavailable", "--topics-with-overrides", code=2)
    assert "Pass only one of" in both


def test_partitions_at_and_under_their_least_in_sync_replicas(shell: Shell, topic: str) -> None:
    shell.run("topics", "create", topic, "--config", "min.insync.replicas=2")
    [row] = json.loads(shell.run("topics", "describe", topic, "--under-min-isr", "-o", "json"))
    assert (row["topic"], row["partition"], row["min_insync_replicas"]) == (topic, 0, 2)
    assert shell.run("topics", "describe", topic, "--at-min-isr") == ""
    shell.run("topics", "alter", topic, "--set", "min.insync.replicas=1")
    [heading, line] = shell.run("topics", "describe", topic, "--at-min-isr").splitlines()
    assert heading.endswith("MIN ISR") and line.startswith(topic)
    assert shell.run("topics", "describe", topic, "--under-min-isr") == ""
    assert "has a leader" in shell.finished("topics", "describe", topic, "--unavailable").stderr


def test_the_oldest_records_are_deleted(shell: Shell, topic: str, tmp_path: Path) -> None:
    shell.run("topics", "create", topic, "--partitions", "2")
    for partition in ("0", "1"):
        shell.run("produce", topic, "--partition", partition, stdin="a\nb\nc\n")
    assert "nothing was deleted" in shell.run("topics", "delete-records", topic, "--all", stdin="n\n", code=1)
    several = shell.run("topics", "delete-records", topic, "--before-offset", "1", "-y", code=2)
    assert "is different in each of 2 partitions" in several
    deleted = shell.run("topics", "delete-records", f"{topic}:0", "--before-offset", "1", "-y", "-o", "json")
    assert json.loads(deleted) == [{"topic": topic, "partition": 0, "start_offset": 1}]
    beyond = shell.run("topics", "delete-records", f"{topic}:0", "--before-offset", "9", "-y", code=1)
    assert f"cannot delete records of '{topic}' partition 0 before offset 9" in beyond
    file = tmp_path / "records.json"
    file.write_text(json.dumps({"partitions": [{"topic": topic, "partition": 1, "offset": 2}], "version": 1}))
    shell.run("topics", "delete-records", "--from-file", str(file), "-y")
    assert sorted(shell.run("consume", topic).split()) == ["b", "c", "c"]
    shell.run("topics", "delete-records", topic, "--before-time", "0s", "-y")
    assert shell.run("consume", topic) == ""


def test_records_of_a_compacted_topic_stay(shell: Shell, topic: str) -> None:
    shell.run("topics", "create", topic, "--config", "cleanup.policy=compact")
    error = shell.run("topics", "delete-records", topic, "--all", "-y", code=1)
    assert "cannot delete all records" in error and "tombstones" in error


def test_answers_come_as_csv(shell: Shell, topic: str) -> None:
    shell.run("topics", "create", topic, "--partitions", "2")
    [heading, row] = shell.run("topics", "list", topic, "-o", "csv").splitlines()
    assert heading == "topic,partitions,replication_factor"
    assert row == f"{topic},2,1"
    described = shell.run("topics", "describe", topic, "-o", "csv").splitlines()
    assert described[0] == "topic,partition,leader,replicas,isr,start_offset,end_offset,size_bytes"
    assert [line.split(",")[:2] for line in described[1:]] == [[topic, "0"], [topic, "1"]]
