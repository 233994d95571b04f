"""Members with a `group.instance.id` (KIP-345): they may go away for less than a session without a rebalance."""

from collections.abc import Callable

import pytest

from compat.groups.conftest import BOTH_PROTOCOLS, OpenMember
from compat.groups.java_admin import JavaAdmin
from compat.groups.member import wait_for_assignments, wait_for_sizes
from compat.groups.waiting import wait_until

PARTITIONS = 4
FENCED = {"FENCED_INSTANCE_ID", "_FATAL"}
"""librdkafka tells only that nothing can be done about it."""


@pytest.mark.parametrize("library_of", BOTH_PROTOCOLS, indirect=True)
def test_a_restart_causes_no_rebalance(new_topic: Callable[..., str], open_member: OpenMember) -> None:
    topic = new_topic(PARTITIONS)
    places = [(topic, number) for number in range(PARTITIONS)]
    patient = {"session_timeout_ms": "300000"}
    staying = open_member("c1", group_instance_id="one", **patient)
    leaving = open_member("c2", group_instance_id="two", **patient)
    wait_for_sizes([staying, leaving], [2, 2], places)
    seen, had, identity = list(staying.events), leaving.assignment, leaving.member_id
    leaving.leave()
    back = open_member("c2", group_instance_id="two", **patient)
    wait_for_assignments({back: had})
    assert staying.events == seen
    assert back.member_id not in ("", identity)


def test_after_a_session_its_partitions_go_to_others(
    new_topic: Callable[..., str], open_member: OpenMember
) -> None:
    topic = new_topic(PARTITIONS)
    places = [(topic, number) for number in range(PARTITIONS)]
    staying = open_member("c1", group_instance_id="one", session_timeout_ms="1500")
    leaving = open_member("c2", group_instance_id="two", session_timeout_ms="1500")
    wait_for_sizes([staying, leaving], [2, 2], places)
    leaving.leave()
    wait_for_assignments({staying: places})


def test_a_second_with_the_same_id_fences_the_first(
    new_topic: Callable[..., str], open_member: OpenMember
) -> None:
    topic = new_topic(PARTITIONS)
    places = [(topic, number) for number in range(PARTITIONS)]
    first = open_member("c1", group_instance_id="one")
    wait_for_assignments({first: places})
    second = open_member("c2", group_instance_id="one")
    wait_for_assignments({second: places})
    wait_until(lambda: FENCED.intersection(first.failures) != set(), "the first is told")


@pytest.mark.java
def test_an_admin_may_remove_one(
    new_topic: Callable[..., str], open_member: OpenMember, java_admin: JavaAdmin, group: str
) -> None:
    topic = new_topic(PARTITIONS)
    places = [(topic, number) for number in range(PARTITIONS)]
    members = [open_member("c1", group_instance_id="one"), open_member("c2", group_instance_id="two")]
    wait_for_sizes(members, [2, 2], places)
    described = java_admin.describe_group(group)
    assert {member["instance"] for member in described["members"].values()} == {"one", "two"}
    members[1].leave()
    assert java_admin.describe_group(group)["members"].keys() == {"c1", "c2"}
    java_admin.remove_static_member(group, "two")
    wait_for_assignments({members[0]: places})
    assert java_admin.describe_group(group)["members"].keys() == {"c1"}
