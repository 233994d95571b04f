"""What the fake cluster adds to a real one: errors on demand, expelled members, direct access to records."""

import threading
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException, Message, TopicPartition

from moldau.testing import FakeKafka


def reader(kafka: FakeKafka, **settings: Any) -> Any:
    return kafka.consumer({"group.id": "g", "auto.offset.reset": "earliest", **settings})


def code_of(call: Any) -> int:
    with pytest.raises(KafkaException) as failure:
        call()
    return int(failure.value.args[0].code())


def test_records_are_put_and_looked_at() -> None:
    kafka = FakeKafka()
    assert kafka.put("orders", "2 apples", "alice", timestamp_ms=7, headers=[("till", b"7")]) == 0
    kafka.producer().produce("orders", "3 pears")
    first, second = kafka.records("orders")
    assert isinstance(first, Message)
    assert (first.key(), first.value(), first.timestamp()[1], first.headers()) == (
        b"alice",
        b"2 apples",
        7,
        [("till", b"7")],
    )
    assert second.value() == b"3 pears"
    with pytest.raises(ValueError, match="add more with create_topic"):
        kafka.put("orders", "x", partition=3)
    assert kafka.records("nowhere") == [] and kafka.committed("nobody") == {}


def test_records_of_open_and_aborted_transactions_are_not_there_for_consumers() -> None:
    kafka = FakeKafka()
    producer = kafka.producer({"transactional.id": "till"})
    producer.init_transactions()
    producer.begin_transaction()
    producer.produce("orders", "2 apples")
    assert kafka.records("orders") == []
    assert [message.value() for message in kafka.records("orders", uncommitted=True)] == [b"2 apples"]
    producer.abort_transaction()
    assert kafka.records("orders") == []


def test_a_failed_delivery_is_reported_and_nothing_is_written() -> None:
    kafka = FakeKafka()
    kafka.fail("delivery", KafkaError.MSG_SIZE_TOO_LARGE)
    told: list[int | None] = []
    producer = kafka.producer({"on_delivery": lambda error, _: told.append(error and error.code())})
    producer.produce("orders", "too large")
    producer.produce("orders", "small")
    assert len(producer) == 2
    assert producer.poll(0) == 2 and len(producer) == 0
    assert told == [KafkaError.MSG_SIZE_TOO_LARGE, None]
    assert [message.value() for message in kafka.records("orders")] == [b"small"]


def test_a_full_queue() -> None:
    kafka = FakeKafka()
    told: list[Message] = []
    settings = {"queue.buffering.max.messages": 1, "on_delivery": lambda _, message: told.append(message)}
    producer = kafka.producer(settings)
    producer.produce("orders", "a")
    with pytest.raises(BufferError):
        producer.produce("orders", "b")
    producer.poll(0)
    producer.produce("orders", "b")
    kafka.fail("produce", KafkaError._QUEUE_FULL)
    with pytest.raises(BufferError):
        producer.produce("orders", "c")


def test_topics_may_have_to_be_there() -> None:
    kafka = FakeKafka(partitions=0)
    told: list[int] = []
    producer = kafka.producer({"on_delivery": lambda error, _: told.append(error.code())})
    producer.produce("orders", "x")
    producer.flush()
    assert told == [KafkaError.UNKNOWN_TOPIC_OR_PART]


def test_errors_of_the_consumer() -> None:
    kafka = FakeKafka()
    kafka.put("orders", "2 apples")
    consumer = reader(kafka, **{"enable.auto.commit": False})
    consumer.subscribe(["orders"])
    kafka.fail("poll", KafkaError._ALL_BROKERS_DOWN, times=2)
    for _ in range(2):
        assert consumer.poll(0).error().code() == KafkaError._ALL_BROKERS_DOWN
    assert consumer.poll(0).value() == b"2 apples"
    kafka.fail("commit", KafkaError.REBALANCE_IN_PROGRESS)
    assert code_of(lambda: consumer.commit(asynchronous=False)) == KafkaError.REBALANCE_IN_PROGRESS
    assert consumer.commit(asynchronous=False) == [TopicPartition("orders", 0, 1)]
    assert kafka.committed("g") == {("orders", 0): 1}
    kafka.fail("committed", KafkaError._TIMED_OUT)
    assert code_of(lambda: consumer.committed([TopicPartition("orders", 0)])) == KafkaError._TIMED_OUT


