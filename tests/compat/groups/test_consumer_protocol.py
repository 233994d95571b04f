"""The consumer protocol (KIP-848): what the broker does that clients did before it.

What holds for both protocols is in the other files, which run with members of both.
"""

from collections.abc import Callable

import pytest

from compat.client import wait_for_topic
from compat.confluent_client import ConfluentClient
from compat.groups.conftest import JAVA_CONSUMER, OpenMember
from compat.groups.java_admin import CONSUMER_GROUPS, JavaAdmin
from compat.groups.member import Library, wait_for_assignments, wait_for_sizes
from compat.groups.waiting import wait_until

CONSUMER_PROTOCOL = ["confluent, consumer protocol", JAVA_CONSUMER]

pytestmark = pytest.mark.parametrize("library_of", CONSUMER_PROTOCOL, indirect=True)


def make_topic(client: ConfluentClient, name: str, partitions: int = 2) -> list[tuple[str, int]]:
    client.create_topic(name, partitions)
    wait_for_topic(client, name, partitions)
    return [(name, number) for number in range(partitions)]


def test_a_pattern_chooses_topics_as_they_come_and_go(
    topic: str, open_member: OpenMember, confluent: ConfluentClient
) -> None:
    one, two = make_topic(confluent, f"{topic}.one"), make_topic(confluent, f"{topic}.two")
    make_topic(confluent, f"{topic}.other")
    member = open_member("c1", topics=[f"^{topic}.(one|two|three)"])
    wait_for_assignments({member: one + two})
    three = make_topic(confluent, f"{topic}.three")
    wait_for_assignments({member: one + two + three})
    confluent.delete_topic(f"{topic}.two")
    wait_for_assignments({member: one + three})


def test_members_of_one_group_may_read_different_topics(
    topic: str, open_member: OpenMember, confluent: ConfluentClient
) -> None:
    one, two = make_topic(confluent, f"{topic}.one"), make_topic(confluent, f"{topic}.two")
    named = open_member("c1", topics=[f"{topic}.one"])
    pattern = open_member("c2", topics=[f"^{topic}.two"])
    wait_for_assignments({named: one, pattern: two})


def test_a_bad_pattern_is_refused(topic: str, open_member: OpenMember, library: Library) -> None:
    """RE2 knows no look-ahead."""
    if library.name == "confluent":
        pytest.skip("librdkafka looks at patterns itself")
    member = open_member("c1", topics=[f"^{topic}(?=x)"])
    wait_until(lambda: bool(member.failures), "the member is told")
    assert member.failures == ["INVALID_REGULAR_EXPRESSION"]


@pytest.mark.parametrize("assignor", ["range", "uniform"])
def test_the_broker_assigns(open_member: OpenMember, two_topics: tuple[str, str], assignor: str) -> None:
    """Range gives the same numbers of all topics to one member; uniform only counts."""
    topics = list(two_topics)
    places = [(topic, number) for topic in topics for number in range(2)]
    members = [
        open_member(name, topics=topics, group_remote_assignor=assignor) for name in ("c1", "c2", "c3", "c4")
    ]
    wait_for_sizes(members, [2, 2, 0, 0] if assignor == "range" else [1, 1, 1, 1], places)
    if assignor == "range":
        held = {member.assignment for member in members if member.assignment}
        assert held == {frozenset((topic, number) for topic in topics) for number in range(2)}


def test_an_assignor_the_broker_has_not(topic: str, open_member: OpenMember) -> None:
    member = open_member("c1", group_remote_assignor="sticky")
    wait_until(lambda: bool(member.failures), "the member is told")
    assert set(member.failures) <= {"UNSUPPORTED_ASSIGNOR", "_FATAL"}


def test_a_newcomer_gets_only_what_others_give_up(
    new_topic: Callable[..., str], open_member: OpenMember
) -> None:
    topic = new_topic(4)
    places = [(topic, number) for number in range(4)]
    first = open_member("c1")
    wait_for_assignments({first: places})
    second = open_member("c2")
    wait_for_sizes([first, second], [2, 2], places)
    given_up = [event for event in first.events if event.kind == "revoked" and event.places]
    assert frozenset().union(*(event.places for event in given_up)) == second.assignment


def test_a_topic_that_grows(
    new_topic: Callable[..., str], open_member: OpenMember, confluent: ConfluentClient
) -> None:
    topic = new_topic(1)
    member = open_member("c1")
    wait_for_assignments({member: [(topic, 0)]})
    confluent.grow_topic(topic, 3)
    wait_for_assignments({member: [(topic, number) for number in range(3)]})


def test_a_static_member_is_not_pushed_out(new_topic: Callable[..., str], open_member: OpenMember) -> None:
    """In the classic protocol it would be: here the second is refused while the first is there."""
    topic = new_topic(2)
    places = [(topic, number) for number in range(2)]
    first = open_member("c1", group_instance_id="one")
    wait_for_assignments({first: places})
    second = open_member("c2", group_instance_id="one")
    wait_until(lambda: bool(second.failures), "the second is told")
    assert set(second.failures) <= {"UNRELEASED_INSTANCE_ID", "_FATAL"}
    assert first.assignment == set(places)


@pytest.mark.java
def test_a_group_has_settings_of_its_own(
    new_topic: Callable[..., str], open_member: OpenMember, java_admin: JavaAdmin, group: str
) -> None:
    """A session of three seconds: what a static member had goes to the other soon after it has gone."""
    topic = new_topic(2)
    places = [(topic, number) for number in range(2)]
    java_admin.alter_group_config(group, "consumer.session.timeout.ms", "3000")
    staying = open_member("c1", group_instance_id="one")
    leaving = open_member("c2", group_instance_id="two")
    wait_for_sizes([staying, leaving], [1, 1], places)
    leaving.leave()
    wait_for_assignments({staying: places})


@pytest.mark.java
def test_seen_from_outside(
    new_topic: Callable[..., str], open_member: OpenMember, java_admin: JavaAdmin, group: str
) -> None:
    topic = new_topic(2)
    member = open_member("c1", group_instance_id="one")
    wait_for_assignments({member: [(topic, 0), (topic, 1)]})
    wait_until(lambda: java_admin.list_groups()[group] == "Stable", "the group is stable")
    described = java_admin.describe_group(group)
    assert (described["state"], described["type"], described["assignor"]) == ("Stable", "Consumer", "uniform")
    seen = described["members"]["c1"]
    assert (seen["id"], seen["instance"], seen["assignment"]) == (
        member.member_id,
        "one",
        {(topic, 0), (topic, 1)},
    )
    printed = java_admin.tool(CONSUMER_GROUPS, "--describe", "--group", group, "--members", "--verbose")
    assert "one" in printed
    assert f"{topic}:0,1" in printed
    assert "uniform" in java_admin.tool(CONSUMER_GROUPS, "--describe", "--group", group, "--state")
