"""The trees of subscriptions and of retained messages find what a comparison of each filter finds."""

from hypothesis import given
from hypothesis import strategies as st

from moldau.proxies.mqtt.codec.topics import filter_problem, matches
from moldau.proxies.mqtt.session.messages import Message
from moldau.proxies.mqtt.session.retained import RetainedMessages
from moldau.proxies.mqtt.session.subscriptions import Subscription, SubscriptionTree

levels = st.sampled_from(["a", "b", "", "$x"])
names = st.lists(levels, min_size=1, max_size=4).map("/".join).filter(bool)
filters = (
    st.lists(st.sampled_from(["a", "b", "", "$x", "+", "#"]), min_size=1, max_size=4)
    .map("/".join)
    .filter(lambda text: filter_problem(text) is None)
)


@given(
    st.lists(st.tuples(filters, st.booleans(), st.integers(0, 2)), max_size=25), st.lists(names, max_size=8)
)
def test_subscriptions(steps: list[tuple[str, bool, int]], topics: list[str]) -> None:
    tree: SubscriptionTree[int] = SubscriptionTree()
    plain: dict[tuple[int, str], Subscription] = {}
    for text, is_added, subscriber in steps:
        if is_added:
            plain[subscriber, text] = Subscription(text, subscriber)
            tree.add(subscriber, plain[subscriber, text])
        else:
            plain.pop((subscriber, text), None)
            tree.remove(subscriber, text)
        for topic in topics:
            wanted = {
                (subscriber, one.filter)
                for (subscriber, text), one in plain.items()
                if matches(text.split("/"), topic)
            }
            found = {(who, one.filter) for who, several in tree.matching(topic) for one in several}
            assert found == wanted
    assert tree.count == len(plain)
    for subscriber, text in list(plain):
        tree.remove(subscriber, text)
    assert not tree._root.below


@given(st.lists(st.tuples(names, st.booleans()), max_size=25), st.lists(filters, max_size=8))
def test_retained_messages(steps: list[tuple[str, bool]], wanted: list[str]) -> None:
    tree, plain = RetainedMessages(), dict[str, Message]()
    for topic, is_kept in steps:
        message = Message(topic, b"x" if is_kept else b"")
        tree.put(message)
        plain.pop(topic, None)
        if is_kept:
            plain[topic] = message
        assert tree.count == len(plain)
        assert tree.get(topic) is plain.get(topic)
        for text in wanted:
            expected = {name for name in plain if matches(text.split("/"), name)}
            assert {one.topic for one in tree.matching(text)} == expected
    for topic in list(plain):
        tree.remove(topic)
    assert not tree._root.below


ONE, TWO, THREE = (Message("a", payload) for payload in (b"1", b"2", b"3"))


def test_a_retained_message_is_found_while_it_is_written() -> None:
    retained = RetainedMessages()
    write = retained.begin(ONE)
    assert retained.get("a") is ONE
    write.placed(7)
    write.settle(None)
    assert retained.get("a") is ONE
    retained.take("a", THREE, 7)
    assert retained.get("a") is THREE
    assert retained.count == 1


def test_a_retained_message_that_kafka_refuses_leaves_the_one_before() -> None:
    retained = RetainedMessages()
    retained.begin(ONE).settle("refused")
    assert retained.get("a") is None
    assert retained.count == 0
    retained.take("a", ONE, 0)
    retained.begin(Message("a", b"")).settle("refused")
    assert retained.get("a") is ONE
    write = retained.begin(TWO)
    newest = retained.begin(THREE)
    write.settle("refused")
    assert retained.get("a") is THREE
    newest.settle("refused")
    assert retained.get("a") is ONE


def test_the_order_of_the_records_counts_between_proxies() -> None:
    """Another proxy's record before the own one is shown only before that, one after it stays."""
    retained = RetainedMessages()
    write = retained.begin(TWO)
    write.placed(5)
    retained.take("a", ONE, 4)
    assert retained.get("a") is TWO
    retained.take("a", TWO, 5)
    assert retained.get("a") is TWO
    retained.take("a", THREE, 6)
    # The transaction's end is known only now.
    write.settle(None)
    assert retained.get("a") is THREE
    retained.take("a", None, 7)
    assert (retained.get("a"), retained.count) == (None, 0)


def test_a_record_that_compaction_has_removed_is_not_waited_for() -> None:
    retained = RetainedMessages()
    write = retained.begin(ONE)
    write.placed(5)
    write.settle(None)
    retained.take("a", TWO, 9)
    assert retained.get("a") is TWO
    write = retained.begin(ONE)
    write.placed(11)
    write.settle(None)
    retained.take_end(12)
    assert retained.get("a") is TWO
    assert not retained._writes and not retained._stored
