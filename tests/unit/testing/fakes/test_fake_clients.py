"""The fake clients compared with the real ones: every test here passes with both."""

import time
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import pytest
from confluent_kafka import (
    OFFSET_BEGINNING,
    OFFSET_END,
    OFFSET_INVALID,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)

from moldau.testing import FakeKafka, LocalCluster

PATIENCE_S = 60


class Kafka(Protocol):
    def create_topic(self, name: str, partitions: int = 1) -> str: ...

    def producer(self, **settings: Any) -> Any: ...

    def consumer(self, **settings: Any) -> Any: ...


class RealKafka:
    def __init__(self, cluster: LocalCluster) -> None:
        self._cluster = cluster

    def create_topic(self, name: str, partitions: int = 1) -> str:
        return self._cluster.create_topic(name, partitions=partitions)

    def producer(self, **settings: Any) -> Any:
        return Producer({**self._at(), **_dotted(settings)})

    def consumer(self, **settings: Any) -> Any:
        # Hears of topics and members quickly, since a test waits for it.
        quick = {"topic.metadata.refresh.interval.ms": 100, "heartbeat.interval.ms": 100}
        return Consumer({**self._at(), **quick, **_dotted(settings)})

    def _at(self) -> dict[str, Any]:
        return {"bootstrap.servers": self._cluster.bootstrap_servers, "log_level": 0}


class Fake:
    def __init__(self) -> None:
        self._kafka = FakeKafka()

    def create_topic(self, name: str, partitions: int = 1) -> str:
        return self._kafka.create_topic(name, partitions)

    def producer(self, **settings: Any) -> Any:
        return self._kafka.producer(_dotted(settings))

    def consumer(self, **settings: Any) -> Any:
        return self._kafka.consumer(_dotted(settings))


def _dotted(settings: dict[str, Any]) -> dict[str, Any]:
    return {key.replace("_", "."): value for key, value in settings.items()}


@pytest.fixture(params=["fake", pytest.param("real", marks=pytest.mark.slow)])
def kafka(request: pytest.FixtureRequest) -> Iterator[Kafka]:
    if request.param == "fake":
        yield Fake()
        return
    with LocalCluster() as cluster:
        yield RealKafka(cluster)


def reader(kafka: Kafka, **settings: Any) -> Any:
    return kafka.consumer(**{"group_id": "g", "auto_offset_reset": "earliest", **settings})


def taken(consumer: Any, count: int) -> list[Message]:
    """Returns `count` messages, including errors."""
    found: list[Message] = []
    deadline = time.monotonic() + PATIENCE_S
    while len(found) < count and time.monotonic() < deadline:
        message = consumer.poll(0.2)
        if message is not None:
            found.append(message)
    assert len(found) == count
    return found


def values(messages: list[Message]) -> list[bytes | None]:
    return [message.value() for message in messages]


def until(condition: Callable[[], bool], *polled: Any) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline
        for consumer in polled:
            consumer.poll(0.1)


def code_of(call: Callable[[], object]) -> int:
    with pytest.raises(KafkaException) as failure:
        call()
    return int(failure.value.args[0].code())


def produced(kafka: Kafka, topic: str, *contents: str, **settings: Any) -> None:
    producer = kafka.producer()
    for content in contents:
        producer.produce(topic, content, **settings)
    assert producer.flush(PATIENCE_S) == 0


def test_a_record_goes_there_and_back(kafka: Kafka) -> None:
    kafka.create_topic("orders")
    told: list[tuple[Any, ...]] = []
    producer = kafka.producer()
    an_hour_ago_ms = int(time.time() * 1000) - 3_600_000  # recent: retention looks at the log every second
    producer.produce(
        "orders",
        "2 apples",
        key="alice",
        headers={"till": "7", "none": None},
        timestamp=an_hour_ago_ms,
        on_delivery=lambda error, message: told.append(
            (error, message.topic(), message.partition(), message.offset(), message.key(), message.value())
        ),
    )
    assert producer.flush(PATIENCE_S) == 0 and len(producer) == 0
    assert told == [(None, "orders", 0, 0, b"alice", b"2 apples")]
    consumer = reader(kafka)
    consumer.subscribe(["orders"])
    [message] = taken(consumer, 1)
    assert message.error() is None
    assert (message.key(), message.value(), message.offset()) == (b"alice", b"2 apples", 0)
    assert message.headers() == [("till", b"7"), ("none", None)]
    assert message.timestamp() == (1, an_hour_ago_ms)
    consumer.close()


