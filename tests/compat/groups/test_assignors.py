"""Who gets what: topics A and B of two partitions each, and three members. The assignors are the clients'; the broker
picks the one they all know, has one member apply it and hands the outcome round."""

from collections.abc import Mapping

import pytest

from compat.conftest import JAVA
from compat.groups.conftest import OpenMember
from compat.groups.java_admin import JavaAdmin
from compat.groups.member import Event, Library, Member, Place, wait_for_assignments, wait_for_sizes
from compat.groups.waiting import wait_until

NAMES = ("c1", "c2", "c3")
BEFORE = {
    "range": {"c1": {"a0", "b0"}, "c2": {"a1", "b1"}, "c3": set()},
    "roundrobin": {"c1": {"a0", "b1"}, "c2": {"a1"}, "c3": {"b0"}},
    "sticky": {"c1": {"a0", "b1"}, "c2": {"a1"}, "c3": {"b0"}},
    "cooperative-sticky": {"c1": {"a0", "b1"}, "c2": {"a1"}, "c3": {"b0"}},
}
AFTER = {
    "range": {"c1": {"a0", "b0"}, "c3": {"a1", "b1"}},
    "roundrobin": {"c1": {"a0", "b0"}, "c3": {"a1", "b1"}},
    # Only what c2 had moves.
    "sticky": {"c1": {"a0", "b1"}, "c3": {"a1", "b0"}},
    "cooperative-sticky": {"c1": {"a0", "b1"}, "c3": {"a1", "b0"}},
}
"""When c2 has left."""

Vector = Mapping[str, set[str]]


class Trio:
    """Three members that subscribe to both topics."""

    def __init__(self, open_member: OpenMember, topics: tuple[str, str], assignor: str) -> None:
        self._topics = topics
        self.members: dict[str, Member] = {
            name: open_member(name, topics=list(topics), partition_assignment_strategy=assignor)
            for name in NAMES
        }

    def places(self, written: set[str]) -> frozenset[Place]:
        """Such as a0: partition 0 of topic A."""
        return frozenset((self._topics["ab".index(place[0])], int(place[1:])) for place in written)

    def wait_for(self, vector: Vector) -> None:
        wait_for_assignments({self.members[name]: self.places(wanted) for name, wanted in vector.items()})


@pytest.mark.parametrize("strategy", ["range", "roundrobin", "cooperative-sticky"])
def test_before_and_after_a_member_leaves(
    open_member: OpenMember, library: Library, two_topics: tuple[str, str], strategy: str
) -> None:
    trio = Trio(open_member, two_topics, library.assignors[strategy])
    trio.wait_for(BEFORE[strategy])
    trio.members["c2"].leave()
    trio.wait_for(AFTER[strategy])


@pytest.mark.parametrize("library_of", [JAVA], indirect=True)
def test_sticky_before_and_after_a_member_leaves(
    open_member: OpenMember, library: Library, two_topics: tuple[str, str]
) -> None:
    """librdkafka has it in its cooperative form only."""
    test_before_and_after_a_member_leaves(open_member, library, two_topics, "sticky")


def test_an_eager_rebalance_takes_everything_back_first(
    open_member: OpenMember, library: Library, two_topics: tuple[str, str]
) -> None:
    trio = Trio(open_member, two_topics, library.assignors["range"])
    trio.wait_for(BEFORE["range"])
    seen = len(trio.members["c1"].events)
    trio.members["c2"].leave()
    trio.wait_for(AFTER["range"])
    everything = trio.places({"a0", "b0"})
    assert trio.members["c1"].events[seen:] == [Event("revoked", everything), Event("assigned", everything)]


def test_a_cooperative_rebalance_moves_only_what_must_move(
    open_member: OpenMember, library: Library, two_topics: tuple[str, str]
) -> None:
    """The rest is read on all the while (KIP-429)."""
    trio = Trio(open_member, two_topics, library.assignors["cooperative-sticky"])
    trio.wait_for(BEFORE["cooperative-sticky"])
    seen = {name: len(trio.members[name].events) for name in NAMES}
    trio.members["c2"].leave()
    trio.wait_for(AFTER["cooperative-sticky"])
    gained = {
        name: [event for event in trio.members[name].events[seen[name] :] if event.places]
        for name in ("c1", "c3")
    }
    assert gained == {"c1": [], "c3": [Event("assigned", trio.places({"a1"}))]}


def test_a_newcomer_gets_only_what_others_give_up(
    open_member: OpenMember, library: Library, two_topics: tuple[str, str]
) -> None:
    """Two generations: one in which c1 gives up, one in which c2 receives."""
    topics, assignor = list(two_topics), library.assignors["cooperative-sticky"]
    places = {(topic, number) for topic in topics for number in range(2)}
    first = open_member("c1", topics=topics, partition_assignment_strategy=assignor)
    wait_for_assignments({first: places})
    seen = len(first.events)
    second = open_member("c2", topics=topics, partition_assignment_strategy=assignor)
    wait_for_sizes([first, second], [2, 2], places)
    given_up = [event for event in first.events[seen:] if event.places]
    assert given_up == [Event("revoked", second.assignment)]


@pytest.mark.java
def test_the_strategy_all_members_know_is_chosen(
    open_member: OpenMember,
    library: Library,
    two_topics: tuple[str, str],
    java_admin: JavaAdmin,
    group: str,
) -> None:
    """A list of strategies allows a rolling change: the first that everybody has."""
    both = ",".join(library.assignors[name] for name in ("roundrobin", "range"))
    topics = list(two_topics)
    members = [
        open_member("c1", topics=topics, partition_assignment_strategy=both),
        open_member("c2", topics=topics, partition_assignment_strategy=library.assignors["range"]),
    ]
    wait_for_assignments(
        {members[0]: [(topic, 0) for topic in topics], members[1]: [(topic, 1) for topic in topics]}
    )
    assert java_admin.describe_group(group)["assignor"] == "range"


def test_no_common_strategy_is_refused(
    open_member: OpenMember, library: Library, two_topics: tuple[str, str]
) -> None:
    topics = list(two_topics)
    first = open_member("c1", topics=topics, partition_assignment_strategy=library.assignors["range"])
    wait_for_assignments({first: {(topic, number) for topic in topics for number in range(2)}})
    other = open_member("c2", topics=topics, partition_assignment_strategy=library.assignors["roundrobin"])
    wait_until(lambda: "INCONSISTENT_GROUP_PROTOCOL" in other.failures, "the second member is refused")
    assert len(first.assignment) == 4
