"""What people say about their API keys: a compacted topic, created with the first description.

Its records have the name of the key as their key, and JSON as their value. No secret is in them.
"""

import json
from collections.abc import Mapping
from typing import Final

from confluent_kafka import OFFSET_BEGINNING, IsolationLevel, KafkaError, Message
from confluent_kafka.admin import NewTopic

from moldau.cli.client.connection import Cluster
from moldau.cli.client.positions import Start, resolve
from moldau.cli.client.readers import SpanReader
from moldau.cli.failures import Failure
from moldau.security.roles.model import KEYS_TOPIC as TOPIC

DESCRIPTION_CHARS_MAX: Final = 1000


def read_notes(cluster: Cluster) -> Mapping[str, str]:
    """Descriptions by the names of keys. Nothing for somebody who may not read the topic."""
    doing = f"read topic '{TOPIC}'"
    try:
        if cluster.find_topic(TOPIC) is None:
            return {}
        spans = resolve(cluster, TOPIC, [0], Start(offset=OFFSET_BEGINNING), IsolationLevel.READ_UNCOMMITTED)
        consumer = cluster.consumer(
            {
                # The client library requires a group id, but joins no group with assigned partitions.
                "group.id": "moldau-api-keys",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                "auto.offset.reset": "error",
            }
        )
        notes: dict[str, str] = {}
        try:
            for batch in SpanReader(cluster, consumer, TOPIC, spans, follow=False).batches():
                for record in batch:
                    name = (record.key or b"").decode(errors="replace")
                    notes.pop(name, None)
                    if (text := _description(record.value)) is not None:
                        notes[name] = text
        finally:
            consumer.close()
        return notes
    except Failure as failure:
        if failure.code == KafkaError.TOPIC_AUTHORIZATION_FAILED:
            return {}
        raise Failure(f"cannot {doing}: {failure.message}", failure.hint, failure.code) from failure


def write_note(cluster: Cluster, name: str, description: str) -> None:
    new = NewTopic(TOPIC, 1, -1, config={"cleanup.policy": "compact"})
    try:
        cluster.wait(cluster.admin.create_topics([new])[TOPIC], f"create topic '{TOPIC}'")
    except Failure as failure:
        if failure.code != KafkaError.TOPIC_ALREADY_EXISTS:
            raise
    _write(cluster, name, json.dumps({"version": 1, "description": description}).encode())


def remove_note(cluster: Cluster, name: str) -> None:
    _write(cluster, name, None)


def _write(cluster: Cluster, name: str, value: bytes | None) -> None:
    outcomes: list[KafkaError | None] = []

    def delivered(error: KafkaError | None, _: Message) -> None:
        outcomes.append(error)

    producer = cluster.producer({"acks": "all", "message.timeout.ms": int(cluster.timeout_s * 1000)})
    producer.produce(TOPIC, value, name.encode(), on_delivery=delivered)
    producer.flush(cluster.timeout_s)
    doing = f"write the description of API key '{name}' to topic '{TOPIC}'"
    if not outcomes:
        raise cluster.no_answer(doing)
    if outcomes[0] is not None:
        raise cluster.failure(outcomes[0], doing)


def _description(value: bytes | None) -> str | None:
    try:
        content = json.loads(value or b"null")
    except ValueError:
        return None
    text = content.get("description") if isinstance(content, dict) else None
    return text if isinstance(text, str) else None