def test_content_must_be_bytes_or_text(kafka: Kafka) -> None:
    with pytest.raises(TypeError, match="a bytes-like object is required, not 'int'"):
        kafka.producer().produce("orders", 5)


def test_keys_go_where_librdkafka_puts_them(kafka: Kafka) -> None:
    kafka.create_topic("orders", 7)
    keys = ["alice", "bob", "carol", "dave", "", "a longer key than the others"]
    for partitioner in ("consistent", "murmur2"):
        placed: dict[bytes | None, int | None] = {}
        producer = kafka.producer(partitioner=partitioner)
        for key in keys:
            producer.produce(
                "orders",
                "x",
                key=key,
                on_delivery=lambda _, message, placed=placed: placed.update(
                    {message.key(): message.partition()}
                ),
            )
        producer.flush(PATIENCE_S)
        expected = [5, 2, 5, 5, 0, 5] if partitioner == "consistent" else [1, 5, 1, 0, 2, 5]
        assert [placed.get(key.encode(), placed.get(None)) for key in keys] == expected


def test_a_partition_that_is_not_there_is_reported(kafka: Kafka) -> None:
    kafka.create_topic("orders")
    produced(kafka, "orders", "x")
    producer = kafka.producer()
    told: list[int] = []
    producer.produce("orders", "x", partition=7, on_delivery=lambda error, _: told.append(error.code()))
    producer.flush(PATIENCE_S)
    assert told == [KafkaError._UNKNOWN_PARTITION]


def test_a_group_goes_on_where_it_was(kafka: Kafka) -> None:
    kafka.create_topic("orders")
    produced(kafka, "orders", "a", "b", "c")
    first = reader(kafka, enable_auto_commit=False)
    first.subscribe(["orders"])
    [message, _] = taken(first, 2)
    assert first.commit(message=message, asynchronous=False) == [TopicPartition("orders", 0, 1)]
    assert [each.offset for each in first.position(first.assignment())] == [2]
    assert [each.offset for each in first.committed([TopicPartition("orders", 0)], PATIENCE_S)] == [1]
    first.close()
    second = reader(kafka)
    second.subscribe(["orders"])
    assert values(taken(second, 2)) == [b"b", b"c"]
    second.close()
    third = reader(kafka)
    assert [each.offset for each in third.committed([TopicPartition("orders", 0)], PATIENCE_S)] == [3]
    third.close()


def test_only_what_was_stored_is_committed(kafka: Kafka) -> None:
    kafka.create_topic("orders")
    produced(kafka, "orders", "a", "b")
    consumer = reader(kafka, enable_auto_offset_store=False)
    consumer.subscribe(["orders"])
    [first, _] = taken(consumer, 2)
    consumer.store_offsets(message=first)
    consumer.close()
    after = reader(kafka)
    assert [each.offset for each in after.committed([TopicPartition("orders", 0)], PATIENCE_S)] == [1]
    assert (
        code_of(lambda: after.store_offsets(offsets=[TopicPartition("orders", 0, 1)]))
        == KafkaError._INVALID_ARG
    )
    after.close()


