"""Which message a reported record was made of."""

from collections.abc import Iterator

from confluent_kafka import Message

from moldau.pipeline.connect.data.records import SinkRecord
from moldau.pipeline.spark.connectors.worker.message_index import MessageIndex

COUNT = 1_000


class CountedList(list[Message]):
    """Counts the messages that are looked at."""

    looks = 0

    def __iter__(self) -> Iterator[Message]:
        for message in super().__iter__():
            self.looks += 1
            yield message


def test_each_message_is_looked_at_once() -> None:
    messages = CountedList(Message(topic="lines", partition=1, offset=number) for number in range(COUNT))
    index = MessageIndex([messages])
    assert index
    assert messages.looks == 0
    for number in reversed(range(COUNT)):
        record = SinkRecord("renamed", original_topic="lines", original_partition=1, offset=number)
        assert index.of(record) is messages[number]
    assert messages.looks == COUNT


def test_a_record_of_other_messages() -> None:
    index = MessageIndex([[Message(topic="lines", partition=1, offset=7)]])
    for place in (("lines", 1, 8), ("lines", 0, 7), ("others", 1, 7)):
        topic, partition, offset = place
        assert index.of(SinkRecord(topic, original_partition=partition, offset=offset)) is None
    assert index.of(SinkRecord("lines", original_partition=1, offset=7)) is not None
    assert not MessageIndex()
