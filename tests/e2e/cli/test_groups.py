"""`moldau groups` against a broker in a process of its own, with consumers that are real."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from compat.server_process import wait_until
from e2e.cli.shell import Shell, describe

RECORD_COUNT = 10


@pytest.fixture
def group(topic: str) -> str:
    return f"group-of-{topic}"


@pytest.fixture
def filled(shell: Shell, orders: str) -> str:
    """Ten records, a day apart from 2020 on, in one partition."""
    producer = Producer({"bootstrap.servers": shell.bootstrap})
    for number in range(RECORD_COUNT):
        producer.produce(orders, f"r{number}", timestamp=1577836800000 + number * 86_400_000)
        producer.flush()
    return orders


@contextmanager
def member(shell: Shell, group: str, topic: str, **settings: str) -> Iterator[Consumer]:
    """A consumer that is in the group and has its partitions."""
    dotted = {key.replace("_", "."): value for key, value in settings.items()}
    consumer = Consumer(
        {
            "bootstrap.servers": shell.bootstrap,
            "group.id": group,
            "client.id": "till-7",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            **dotted,
        }
    )
    consumer.subscribe([topic])
    try:
        wait_until(lambda: consumer.poll(0.1) is not None, "the member has a record", 30)
        yield consumer
    finally:
        consumer.close()


def commit(shell: Shell, group: str, topic: str, offset: int, partition: int = 0) -> None:
    """From outside the group, as many frameworks do."""
    consumer = Consumer({"bootstrap.servers": shell.bootstrap, "group.id": group})
    place = TopicPartition(topic, partition, offset, metadata="half way")
    consumer.commit(offsets=[place], asynchronous=False)
    consumer.close()


def offsets(shell: Shell, group: str) -> list[dict[str, object]]:
    found = json.loads(shell.run("groups", "offsets", group, "--output", "json"))
    assert isinstance(found, list)
    return found


def committed(shell: Shell, group: str) -> list[object]:
    return [item["offset"] for item in offsets(shell, group)]


def test_a_live_group_is_listed_and_described(shell: Shell, filled: str, group: str) -> None:
    with member(shell, group, filled) as consumer:
        consumer.commit(offsets=[TopicPartition(filled, 0, 4)], asynchronous=False)
        assert re.search(rf"^{group} +classic +consumer +Stable$", shell.run("groups", "list"), re.MULTILINE)

        [report] = json.loads(shell.run("groups", "describe", group, "-o", "json"))
        assert (report["type"], report["state"], report["assignor"]) == ("classic", "Stable", "range")
        [found] = report["members"]
        assert found["client_id"] == "till-7"
        assert found["subscription"] == [filled]
        assert found["assignment"] == [{"topic": filled, "partition": 0}]
        [lag] = report["offsets"]
        assert (lag["offset"], lag["stable_offset"], lag["lag"]) == (4, RECORD_COUNT, 6)
        assert lag["client_id"] == "till-7"
        assert report["lag"] == 6

        text = shell.run("groups", "describe", group)
        assert re.search(r"^State +Stable$", text, re.MULTILINE)
        assert re.search(rf"^till-7 .* 1 +{filled}:0$", text, re.MULTILINE)
        heading, row = shell.run("groups", "members", group).splitlines()
        assert heading.split("  ")[0] == "CLIENT ID" and row.startswith("till-7")


def test_a_group_of_the_new_protocol(shell: Shell, filled: str, group: str) -> None:
    """KIP-848."""
    with member(shell, group, filled, group_protocol="consumer"):
        assert re.search(rf"^{group} +consumer +consumer +Stable$", shell.run("groups", "list"), re.MULTILINE)
        [report] = json.loads(shell.run("groups", "describe", group, "-o", "json"))
        assert (report["type"], report["state"], report["assignor"]) == ("consumer", "Stable", "uniform")
        [found] = report["members"]
        assert found["epoch"] == report["epoch"] >= 1
        assert found["assignment"] == found["target_assignment"] == [{"topic": filled, "partition": 0}]
        assert found["subscription"] == [filled]
        assert "1 live member" in shell.run("groups", "reset", group, "--to-earliest", "--execute", code=1)


def test_lag_in_offsets_bytes_and_seconds(shell: Shell, filled: str, group: str) -> None:
    commit(shell, group, filled, 5)
    [found] = offsets(shell, group)
    assert (found["offset"], found["metadata"], found["lag"]) == (5, "half way", 5)
    size_bytes = describe(shell, filled)["partitions"][0]["size_bytes"]  # type: ignore[index]
    assert found["lag_bytes"] == round(size_bytes / 2)
    # The next record is of the 6th of January 2020.
    assert isinstance(found["lag_seconds"], float) and found["lag_seconds"] > 5 * 365 * 86_400

    commit(shell, group, filled, RECORD_COUNT)
    [found] = offsets(shell, group)
    assert (found["lag"], found["lag_bytes"], found["lag_seconds"]) == (0, 0, 0)


def test_lag_starts_where_the_log_does(shell: Shell, filled: str, group: str) -> None:
    commit(shell, group, filled, 2)
    shell.delete_records(filled, 0, before=6)
    [found] = offsets(shell, group)
    assert found["lag"] == 4
    assert "4 offsets were deleted unread" in shell.run("groups", "offsets", group)


def test_offsets_of_a_deleted_topic_do_no_harm(shell: Shell, filled: str, orders: str, group: str) -> None:
    shell.run("topics", "create", f"{orders}-2")
    commit(shell, group, filled, 1)
    commit(shell, group, f"{orders}-2", 0)
    shell.run("topics", "delete", f"{orders}-2", "--yes")
    found = {item["topic"]: item for item in offsets(shell, group)}
    assert found[filled]["lag"] == 9
    if f"{orders}-2" in found:
        assert found[f"{orders}-2"]["note"] == "no leader, or the topic does not exist"


@pytest.mark.parametrize(
    ("options", "new"),
    [
        (["--to-earliest"], 0),
        (["--to-offset", "0"], 0),
        (["--shift-by", "-2"], 3),
        (["--to-datetime", "2020-01-03T00:00:00Z"], 2),
        (["--to-datetime", "2030-01-01T00:00:00Z"], RECORD_COUNT),
        (["--by-duration", "36500d"], 0),
    ],
)
def test_a_reset_is_shown_first_then_done(
    shell: Shell, filled: str, group: str, options: list[str], new: int
) -> None:
    commit(shell, group, filled, 5)
    shown = json.loads(shell.run("groups", "reset", group, *options, "-o", "json"))
    change = {"topic": filled, "partition": 0, "old_offset": 5, "new_offset": new, "note": None}
    assert shown == {"group": group, "executed": False, "changes": [change]}
    assert committed(shell, group) == [5]
    shell.run("groups", "reset", group, *options, "--execute")
    assert committed(shell, group) == [new]


def test_a_reset_for_people(shell: Shell, filled: str, group: str) -> None:
    commit(shell, group, filled, 5)
    done = shell.finished("groups", "reset", group, "--shift-by", "-9")
    assert re.search(
        rf"^{filled} +0 +5 +0 +-5 +requested -4, but the log starts at 0$", done.stdout, re.MULTILINE
    )
    assert done.stderr == "Nothing was changed. Pass --execute to apply.\n"


def test_a_reset_from_a_file(shell: Shell, filled: str, group: str, tmp_path: Path) -> None:
    commit(shell, group, filled, 5)
    saved = tmp_path / "offsets.json"
    saved.write_text(shell.run("groups", "offsets", group, "-o", "json"))
    shell.run("groups", "reset", group, "--to-latest", "--execute")
    shell.run("groups", "reset", group, "--from-file", str(saved), "--execute")
    assert committed(shell, group) == [5]
    lines = tmp_path / "offsets.csv"
    lines.write_text(f"{filled},0,8\n")
    shell.run("groups", "reset", group, "--from-file", str(lines), "--execute")
    assert committed(shell, group) == [8]


def test_a_reset_of_chosen_partitions_of_a_group_to_be(shell: Shell, topic: str, group: str) -> None:
    shell.run("topics", "create", topic, "--partitions", "3")
    for partition in range(3):
        shell.run("produce", topic, "--partition", str(partition), "--value", "x")
    done = shell.finished("groups", "reset", group, "--topic", f"{topic}:0,2", "--to-latest")
    assert f"Group '{group}' does not exist yet and would be created." in done.stderr
    shell.run("groups", "reset", group, "--topic", f"{topic}:0,2", "--to-latest", "--execute")
    assert [(item["partition"], item["offset"]) for item in offsets(shell, group)] == [(0, 1), (2, 1)]
    error = shell.run("groups", "reset", group, "--topic", f"{topic}:9", "--to-latest", code=1)
    assert f"topic '{topic}' has no partition 9: it has 3 partitions" in error


def test_live_members_are_named_and_not_reset_or_deleted(shell: Shell, filled: str, group: str) -> None:
    with member(shell, group, filled, group_instance_id="till-a") as consumer:
        consumer.commit(offsets=[TopicPartition(filled, 0, 4)], asynchronous=False)
        error = shell.run("groups", "reset", group, "--to-earliest", "--execute", code=1)
        assert f"group '{group}' has 1 live member: till-7 at 127.0.0.1 (till-a)." in error
        assert "--execute will fail" in shell.finished("groups", "reset", group, "--to-earliest").stderr
        assert "till-7 at 127.0.0.1 (till-a)" in shell.run("groups", "delete", group, "--yes", code=1)
        assert committed(shell, group) == [4]


def test_a_group_is_deleted(shell: Shell, filled: str, group: str) -> None:
    commit(shell, group, filled, 5)
    assert "nothing was deleted" in shell.run("groups", "delete", group, stdin="n\n", code=1)
    assert shell.run("groups", "delete", group, "--yes") == f"Deleted group '{group}'.\n"
    assert f"there is no group '{group}'" in shell.run("groups", "describe", group, code=1)
    assert shell.run("groups", "delete", group, "-y", "--if-exists") == f"There is no group '{group}'.\n"


def test_an_unknown_group_comes_with_the_nearest_name(shell: Shell, filled: str, group: str) -> None:
    commit(shell, group, filled, 5)
    for arguments in (["describe"], ["offsets"], ["members"], ["delete", "-y"], ["reset", "--to-latest"]):
        error = shell.run("groups", *arguments, f"{group}x", code=1)
        assert f"there is no group '{group}x' at " in error
        assert f"'{group}'" in error.splitlines()[-1]


def test_where_a_group_is_goes_to_a_file_and_back(
    shell: Shell, filled: str, group: str, tmp_path: Path
) -> None:
    commit(shell, group, filled, 5)
    lines = shell.run("groups", "reset", group, "--to-current", "--export")
    assert lines == f"{filled},0,5\n"
    saved = tmp_path / "offsets.csv"
    saved.write_text(lines)
    shell.run("groups", "reset", group, "--to-latest", "--execute")
    shell.run("groups", "reset", group, "--from-file", str(saved), "--execute")
    assert committed(shell, group) == [5]
    assert "omit --execute" in shell.run(
        "groups", "reset", group, "--to-current", "--export", "--execute", code=2
    )


def test_current_is_the_end_where_nothing_was_committed(shell: Shell, filled: str, group: str) -> None:
    shell.run("groups", "reset", group, "--topic", filled, "--to-current", "--execute")
    assert committed(shell, group) == [RECORD_COUNT]


def test_several_groups_are_reset_at_once(shell: Shell, filled: str, group: str, tmp_path: Path) -> None:
    other = f"{group}-b"
    commit(shell, group, filled, 5)
    commit(shell, other, filled, 7)
    exported = shell.run("groups", "reset", group, other, "--to-current", "--export")
    assert exported == f"{group},{filled},0,5\n{other},{filled},0,7\n"
    with member(shell, f"{group}-live", filled) as live:
        live.commit(offsets=[TopicPartition(filled, 0, 4)], asynchronous=False)
        done = shell.finished(
            "groups", "reset", "--all-groups", "--topic", filled, "--to-earliest", "--execute", "-o", "csv"
        )
        # One of them was skipped, which is not a success.
        assert done.returncode == 1
        assert f"Group '{group}-live' has 1 live member" in done.stderr and "It is skipped" in done.stderr
        assert done.stdout.splitlines() == [
            "group,topic,partition,old_offset,new_offset,note",
            f"{group},{filled},0,5,0,",
            f"{other},{filled},0,7,0,",
        ]
        assert committed(shell, f"{group}-live") == [4]
    saved = tmp_path / "offsets.csv"
    saved.write_text(exported)
    shell.run("groups", "reset", group, other, "--from-file", str(saved), "--execute")
    assert (committed(shell, group), committed(shell, other)) == ([5], [7])


def test_the_registrys_election_is_no_group_of_readers(shell: Shell, filled: str, group: str) -> None:
    commit(shell, group, filled, 5)
    commit(shell, "schema-registry", filled, 5)
    assert re.search(r"^schema-registry .* yes$", shell.run("groups", "list"), re.MULTILINE)
    told = {each["group"]: each["internal"] for each in json.loads(shell.run("groups", "list", "-o", "json"))}
    assert told["schema-registry"] is True and told[group] is False
    everybody = shell.run("groups", "reset", "--all-groups", "--topic", filled, "--to-latest", "-o", "csv")
    assert group in everybody and "schema-registry" not in everybody
    shell.run("groups", "delete", "schema-registry", "-y")


def test_all_groups_are_described(shell: Shell, filled: str, group: str) -> None:
    for name in (group, f"{group}-b"):
        commit(shell, name, filled, 5)
    described = [each["group"] for each in json.loads(shell.run("groups", "describe", "-o", "json"))]
    assert {group, f"{group}-b"} <= set(described)


def test_offsets_of_a_topic_are_forgotten(shell: Shell, filled: str, group: str, topic: str) -> None:
    commit(shell, group, filled, 5)
    error = shell.run("groups", "delete-offsets", group, f"{filled}:7", "-y", code=1)
    assert f"group '{group}' has no committed offset for '{filled}' partition 7" in error
    assert "nothing was deleted" in shell.run("groups", "delete-offsets", group, filled, stdin="n\n", code=1)
    said = shell.run("groups", "delete-offsets", group, filled, "-y")
    assert said == f"Deleted 1 offset of group '{group}' in '{filled}'.\n"
    assert "no committed offset" in shell.run("groups", "delete-offsets", group, filled, "-y", code=1)


def test_offsets_of_a_topic_that_is_being_read_stay(shell: Shell, filled: str, group: str) -> None:
    with member(shell, group, filled) as consumer:
        consumer.commit(offsets=[TopicPartition(filled, 0, 4)], asynchronous=False)
        error = shell.run("groups", "delete-offsets", group, filled, "-y", code=1)
        assert "a live member of the group is subscribed to this topic" in error
        assert committed(shell, group) == [4]
