"""A member that subscribes by a pattern gets the topics that it may describe, as with Apache Kafka."""

from typing import Any

import pytest

from access_requests import made
from compat.access.sides import TOPIC, Side
from compat.server_process import wait_until
from moldau.protocol.messages.groups.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest

pytestmark = pytest.mark.java


class Member:
    def __init__(self, side: Side, user: str) -> None:
        self._wire = side.users[user]
        self._group = f"pattern-{user}"
        self._epoch = 0
        self.topic_ids: set[bytes] = set()

    def beat(self) -> int:
        joining: dict[str, Any] = {}
        if self._epoch == 0:
            joining = {
                "rebalance_timeout_ms": 60_000,
                "subscribed_topic_regex": f"{TOPIC}|other",
                "topic_partitions": [],
            }
        body = {"group_id": self._group, "member_id": "one", "member_epoch": self._epoch, **joining}
        answer = self._wire.call(made(ConsumerGroupHeartbeatRequest, 1, body), 1)
        self._epoch = answer.member_epoch
        if answer.assignment is not None:
            self.topic_ids = {bytes(each.topic_id) for each in answer.assignment.topic_partitions}
        return int(answer.error_code)


def test_patterns_find_what_may_be_described(sides: tuple[Side, Side]) -> None:
    for side in sides:
        sees_all = Member(side, "everything")

        def has_joined(member: Member = sees_all) -> bool:
            assert member.beat() == 0
            return bool(member.topic_ids)

        wait_until(has_joined, "the pattern is resolved")
        assert sees_all.topic_ids == {side.topic_ids[TOPIC]}
        for user in ("only-read-group", "all-but-describe-topic"):
            sees_nothing = Member(side, user)
            for _ in range(5):
                assert sees_nothing.beat() == 0
            assert sees_nothing.topic_ids == set(), user
