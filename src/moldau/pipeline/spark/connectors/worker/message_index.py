"""Finds the message that a record was made of. Made only when a task reports a record: most never do."""

from collections.abc import Sequence

from confluent_kafka import Message

from moldau.pipeline.connect.data.records import SinkRecord


class MessageIndex:
    """Of the messages that are processed together, by partition. Each is looked at once, however many records are asked
    for."""

    def __init__(self, parts: Sequence[Sequence[Message]] = ()) -> None:
        self._parts = parts
        self._by_place: dict[tuple[str | None, int | None, int | None], Message] | None = None

    def __bool__(self) -> bool:
        return bool(self._parts)

    def of(self, record: SinkRecord) -> Message | None:
        """None for a record of earlier messages."""
        if self._by_place is None:
            self._by_place = {
                (message.topic(), message.partition(), message.offset()): message
                for part in self._parts
                for message in part
            }
        return self._by_place.get(
            (record.original_topic or record.topic, record.original_partition, record.offset)
        )
