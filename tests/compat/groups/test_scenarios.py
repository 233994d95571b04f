"""The four ways to share four partitions: one member, two, more members than partitions, several groups."""

from collections.abc import Callable

import pytest

from compat.client import Record
from compat.confluent_client import ConfluentClient
from compat.groups.conftest import BOTH_PROTOCOLS, OpenMember
from compat.groups.member import wait_for_assignments, wait_for_records, wait_for_sizes

pytestmark = pytest.mark.parametrize("library_of", BOTH_PROTOCOLS, indirect=True)

PARTITIONS = 4
RECORDS = 40


def fill(confluent: ConfluentClient, topic: str, start: int = 0) -> list[bytes]:
    values = [b"%d" % number for number in range(start, start + RECORDS)]
    confluent.produce(
        topic, [Record(value, partition=number % PARTITIONS) for number, value in enumerate(values)]
    )
    return values


def test_one_member_reads_all(
    new_topic: Callable[..., str], open_member: OpenMember, confluent: ConfluentClient
) -> None:
    topic = new_topic(PARTITIONS)
    values = fill(confluent, topic)
    member = open_member("c1")
    wait_for_assignments({member: [(topic, number) for number in range(PARTITIONS)]})
    got = wait_for_records([member], RECORDS)
    assert sorted(record.value for record in got) == sorted(values)


def test_two_members_share(
    new_topic: Callable[..., str], open_member: OpenMember, confluent: ConfluentClient
) -> None:
    topic = new_topic(PARTITIONS)
    places = [(topic, number) for number in range(PARTITIONS)]
    members = [open_member("c1"), open_member("c2")]
    wait_for_sizes(members, [2, 2], places)
    values = fill(confluent, topic)
    got = wait_for_records(members, RECORDS)
    assert sorted(record.value for record in got) == sorted(values)
    for member in members:
        assert {record.place for record in member.got} == member.assignment


def test_a_second_member_takes_half(
    new_topic: Callable[..., str], open_member: OpenMember, confluent: ConfluentClient
) -> None:
    topic = new_topic(PARTITIONS)
    places = [(topic, number) for number in range(PARTITIONS)]
    first = open_member("c1")
    wait_for_assignments({first: places})
    second = open_member("c2")
    wait_for_sizes([first, second], [2, 2], places)
    second.leave()
    wait_for_assignments({first: places})


def test_more_members_than_partitions(
    new_topic: Callable[..., str], open_member: OpenMember, confluent: ConfluentClient
) -> None:
    """Two of six have nothing, until somebody who has something leaves."""
    topic = new_topic(PARTITIONS)
    places = [(topic, number) for number in range(PARTITIONS)]
    members = [open_member(f"c{number}") for number in range(1, 7)]
    wait_for_sizes(members, [1, 1, 1, 1, 0, 0], places)
    busy = next(member for member in members if member.assignment)
    busy.leave()
    members.remove(busy)
    wait_for_sizes(members, [1, 1, 1, 1, 0], places)
    values = fill(confluent, topic)
    got = wait_for_records([member for member in members if member.assignment], RECORDS)
    assert sorted(record.value for record in got) == sorted(values)


def test_several_groups_read_the_same(
    new_topic: Callable[..., str], open_member: OpenMember, confluent: ConfluentClient, group: str
) -> None:
    topic = new_topic(PARTITIONS)
    places = [(topic, number) for number in range(PARTITIONS)]
    one = [open_member("c1", of=f"{group}-1"), open_member("c2", of=f"{group}-1")]
    other = [open_member("c1", of=f"{group}-2")]
    wait_for_sizes(one, [2, 2], places)
    wait_for_sizes(other, [4], places)
    values = fill(confluent, topic)
    for members in (one, other):
        assert sorted(record.value for record in wait_for_records(members, RECORDS)) == sorted(values)
    one[0].commit({place: (1, "") for place in one[0].assignment})
    assert other[0].committed(places) == {}
