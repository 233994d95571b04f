"""A group goes on without members that leave, that die or that stop polling."""

from collections.abc import Callable

import pytest

from compat.client import ClientFailure
from compat.groups.conftest import BOTH_PROTOCOLS, OpenMember
from compat.groups.member import wait_for_assignments, wait_for_sizes
from compat.groups.waiting import wait_until

PARTITIONS = 4
REFUSALS = {
    "CommitFailedException",
    "UNKNOWN_MEMBER_ID",
    "ILLEGAL_GENERATION",
    "_MAX_POLL_EXCEEDED",
    "_STATE",
}
"""What a commit of an expelled member fails with: the Java client and librdkafka have words of their own."""


@pytest.mark.parametrize("library_of", BOTH_PROTOCOLS, indirect=True)
def test_a_member_that_leaves_is_gone_at_once(new_topic: Callable[..., str], open_member: OpenMember) -> None:
    topic = new_topic(PARTITIONS)
    places = [(topic, number) for number in range(PARTITIONS)]
    # Longer than the test waits.
    patient = {"session_timeout_ms": "600000", "max_poll_interval_ms": "600000"}
    members = [open_member("c1", **patient), open_member("c2", **patient)]
    wait_for_sizes(members, [2, 2], places)
    members[1].leave()
    wait_for_assignments({members[0]: places})


@pytest.mark.parametrize("library_of", BOTH_PROTOCOLS, indirect=True)
def test_a_member_that_stops_polling_is_expelled(
    new_topic: Callable[..., str], open_member: OpenMember
) -> None:
    """Though it heartbeats; and it comes back when it polls again."""
    topic = new_topic(PARTITIONS)
    places = [(topic, number) for number in range(PARTITIONS)]
    settings = {"session_timeout_ms": "2000", "max_poll_interval_ms": "2000"}
    members = [open_member("c1", **settings), open_member("c2", **settings)]
    wait_for_sizes(members, [2, 2], places)
    had = members[1].assignment
    members[1].stop_polling()
    wait_until(lambda: members[0].assignment == set(places), "the other has everything")
    try:
        members[1].commit({place: (1, "") for place in had})
    except ClientFailure as refusal:
        assert refusal.code in REFUSALS
    else:
        raise AssertionError("an expelled member could commit")
    assert members[0].committed(places) == {}
    # A poll that raises ends the driver's polling; an application would poll on.
    wait_for_sizes(members, [2, 2], places, meanwhile=members[1].poll_again)
