"""What a follower still has to tell its leader."""

from moldau.cluster.replication.follower_session import EPOCH_MAX, NEW_SESSION, FetchPosition, FollowerSession
from moldau.core.ids import TopicId

TOPIC = TopicId(b"t" * 16)
ONE, OTHER = (TOPIC, 1), (TOPIC, 2)
FROM_START = FetchPosition(leader_epoch=1, offset=0, last_epoch=-1, start_offset=0)


def test_what_was_told_is_not_told_again() -> None:
    asked = FollowerSession()
    assert asked.tell(ONE, FROM_START)
    assert not asked.tell(ONE, FROM_START)
    assert asked.tell(ONE, FROM_START._replace(offset=5))
    assert asked.tell(OTHER, FROM_START)
    assert asked.told(ONE) == FROM_START._replace(offset=5)


def test_what_is_wanted_no_more_is_told_once_and_may_be_wanted_again() -> None:
    asked = FollowerSession()
    assert not asked.tell(ONE, None)
    asked.tell(ONE, FROM_START)
    assert asked.tell(ONE, None)
    assert not asked.tell(ONE, None)
    assert asked.told(ONE) is None
    assert asked.tell(ONE, FROM_START)


def test_a_session_goes_on_from_answer_to_answer() -> None:
    asked = FollowerSession()
    assert asked.is_new
    for epoch in (1, 2, 3):
        asked.answered(77)
        assert (asked.session_id, asked.epoch) == (77, epoch)
    asked.epoch = EPOCH_MAX
    asked.answered(77)
    assert asked.epoch == 1


def test_a_leader_that_keeps_no_session_is_told_everything_each_time() -> None:
    asked = FollowerSession()
    asked.tell(ONE, FROM_START)
    asked.answered(0)
    assert asked.is_new
    assert asked.told(ONE) == FROM_START, "its answer is still to be taken"
    asked.begin()
    assert asked.tell(ONE, FROM_START)


def test_a_new_session_begins_from_nothing() -> None:
    asked = FollowerSession()
    asked.tell(ONE, FROM_START)
    asked.answered(77)
    asked.begin()
    assert (asked.session_id, asked.epoch) == (0, NEW_SESSION)
    assert asked.tell(ONE, FROM_START)