def test_a_transaction_that_must_be_aborted() -> None:
    kafka = FakeKafka()
    producer = kafka.producer({"transactional.id": "till"})
    kafka.fail("init_transactions", KafkaError(KafkaError._TIMED_OUT, retriable=True))
    assert code_of(producer.init_transactions) == KafkaError._TIMED_OUT
    producer.init_transactions()
    producer.begin_transaction()
    producer.produce("orders", "x")
    kafka.fail("commit_transaction", KafkaError(KafkaError.INVALID_TXN_STATE, txn_requires_abort=True))
    with pytest.raises(KafkaException) as failure:
        producer.commit_transaction()
    assert failure.value.args[0].txn_requires_abort()
    assert code_of(lambda: producer.produce("orders", "y")) == KafkaError._STATE
    producer.abort_transaction()
    producer.begin_transaction()
    kafka.fail("delivery", KafkaError.MSG_SIZE_TOO_LARGE)
    producer.produce("orders", "z")
    with pytest.raises(KafkaException) as failure:
        producer.commit_transaction()
    assert failure.value.args[0].txn_requires_abort()
    producer.abort_transaction()
    kafka.fail("begin_transaction", KafkaError(KafkaError._FATAL, fatal=True))
    for _ in range(2):
        assert code_of(producer.begin_transaction) == KafkaError._FATAL


def test_a_member_that_was_expelled_has_lost_its_partitions() -> None:
    kafka = FakeKafka()
    kafka.put("orders", "2 apples")
    told: list[str] = []
    consumer = reader(kafka, **{"enable.auto.commit": False})
    consumer.subscribe(
        ["orders"],
        on_assign=lambda _, places: told.append(f"+{len(places)}"),
        on_revoke=lambda *_: told.append("-"),
        on_lost=lambda _, places: told.append(f"lost {len(places)}"),
    )
    consumer.poll(0)
    kafka.expel(consumer)
    assert code_of(lambda: consumer.commit(asynchronous=False)) == KafkaError.UNKNOWN_MEMBER_ID
    assert consumer.poll(0).value() == b"2 apples"
    assert told == ["+1", "lost 1", "+1"]
    consumer.close()
    assert told[-1] == "-"


def test_offsets_of_a_stranger_are_not_taken_into_a_transaction() -> None:
    kafka = FakeKafka()
    kafka.put("orders", "2 apples")
    consumer = reader(kafka)
    consumer.subscribe(["orders"])
    consumer.poll(0)
    metadata = consumer.consumer_group_metadata()
    consumer.close()
    producer = kafka.producer({"transactional.id": "copy"})
    producer.init_transactions()
    producer.begin_transaction()
    offsets = [TopicPartition("orders", 0, 1)]
    other = reader(kafka)
    other.subscribe(["orders"])
    with pytest.raises(KafkaException) as failure:
        producer.send_offsets_to_transaction(offsets, metadata)
    assert failure.value.args[0].txn_requires_abort()
    with pytest.raises(TypeError):
        producer.send_offsets_to_transaction(offsets, "group")  # type: ignore[arg-type]


def test_deleted_records_send_a_consumer_to_its_reset() -> None:
    kafka = FakeKafka()
    for content in ("a", "b", "c"):
        kafka.put("orders", content)
    kafka.delete_records("orders", before=2)
    consumer = reader(kafka)
    consumer.assign([TopicPartition("orders", 0, 0)])
    assert consumer.poll(0).value() == b"c"
    assert consumer.get_watermark_offsets(TopicPartition("orders", 0)) == (2, 3)


def test_many_records_at_once() -> None:
    kafka = FakeKafka()
    with kafka.producer() as producer:
        assert producer.produce_batch("orders", [{"value": "a"}, {"value": "b", "key": "k"}]) == 2
    with reader(kafka) as consumer:
        consumer.subscribe(["orders"])
        assert [message.value() for message in consumer.consume(5, timeout=1)] == [b"a", b"b"]
        assert consumer.consume(5, timeout=0) == []
        with pytest.raises(ValueError, match="num_messages"):
            consumer.consume(-1)


def test_a_thread_that_polls_gets_what_another_writes() -> None:
    kafka = FakeKafka()
    kafka.create_topic("orders")
    seen: list[bytes | None] = []
    consumer = reader(kafka)
    consumer.subscribe(["orders"])

    def read() -> None:
        while len(seen) < 100:
            message = consumer.poll(1)
            if message is not None:
                seen.append(message.value())

    thread = threading.Thread(target=read)
    thread.start()
    for number in range(100):
        kafka.put("orders", str(number))
    thread.join(60)
    assert seen == [str(number).encode() for number in range(100)]
