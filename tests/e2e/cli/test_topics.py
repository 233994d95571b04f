"""`moldau topics` against a broker in a process of its own."""

import json
import re

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
