"""What a run has written, so that two runs can be compared."""

import hashlib
import time
from collections.abc import Iterator

import orjson
from confluent_kafka import Consumer, KafkaError, Message, TopicPartition

from pipeline_arena import PARTITIONS, WAIT_S


def results(servers: str, topic: str, *, last_only: bool) -> tuple[int, str]:
    """The number of rows and a digest of them: of each partition in its order, or with `last_only` of the last value of
    each key. Objects are equal whatever the order of their fields and the spelling of their numbers."""
    if last_only:
        last = {bytes(message.key()): _canonical(message) for message in _messages(servers, topic)}
        digest = hashlib.sha256(b"".join(key + value for key, value in sorted(last.items())))
        return len(last), digest.hexdigest()
    count, digests = 0, [hashlib.sha256() for _ in range(PARTITIONS)]
    for message in _messages(servers, topic):
        count += 1
        digests[message.partition() or 0].update(bytes(message.key()) + _canonical(message))
    return count, "-".join(one.hexdigest() for one in digests)


def _canonical(message: Message) -> bytes:
    return orjson.dumps(orjson.loads(message.value() or b"null"), option=orjson.OPT_SORT_KEYS)


def _messages(servers: str, topic: str) -> Iterator[Message]:
    settings = {"group.id": "results", "isolation.level": "read_committed", "enable.partition.eof": True}
    consumer = Consumer({"bootstrap.servers": servers, **settings})
    consumer.assign([TopicPartition(topic, partition, 0) for partition in range(PARTITIONS)])
    ended: set[int | None] = set()
    heard = time.monotonic()
    while len(ended) < PARTITIONS:
        # Waits for all 10,000, so it must not wait long: fewer are left in the end.
        found = consumer.consume(10_000, 0.2)
        if found:
            heard = time.monotonic()
        elif time.monotonic() > heard + WAIT_S:
            raise SystemExit(f"{topic} cannot be read to its end")
        for message in found:
            error = message.error()
            if error is None:
                yield message
            elif error.code() == KafkaError._PARTITION_EOF:
                ended.add(message.partition())
            else:
                raise SystemExit(f"{topic}: {error.str()}")
    consumer.close()