def test_wrong_use_is_refused(kafka: Kafka) -> None:
    kafka.create_topic("orders")
    with pytest.raises(ValueError, match=r"group\.id must be set"):
        kafka.consumer()
    consumer = reader(kafka)
    assert code_of(lambda: consumer.commit(asynchronous=False)) == KafkaError._NO_OFFSET
    # Which one depends on what a real client has heard of the topic by then.
    not_assigned = (KafkaError._STATE, KafkaError._UNKNOWN_PARTITION)
    assert code_of(lambda: consumer.seek(TopicPartition("orders", 0, 0))) in not_assigned
    assert code_of(lambda: consumer.subscribe([])) == KafkaError._INVALID_ARG
    with pytest.raises(TypeError, match="list of topic"):
        consumer.subscribe("orders")
    with pytest.raises(ValueError, match="mutually exclusive"):
        consumer.commit(message=Message(), offsets=[])
    assert consumer.memberid() is None and consumer.assignment() == []
    [unknown] = consumer.position([TopicPartition("orders", 0)])
    assert unknown.offset == OFFSET_INVALID
    consumer.close()
    consumer.close()
    for call in (consumer.poll, consumer.assignment):
        with pytest.raises(RuntimeError, match="Consumer closed"):
            call()


def test_partitions_are_assigned_by_hand(kafka: Kafka) -> None:
    kafka.create_topic("orders", 2)
    produced(kafka, "orders", "a0", "b0", partition=0)
    produced(kafka, "orders", "a1", partition=1)
    consumer = reader(kafka, enable_partition_eof=True)
    consumer.assign([TopicPartition("orders", 0, 1), TopicPartition("orders", 1, OFFSET_END)])
    found = taken(consumer, 3)
    assert [message.value() for message in found if message.error() is None] == [b"b0"]
    ends = [(message.partition(), message.offset()) for message in found if message.error() is not None]
    assert sorted(ends) == [(0, 2), (1, 1)]
    consumer.assign([TopicPartition("orders", 0, OFFSET_BEGINNING)])
    assert values(taken(consumer, 2)) == [b"a0", b"b0"]
    consumer.unassign()
    assert consumer.assignment() == []
    consumer.close()


def test_seek_pause_and_resume(kafka: Kafka) -> None:
    kafka.create_topic("orders", 2)
    produced(kafka, "orders", "a0", partition=0)
    produced(kafka, "orders", "a1", partition=1)
    consumer = reader(kafka)
    places = [TopicPartition("orders", number, 0) for number in (0, 1)]
    consumer.assign(places)
    consumer.pause(places[:1])
    assert values(taken(consumer, 1)) == [b"a1"]
    assert consumer.poll(0.3) is None
    consumer.resume(places[:1])
    assert values(taken(consumer, 1)) == [b"a0"]
    consumer.seek(TopicPartition("orders", 1, 0))
    assert values(taken(consumer, 1)) == [b"a1"]
    consumer.close()


def test_offsets_of_times_and_ends(kafka: Kafka) -> None:
    kafka.create_topic("orders")
    producer = kafka.producer()
    for number in range(3):
        producer.produce("orders", "x", timestamp=1000 + number)
    producer.flush(PATIENCE_S)
    consumer = reader(kafka)
    assert consumer.get_watermark_offsets(TopicPartition("orders", 0), PATIENCE_S) == (0, 3)
    asked = [TopicPartition("orders", 0, at) for at in (1001,)]
    assert [each.offset for each in consumer.offsets_for_times(asked, PATIENCE_S)] == [1]
    late = [TopicPartition("orders", 0, 5000)]
    assert [each.offset for each in consumer.offsets_for_times(late, PATIENCE_S)] == [OFFSET_END]
    unknown = TopicPartition("nowhere", 0)
    assert code_of(lambda: consumer.get_watermark_offsets(unknown, 10)) == KafkaError._UNKNOWN_PARTITION
    topics = consumer.list_topics(timeout=PATIENCE_S).topics
    assert list(topics["orders"].partitions) == [0]
    missing = consumer.list_topics("nowhere", PATIENCE_S).topics["nowhere"]
    assert missing.error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART
    consumer.close()


def test_no_offset_and_no_reset_is_an_error(kafka: Kafka) -> None:
    kafka.create_topic("orders")
    produced(kafka, "orders", "a")
    consumer = reader(kafka, auto_offset_reset="error")
    consumer.subscribe(["orders"])
    [message] = taken(consumer, 1)
    assert message.error().code() == KafkaError._AUTO_OFFSET_RESET  # type: ignore[union-attr]
    assert (message.topic(), message.partition()) == ("orders", 0)
    consumer.close()


