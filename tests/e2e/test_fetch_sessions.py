"""Fetch sessions on the wire (KIP-227)."""

from e2e.conversation import FETCH_BY_NAME, create_topic, produce_values
from e2e.wire import WireClient
from moldau.core.error_codes import ErrorCode
from moldau.core.ids import TopicId
from moldau.protocol.messages.log.fetch import FetchPartition, FetchRequest, FetchTopic
from moldau.testing import LocalCluster

FETCH_BY_ID = 13


def test_a_session_by_name_is_not_continued_by_topic_id() -> None:
    """A client that meets a restarted broker first knows the topic's name alone, then its id (KIP-516)."""
    with LocalCluster() as cluster, WireClient(int(cluster.bootstrap_servers.rpartition(":")[2])) as client:
        topic_id = TopicId(create_topic(client, "t"))
        produce_values(client, "t", [b"one"])
        partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1000)
        by_name = FetchTopic(topic="t", partitions=[partition])
        opened = client.call(
            FetchRequest(max_wait_ms=0, min_bytes=0, session_id=0, session_epoch=0, topics=[by_name]),
            FETCH_BY_NAME,
        )
        assert opened.error_code == ErrorCode.NONE and opened.session_id > 0
        by_id = FetchTopic(topic_id=topic_id, partitions=[partition])
        refused = client.call(
            FetchRequest(
                max_wait_ms=0, min_bytes=0, session_id=opened.session_id, session_epoch=1, topics=[by_id]
            ),
            FETCH_BY_ID,
        )
        assert refused.error_code == ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR
