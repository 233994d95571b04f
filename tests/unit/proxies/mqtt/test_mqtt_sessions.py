"""Sessions without sockets or Kafka: their stored form, their window, what they have to read."""

import orjson
from hypothesis import given
from hypothesis import strategies as st

from moldau.proxies.mqtt.codec.packets import Will
from moldau.proxies.mqtt.codec.properties import Property
from moldau.proxies.mqtt.session.messages import Message, Partition, Source, retained_source
from moldau.proxies.mqtt.session.outgoing import PACKET_ID_MAX, Stage, Window
from moldau.proxies.mqtt.session.session import Session, Waiting
from moldau.proxies.mqtt.session.subscriptions import Subscription

ONE, TWO = Partition("mqtt", 0), Partition("mqtt", 1)
MESSAGE = Message("a/b", b"x", 1)


def session(name: str = "keeper") -> Session:
    return Session(name, 600, 10)


def restored(stored: Session, live: dict[Partition, int]) -> Session:
    found = session(stored.client_id)
    found.restore_profile(stored.profile(1_000))
    found.restore_flow(stored.flow(live))
    return found


def test_a_session_is_the_same_after_it_was_stored() -> None:
    one = session()
    one.subscribe("a/#", Subscription("a/#", 2, True, True, 7))
    one.subscribe("$share/g/x/y", Subscription("x/y", 1, group="g"))
    one.will = Will("w", b"\0\xff", 1, True, {9: b"\0\xfe", 38: [("a", "b")], 3: "text", 24: 5})
    one.user = "User:alice"
    one.incoming = {5: True, 9: True}
    one.is_behind = False
    one.ahead = {TWO: 60}
    one.window.start(MESSAGE, 1, Source(ONE, 3)).stage = Stage.SENT
    one.window.start(MESSAGE, 2, Source(ONE, 4)).stage = Stage.RELEASED
    two = restored(one, {ONE: 10, TWO: 50})
    assert two.subscriptions == one.subscriptions
    assert (two.has_no_local, two.has_shared, two.has_plain) == (True, True, True)
    assert two.will == one.will
    assert two.user == one.user
    assert two.incoming == one.incoming
    assert two.positions == {ONE: 10, TWO: 60}
    assert [(e.packet_id, e.qos, e.source, e.stage) for e in two.window] == [
        (1, 1, Source(ONE, 3), Stage.SENT),
        (2, 2, Source(ONE, 4), Stage.RELEASED),
    ]
    assert (two.expiry_s, two.ended_ms) == (600, 1_000)


def test_a_session_stored_before_there_were_users_has_none() -> None:
    profile = orjson.loads(session().profile(1_000))
    del profile["user"]
    found = session()
    found.restore_profile(orjson.dumps(profile))
    assert found.belongs_to(None)
    assert found.belongs_to("User:alice")
    found.user = "User:alice"
    assert not found.belongs_to(None)
    assert not found.belongs_to("User:bob")


def test_what_was_read_ahead_does_not_hold_a_session_back() -> None:
    one = session()
    one.is_behind = False
    one.ahead = {ONE: 5, TWO: 5}
    assert restored(one, {ONE: 4, TWO: 6}).positions == {ONE: 5, TWO: 6}
    # A partition the live reader does not know yet keeps its position too.
    assert restored(one, {}).positions == {ONE: 5, TWO: 5}
    one.leave_live({ONE: 4, TWO: 6})
    assert one.positions == {ONE: 5, TWO: 6}


def test_what_waits_is_read_again() -> None:
    one = session()
    one.subscribe("a", Subscription("a", 1))
    one.is_behind = False
    one.waiting.append(Waiting(MESSAGE, 1, Source(ONE, 7), False, "", ()))
    one.waiting.append(Waiting(MESSAGE, 1, retained_source("a"), True, "a", ()))
    live = {ONE: 9, TWO: 3}
    assert restored(one, live).positions == {ONE: 7, TWO: 3}
    one.leave_live(live)
    assert one.positions == {ONE: 7, TWO: 3}
    assert [waiting.retained_topic for waiting in one.waiting] == ["a"]
    assert one.starts(live) == {ONE: 7, TWO: 3}


def test_a_session_that_missed_nothing_reads_nothing() -> None:
    one = session()
    one.subscribe("a", Subscription("a", 1))
    one.is_behind = False
    live = {ONE: 9}
    one.leave_live(live)
    assert one.starts(live) == {}
    assert one.starts({ONE: 9, TWO: 4}) == {ONE: 9, TWO: 0}  # a partition that appeared meanwhile
    assert one.starts({ONE: 2}) == {ONE: 9}  # further than the live reader: that is looked into


def test_messages_in_flight_are_read_again() -> None:
    one = session()
    one.subscribe("a", Subscription("a", 1))
    one.is_behind = False
    one.window.start(MESSAGE, 1, Source(ONE, 2)).stage = Stage.SENT
    one.window.start(MESSAGE, 2, Source(TWO, 1)).stage = Stage.RELEASED
    live = {ONE: 9, TWO: 4}
    one.leave_live(live)
    one.forget_messages()
    assert one.starts(live) == {ONE: 2, TWO: 4}


def test_a_shared_message_of_qos_1_is_not_stored() -> None:
    one = session()
    one.window.start(MESSAGE, 1, Source(ONE, 2)).share = object()
    one.window.start(MESSAGE, 2, Source(ONE, 3)).share = object()
    assert [entry.source.offset for entry in restored(one, {}).window] == [3]


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 40)), max_size=300))
def test_identifiers_in_flight_are_unique(steps: list[tuple[bool, int]]) -> None:
    window = Window(30)
    open_ids: list[int] = []
    for number, (starts, choice) in enumerate(steps):
        if starts and window.has_room:
            entry = window.start(MESSAGE, 1, Source(ONE, number))
            assert entry.packet_id not in open_ids and 1 <= entry.packet_id <= PACKET_ID_MAX
            open_ids.append(entry.packet_id)
        elif open_ids:
            packet_id = open_ids.pop(choice % len(open_ids))
            finished = window.finish(packet_id)
            assert finished is not None and finished.source not in window.by_source
        assert len(window) == len(open_ids) <= 30


def test_messages_expire() -> None:
    message = Message("a", b"", properties={Property.MESSAGE_EXPIRY: 10}, published_ms=1_000)
    assert message.expires_in_s(1_000) == 10
    assert message.expires_in_s(4_500) == 7
    assert message.expires_in_s(11_000) == 0
    assert MESSAGE.expires_in_s(1 << 50) is None
