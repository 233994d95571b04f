"""Which replicas a throttled move names: all that are there at the leader's side, those that come at the other."""

from moldau.cli.commands.partitions.throttles import FOLLOWERS, LEADERS, throttled_replicas
from moldau.core.ids import TopicPartition


def test_leaders_are_slowed_where_replicas_are_and_followers_where_they_come() -> None:
    plan = {
        TopicPartition("t", 1): [2, 3],
        TopicPartition("t", 0): [1, 2],
        TopicPartition("u", 0): [1],
    }
    present = {
        TopicPartition("t", 0): [1],
        TopicPartition("t", 1): [1, 2],
        TopicPartition("u", 0): [1, 2],
    }
    assert throttled_replicas(plan, present) == {
        "t": {LEADERS: "0:1,1:1,1:2", FOLLOWERS: "0:2,1:3"},
        "u": {LEADERS: "0:1,0:2"},
    }
