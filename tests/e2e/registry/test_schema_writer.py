"""Writers of the schemas topic take it from each other."""

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from moldau.registry.log.schema_writer import SchemaWriter, WriterLost
from moldau.testing import LocalCluster

ROUNDS = 40
"""In one of ten the client library reports the fencing as a SystemError."""


def test_a_writer_that_lost_the_topic_always_says_so() -> None:
    topic = "fenced_schemas"
    with LocalCluster() as cluster:
        client = {"bootstrap.servers": cluster.bootstrap_servers}
        admin = AdminClient(client)
        admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(60)

        def writer() -> SchemaWriter:
            return SchemaWriter(client, topic, topic, timeout_s=60, message_bytes_max=1_000)

        first = writer()
        for _ in range(ROUNDS):
            first.write([(b"key", b"value")])
            second = writer()
            with pytest.raises(WriterLost, match="has failed and is replaced"):
                first.write([(b"key", b"value")])
            first = second