def test_latest_is_what_comes_from_now_on(kafka: Kafka) -> None:
    kafka.create_topic("orders")
    produced(kafka, "orders", "before")
    consumer = reader(kafka, auto_offset_reset="latest", enable_partition_eof=True)
    consumer.subscribe(["orders"])
    [end] = taken(consumer, 1)
    assert end.error().code() == KafkaError._PARTITION_EOF  # type: ignore[union-attr]
    produced(kafka, "orders", "after")
    assert values(taken(consumer, 1)) == [b"after"]
    consumer.close()


def test_members_share_the_partitions_and_hand_them_over(kafka: Kafka) -> None:
    kafka.create_topic("orders", 2)
    told: list[tuple[str, str, list[int]]] = []

    def listener(who: str, what: str) -> Callable[..., None]:
        return lambda _, places: told.append((who, what, sorted(place.partition for place in places)))

    first, second = reader(kafka), reader(kafka)
    first.subscribe(["orders"], on_assign=listener("1", "+"), on_revoke=listener("1", "-"))
    until(lambda: len(first.assignment()) == 2, first)
    assert told == [("1", "+", [0, 1])] and first.memberid()
    second.subscribe(["orders"], on_assign=listener("2", "+"), on_revoke=listener("2", "-"))
    until(lambda: len(first.assignment()) == len(second.assignment()) == 1, first, second)
    assert told[1] == ("1", "-", [0, 1])
    assert {place.partition for each in (first, second) for place in each.assignment()} == {0, 1}
    second.close()
    assert told[-1][:2] == ("2", "-")
    until(lambda: len(first.assignment()) == 2, first)
    first.close()
    assert told[-1] == ("1", "-", [0, 1])


def test_cooperative_members_keep_what_they_keep(kafka: Kafka) -> None:
    kafka.create_topic("orders", 2)
    told: list[tuple[str, list[int]]] = []
    settings = {"partition_assignment_strategy": "cooperative-sticky"}
    first, second = reader(kafka, **settings), reader(kafka, **settings)
    first.subscribe(
        ["orders"],
        on_assign=lambda _, places: told.append(("+", sorted(place.partition for place in places))),
        on_revoke=lambda _, places: told.append(("-", sorted(place.partition for place in places))),
    )
    until(lambda: len(first.assignment()) == 2, first)
    second.subscribe(["orders"])
    until(lambda: len(first.assignment()) == len(second.assignment()) == 1, first, second)
    revoked = [places for what, places in told if what == "-"]
    assert [len(places) for places in revoked] == [1]
    for consumer in (first, second):
        consumer.close()


def test_a_callback_may_say_where_to_begin(kafka: Kafka) -> None:
    kafka.create_topic("orders")
    produced(kafka, "orders", "a", "b", "c")

    def from_two(consumer: Any, places: list[TopicPartition]) -> None:
        for place in places:
            place.offset = 2
        consumer.assign(places)

    consumer = reader(kafka)
    consumer.subscribe(["orders"], on_assign=from_two)
    assert values(taken(consumer, 1)) == [b"c"]
    consumer.close()


def test_topics_by_pattern(kafka: Kafka) -> None:
    kafka.create_topic("orders-1")
    kafka.create_topic("payments")
    consumer = reader(kafka)
    consumer.subscribe(["^orders-.*"])
    until(lambda: [place.topic for place in consumer.assignment()] == ["orders-1"], consumer)
    kafka.create_topic("orders-2")
    until(lambda: len(consumer.assignment()) == 2, consumer)
    consumer.close()


def test_commits_are_told_later(kafka: Kafka) -> None:
    kafka.create_topic("orders")
    produced(kafka, "orders", "a")
    told: list[tuple[Any, list[int]]] = []
    settings = {
        "group.id": "g",
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        "on_commit": lambda error, places: told.append((error, [place.offset for place in places])),
    }
    # `on_commit` has no dot, so the settings go as they are.
    made: Any = (
        kafka._kafka.consumer(settings) if isinstance(kafka, Fake) else Consumer({**kafka._at(), **settings})
    )  # type: ignore[attr-defined]
    made.subscribe(["orders"])
    taken(made, 1)
    assert made.commit() is None
    until(lambda: bool(told), made)
    assert told == [(None, [1])]
    made.close()


