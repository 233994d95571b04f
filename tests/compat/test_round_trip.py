"""Records come back as they went in, whatever the client, codec and acks; and lie on disk as asked."""

import time
from collections.abc import Callable

import pytest

from compat.client import CODECS, HOUR_AGO_MS, Client, Feature, Record
from compat.confluent_client import ConfluentClient
from compat.java_client import JavaClient
from compat.server_process import ServerProcess
from compat.stored import stored_batches
from moldau.protocol.records.batch import Compression

NewTopic = Callable[..., str]


def sample_records(client: Client, count: int = 200) -> list[Record]:
    """Keys and times of their own for each, where the client can; kcat has headers once a run."""
    headers = (("trace", b"abc"), ("attempt", b"1"), ("trace", b"def"))
    return [
        Record(
            key=f"key-{number}".encode(),
            value=f"value {number} ".encode() * 20,
            headers=headers[:2] if Feature.REPEATED_HEADERS in client.lacks else headers,
            timestamp_ms=None if Feature.RECORD_TIMES in client.lacks else HOUR_AGO_MS + number,
        )
        for number in range(count)
    ]


def test_every_codec_with_idempotence(
    broker: ServerProcess, client: Client, new_topic: NewTopic, codec: str
) -> None:
    topic = new_topic()
    records = sample_records(client)
    before_ms = int(time.time() * 1000)
    client.produce(topic, records, {"compression.type": codec, "enable.idempotence": "true", "acks": "all"})
    after_ms = int(time.time() * 1000)

    back = client.consume(topic)
    assert [record.offset for record in back] == list(range(len(records)))
    assert [(r.key, r.value, r.headers) for r in back] == [(r.key, r.value, r.headers) for r in records]
    if Feature.RECORD_TIMES in client.lacks:
        assert all(before_ms <= (record.timestamp_ms or 0) <= after_ms for record in back)
    else:
        assert [record.timestamp_ms for record in back] == [record.timestamp_ms for record in records]

    batches = stored_batches(broker.partition_dir(topic))
    assert {batch.compression for batch in batches} == {Compression[codec.upper()]}
    assert sum(batch.record_count for batch in batches) == len(records)
    assert batches[0].producer_id >= 0
    assert {(b.producer_id, b.producer_epoch) for b in batches} == {(batches[0].producer_id, 0)}
    assert [batch.base_sequence for batch in batches] == [batch.base_offset for batch in batches]
    assert not any(batch.is_transactional or batch.is_control for batch in batches)


@pytest.mark.parametrize("acks", ["0", "1", "all"])
def test_acks(client: Client, new_topic: NewTopic, acks: str) -> None:
    topic = new_topic()
    settings = {"acks": acks, "enable.idempotence": "false"}
    client.produce(topic, [Record(b"one"), Record(b"two"), Record(b"three")], settings)
    # With acks=0 the answer says nothing, so wait for the records themselves.
    back = client.consume(topic, count=3)
    assert [record.value for record in back] == [b"one", b"two", b"three"]


def test_one_client_reads_what_another_wrote(
    java: JavaClient, confluent: ConfluentClient, new_topic: NewTopic
) -> None:
    topic = new_topic()
    written: list[Record] = []
    for number, codec in enumerate(CODECS):
        for writer in (java, confluent):
            records = [
                Record(f"{writer.name} {codec} {index}".encode(), timestamp_ms=HOUR_AGO_MS + number)
                for index in range(10)
            ]
            writer.produce(topic, records, {"compression.type": codec})
            written += records
    for reader in (java, confluent):
        assert [record.content for record in reader.consume(topic)] == [record.content for record in written]


def test_absent_and_empty_parts_stay_apart(
    java: JavaClient, confluent: ConfluentClient, new_topic: NewTopic
) -> None:
    topic = new_topic()
    records = [
        Record(value=None, key=b"tombstone"),
        Record(value=b"", key=b""),
        Record(value=b"no key", key=None, headers=(("null", None), ("empty", b""), ("", b"no name"))),
        Record(value=bytes(range(256)), key="ключ".encode(), headers=(("имя", b"\x00\xff"),)),
    ]
    for writer in (java, confluent):
        writer.produce(topic, records)
    expected = [(record.key, record.value, record.headers) for record in records] * 2
    for reader in (java, confluent):
        back = reader.consume(topic)
        assert [(record.key, record.value, record.headers) for record in back] == expected


def test_order_within_each_of_many_partitions(admin_client: Client, new_topic: NewTopic) -> None:
    topic = new_topic(partitions=5)
    records = [Record(str(number).encode(), partition=number % 5) for number in range(1000)]
    settings = {"linger.ms": "5", "compression.type": "lz4", "enable.idempotence": "true"}
    admin_client.produce(topic, records, settings)
    for partition in range(5):
        back = admin_client.consume(topic, partition)
        assert [record.value for record in back] == [r.value for r in records if r.partition == partition]
        assert [record.offset for record in back] == list(range(200))


def test_consuming_from_inside_a_batch(client: Client, broker: ServerProcess, new_topic: NewTopic) -> None:
    """A fetch at an offset in the middle of a batch is answered with the whole batch; the client skips."""
    topic = new_topic()
    settings = {"linger.ms": "200", "compression.type": "gzip"}
    client.produce(topic, [Record(str(number).encode()) for number in range(50)], settings)
    assert stored_batches(broker.partition_dir(topic))[-1].base_offset < 49
    assert [record.value for record in client.consume(topic, start=49)] == [b"49"]
