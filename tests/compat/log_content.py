"""A log directory's worth of content: every codec, several segments, headers, a compacted topic, sparse indexes.

Written through a client into any broker, so that one broker's files can be held against another's.
"""

from collections.abc import Sequence

from compat.client import CODECS, HOUR_AGO_MS, AdminClient, Record, wait_for_topic
from compat.java_client import JavaClient
from compat.server_process import ServerProcess, wait_until
from compat.stored import stored_batches

BROKER_SETTINGS = {"log.cleaner.backoff.ms": "100", "log.cleaner.threads": "1"}
SEGMENTS = 4
SEGMENT_MS = 1000
"""Segments roll by the records' own times, so that no test has to wait for it."""
ROLLING = {"segment.ms": str(SEGMENT_MS), "retention.ms": "-1"}
ONE_BATCH = {"linger.ms": "1000", "enable.idempotence": "true"}
"""Records of one call are one batch, whatever the machine's pace: flushing ends the linger."""
COMPACTED_KEYS = 10
COMPACTED_ROUNDS = 5


def write_codec_topics(client: AdminClient) -> list[str]:
    """One topic a codec, several segments each, from an idempotent producer each."""
    topics = [f"codec-{codec}" for codec in CODECS]
    for topic, codec in zip(topics, CODECS, strict=True):
        _create(client, topic, ROLLING)
        for segment in range(SEGMENTS):
            records = [
                Record(
                    key=f"key {number % 7}".encode(),
                    value=f"{codec} {segment} {number} ".encode() * 10,
                    headers=(("segment", str(segment).encode()), ("null", None)),
                    timestamp_ms=HOUR_AGO_MS + segment * SEGMENT_MS * 10 + number,
                )
                for number in range(40)
            ]
            client.produce(topic, records, ONE_BATCH | {"compression.type": codec})
    return topics


def write_indexed_topic(client: AdminClient) -> str:
    """One segment of many batches, so that its indexes have entries."""
    _create(client, "indexed", {"retention.ms": "-1"})
    records = [
        Record(number.to_bytes(2, "big") * 500, timestamp_ms=HOUR_AGO_MS + number) for number in range(200)
    ]
    client.produce("indexed", records, {"batch.size": "0", "max.in.flight.requests.per.connection": "1"})
    return "indexed"


def write_compacted_topic(broker: ServerProcess, client: AdminClient) -> str:
    """Keys written over and over, one deleted; returns when the cleaner has been through all it may."""
    topic = "compacted"
    configs = {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01"}
    _create(client, topic, ROLLING | configs)
    for number in range(COMPACTED_ROUNDS):
        time_ms = HOUR_AGO_MS + number * SEGMENT_MS * 10
        records = [
            Record(key=f"key {key}".encode(), value=f"{key} in round {number}".encode(), timestamp_ms=time_ms)
            for key in range(COMPACTED_KEYS)
        ]
        records.append(Record(key=b"gone", value=None if number else b"soon gone", timestamp_ms=time_ms))
        client.produce(topic, records, ONE_BATCH | {"compression.type": "gzip"})
    # The active segment is never cleaned: its round stays, and of the rounds before it the last values.
    remaining = 2 * (COMPACTED_KEYS + 1)
    folder = broker.partition_dir(topic)

    def is_clean() -> bool:
        try:
            return sum(batch.record_count for batch in stored_batches(folder)) == remaining
        except FileNotFoundError:
            return False  # The cleaner was just replacing the file.

    wait_until(is_clean, "the log is compacted", 30)
    return topic


def write_transactional_topic(java: JavaClient) -> str:
    """Committed, aborted, committed, aborted; and records outside of any transaction between."""
    topic = "transactional"
    _create(java, topic, ROLLING)
    for number in range(3):
        time_ms = HOUR_AGO_MS + number * SEGMENT_MS * 10
        transactions = [
            (
                commit,
                [Record(f"{text} {number} {index}".encode(), timestamp_ms=time_ms) for index in range(5)],
            )
            for commit, text in ((True, "committed"), (False, "aborted"), (True, "committed again"))
        ]
        java.produce_transactions(topic, transactions, "some-transactional-id")
        java.produce(topic, [Record(b"plain", timestamp_ms=time_ms)])
    return topic


def committed(records: Sequence[Record]) -> list[Record]:
    return [record for record in records if not (record.value or b"").startswith(b"aborted")]


def _create(client: AdminClient, topic: str, configs: dict[str, str]) -> None:
    client.create_topic(topic, configs=configs)
    wait_for_topic(client, topic)