def test_a_transaction_shows_all_of_it_or_nothing(kafka: Kafka) -> None:
    kafka.create_topic("orders")
    producer = kafka.producer(transactional_id="till")
    producer.init_transactions(PATIENCE_S)
    producer.begin_transaction()
    producer.produce("orders", "gone")
    producer.flush(PATIENCE_S)
    dirty = reader(kafka, isolation_level="read_uncommitted", group_id="dirty")
    dirty.subscribe(["orders"])
    assert values(taken(dirty, 1)) == [b"gone"]
    producer.abort_transaction(PATIENCE_S)
    producer.begin_transaction()
    producer.produce("orders", "stays")
    producer.commit_transaction(PATIENCE_S)
    clean = reader(kafka)
    clean.subscribe(["orders"])
    [message] = taken(clean, 1)
    # One offset is the aborted record's, one the abort marker's.
    assert (message.value(), message.offset()) == (b"stays", 2)
    assert clean.get_watermark_offsets(TopicPartition("orders", 0), PATIENCE_S) == (0, 4)
    for consumer in (dirty, clean):
        consumer.close()


def test_offsets_go_with_the_transaction(kafka: Kafka) -> None:
    kafka.create_topic("orders")
    produced(kafka, "orders", "a", "b")
    consumer = reader(kafka, enable_auto_commit=False)
    consumer.subscribe(["orders"])
    taken(consumer, 2)
    place = TopicPartition("orders", 0)
    producer = kafka.producer(transactional_id="copy")
    producer.init_transactions(PATIENCE_S)
    for ended, expected in ((producer.abort_transaction, OFFSET_INVALID), (producer.commit_transaction, 2)):
        producer.begin_transaction()
        positions = consumer.position(consumer.assignment())
        producer.send_offsets_to_transaction(positions, consumer.consumer_group_metadata(), PATIENCE_S)
        ended(PATIENCE_S)
        [committed] = consumer.committed([place], PATIENCE_S)
        assert committed.offset == expected
    consumer.close()


def test_a_transactional_producer_has_its_order(kafka: Kafka) -> None:
    kafka.create_topic("orders")
    assert code_of(kafka.producer().begin_transaction) == KafkaError._NOT_CONFIGURED
    producer = kafka.producer(transactional_id="till")
    assert code_of(producer.begin_transaction) == KafkaError._STATE
    assert code_of(lambda: producer.produce("orders", "x")) == KafkaError._STATE
    producer.init_transactions(PATIENCE_S)
    assert code_of(lambda: producer.produce("orders", "x")) == KafkaError._STATE
    assert code_of(lambda: producer.commit_transaction(PATIENCE_S)) == KafkaError._STATE
    producer.begin_transaction()
    assert code_of(producer.begin_transaction) == KafkaError._STATE
    producer.abort_transaction(PATIENCE_S)


def test_the_producer_before_is_fenced(kafka: Kafka) -> None:
    kafka.create_topic("orders")
    old = kafka.producer(transactional_id="till")
    old.init_transactions(PATIENCE_S)
    old.begin_transaction()
    old.produce("orders", "old")
    old.flush(PATIENCE_S)
    new = kafka.producer(transactional_id="till")
    new.init_transactions(PATIENCE_S)
    with pytest.raises(KafkaException) as failure:
        old.commit_transaction(PATIENCE_S)
    assert failure.value.args[0].fatal() and failure.value.args[0].code() == KafkaError._FENCED
    new.begin_transaction()
    new.produce("orders", "new")
    new.commit_transaction(PATIENCE_S)
    consumer = reader(kafka)
    consumer.subscribe(["orders"])
    assert values(taken(consumer, 1)) == [b"new"]
    consumer.close()
