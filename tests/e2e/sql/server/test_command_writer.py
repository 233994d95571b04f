"""Writers of the command topic take it from each other."""

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from moldau.pipeline.sql.server.commands.command_writer import CommandWriter, WriterFenced
from moldau.testing import LocalCluster

ROUNDS = 40
"""In one of ten the client library reports the fencing as a SystemError."""


def test_a_writer_that_lost_the_topic_always_says_so(cluster: LocalCluster) -> None:
    client = {"bootstrap.servers": cluster.bootstrap_servers}
    topic = "fenced_commands"
    admin = AdminClient(client)
    admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(60)
    first = CommandWriter(client, topic, timeout_s=60)
    for _ in range(ROUNDS):
        first.write(b"key", b"value")
        second = CommandWriter(client, topic, timeout_s=60)
        with pytest.raises(WriterFenced, match="another server writes to fenced_commands"):
            first.write(b"key", b"value")
        first = second
