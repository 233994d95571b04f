"""What a follower must still tell its leader in a fetch session."""

from moldau.cluster.replication.leader_session import EPOCH_MAX, NEW_SESSION, FetchPosition, LeaderSession
from moldau.core.ids import TopicId

TOPIC = TopicId(b"t" * 16)
ONE, OTHER = (TOPIC, 1), (TOPIC, 2)
FROM_START = FetchPosition(leader_epoch=1, offset=0, last_epoch=-1, start_offset=0)


def test_what_was_told_is_not_told_again() -> None:
    session = LeaderSession()
    assert session.update(ONE, FROM_START)
    assert not session.update(ONE, FROM_START)
    assert session.update(ONE, FROM_START._replace(offset=5))
    assert session.update(OTHER, FROM_START)
    assert session.position(ONE) == FROM_START._replace(offset=5)


def test_what_is_wanted_no_more_is_told_once_and_may_be_wanted_again() -> None:
    session = LeaderSession()
    assert not session.update(ONE, None)
    session.update(ONE, FROM_START)
    assert session.update(ONE, None)
    assert not session.update(ONE, None)
    assert session.position(ONE) is None
    assert session.update(ONE, FROM_START)


def test_a_session_goes_on_from_answer_to_answer() -> None:
    session = LeaderSession()
    assert session.is_new
    for epoch in (1, 2, 3):
        session.answered(77)
        assert (session.session_id, session.epoch) == (77, epoch)
    session.epoch = EPOCH_MAX
    session.answered(77)
    assert session.epoch == 1


def test_a_leader_that_keeps_no_session_is_told_everything_each_time() -> None:
    session = LeaderSession()
    session.update(ONE, FROM_START)
    session.answered(0)
    assert session.is_new
    assert session.position(ONE) == FROM_START, "its answer is still to be taken"
    session.begin()
    assert session.update(ONE, FROM_START)


def test_a_new_session_begins_from_nothing() -> None:
    session = LeaderSession()
    session.update(ONE, FROM_START)
    session.answered(77)
    session.begin()
    assert (session.session_id, session.epoch) == (0, NEW_SESSION)
    assert session.update(ONE, FROM_START)
