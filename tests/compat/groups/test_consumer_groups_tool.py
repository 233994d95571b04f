"""Kafka's own `kafka-consumer-groups`."""

import time
from collections.abc import Callable, Iterator

import pytest

from compat.client import Record
from compat.confluent_client import ConfluentClient
from compat.groups.confluent_member import ConfluentLibrary
from compat.groups.java_admin import CONSUMER_GROUPS, JavaAdmin
from compat.groups.member import Member, wait_for_assignments
from compat.server_process import ServerProcess

pytestmark = pytest.mark.java

RECORDS = 10


@pytest.fixture
def read_topic(
    new_topic: Callable[..., str], confluent: ConfluentClient, java_admin: JavaAdmin, group: str
) -> str:
    """Of two partitions with ten records each, of which the group has read three and four."""
    topic = new_topic(2)
    hour_ago_ms = int((time.time() - 3600) * 1000)
    records = [
        Record(b"x", partition=partition, timestamp_ms=hour_ago_ms + number * 60_000)
        for number in range(RECORDS)
        for partition in range(2)
    ]
    confluent.produce(topic, records)
    java_admin.alter_group_offsets(group, {(topic, 0): (3, ""), (topic, 1): (4, "")})
    return topic


@pytest.fixture
def reader(broker: ServerProcess, read_topic: str, group: str) -> Iterator[Member]:
    member = ConfluentLibrary(broker.bootstrap).open("c1", group, [read_topic], {})
    wait_for_assignments({member: [(read_topic, 0), (read_topic, 1)]})
    yield member
    member.leave()


@pytest.fixture
def tool(java_admin: JavaAdmin) -> Callable[..., list[list[str]]]:
    def run(*arguments: str) -> list[list[str]]:
        """The words of each line it prints."""
        printed = java_admin.tool(CONSUMER_GROUPS, *arguments)
        return [line.split() for line in printed.splitlines() if line.strip()]

    return run


Tool = Callable[..., list[list[str]]]


def test_list(tool: Tool, read_topic: str, group: str) -> None:
    assert [group] in tool("--list")
    assert [group, "Empty"] in tool("--list", "--state")
    assert [group] not in tool("--list", "--state", "Stable")
    assert [group, "Classic"] in tool("--list", "--type")


def test_describe_an_empty_group(tool: Tool, read_topic: str, group: str) -> None:
    header, *rows = tool("--describe", "--group", group)
    assert header[:6] == ["GROUP", "TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG"]
    assert sorted(rows) == [
        [group, read_topic, "0", "3", "10", "7", "-", "-", "-"],
        [group, read_topic, "1", "4", "10", "6", "-", "-", "-"],
    ]


def test_describe_a_live_group(tool: Tool, read_topic: str, group: str, reader: Member) -> None:
    member_id = reader.member_id
    rows = tool("--describe", "--group", group)[1:]
    assert sorted(row[:7] for row in rows) == [
        [group, read_topic, "0", "3", "10", "7", member_id],
        [group, read_topic, "1", "4", "10", "6", member_id],
    ]
    assert {tuple(row[7:]) for row in rows} == {("/127.0.0.1", "c1")}
    (members,) = tool("--describe", "--group", group, "--members")[1:]
    assert members[:5] == [group, member_id, "/127.0.0.1", "c1", "2"]
    (state,) = tool("--describe", "--group", group, "--state")[1:]
    assert state[-3:] == ["range", "Stable", "1"]


@pytest.mark.parametrize(
    ("how", "offsets"),
    [
        (["--to-earliest"], (0, 0)),
        (["--to-latest"], (10, 10)),
        (["--to-current"], (3, 4)),
        (["--to-offset", "5"], (5, 5)),
        (["--shift-by", "2"], (5, 6)),
        (["--shift-by", "-100"], (0, 0)),
        (["--by-duration", "PT57M"], None),
        (["--to-datetime", "2001-01-01T00:00:00.000"], (0, 0)),
    ],
    ids=lambda value: "-".join(value).strip("-") if isinstance(value, list) else "",
)
def test_reset_offsets(
    tool: Tool,
    read_topic: str,
    group: str,
    java_admin: JavaAdmin,
    how: list[str],
    offsets: tuple[int, int] | None,
) -> None:
    before = java_admin.group_offsets(group)
    planned = tool("--reset-offsets", "--group", group, "--topic", read_topic, *how, "--dry-run")[1:]
    assert java_admin.group_offsets(group) == before
    done = tool("--reset-offsets", "--group", group, "--topic", read_topic, *how, "--execute")[1:]
    assert sorted(done) == sorted(planned)
    after = java_admin.group_offsets(group)
    assert {(row[1], int(row[2])): (int(row[3]), "") for row in done} == after
    if offsets is None:
        assert 0 < after[read_topic, 0][0] == after[read_topic, 1][0] < RECORDS
    else:
        assert after == {(read_topic, number): (offset, "") for number, offset in enumerate(offsets)}


def test_reset_is_refused_while_members_are_live(
    tool: Tool, read_topic: str, group: str, reader: Member, java_admin: JavaAdmin
) -> None:
    before = java_admin.group_offsets(group)
    refusal = tool("--reset-offsets", "--group", group, "--topic", read_topic, "--to-earliest", "--execute")
    assert "inactive" in " ".join(refusal[0])
    assert java_admin.group_offsets(group) == before


def test_delete_offsets(tool: Tool, read_topic: str, group: str, java_admin: JavaAdmin) -> None:
    rows = tool("--delete-offsets", "--group", group, "--topic", f"{read_topic}:0")
    assert [read_topic, "0", "Successful"] in rows
    assert java_admin.group_offsets(group) == {(read_topic, 1): (4, "")}


def test_delete(tool: Tool, java_admin: JavaAdmin, read_topic: str, group: str, reader: Member) -> None:
    def delete() -> str:
        return java_admin.tool(CONSUMER_GROUPS, "--delete", "--group", group)

    assert "NotEmptyException" in delete()
    reader.leave()
    assert "successful" in delete()
    assert [group] not in tool("--list")
    assert "GroupIdNotFoundException" in delete()
