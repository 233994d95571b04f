"""A flow that MirrorMaker 2 has begun goes on where that was."""

from pathlib import Path

import orjson
import pytest

from e2e.connect.mirror.flow_kit import produced
from moldau.pipeline.connect.server.member import Member
from moldau.pipeline.connect.server.mirror_takeover import CONNECTOR, take_over
from moldau.pipeline.connect.server.settings import read_configuration
from moldau.pipeline.connect.server.topics.offsets_admin import OffsetsAdmin
from moldau.testing import LocalCluster

NAME = "a->b.MirrorSourceConnector"


def key(cluster: str, topic: str, connector: str = CONNECTOR) -> bytes:
    return orjson.dumps([connector, {"cluster": cluster, "partition": 0, "topic": topic}])


@pytest.mark.parametrize("separator", [".", "_"])
def test_offsets_are_taken_over_once(tmp_path: Path, separator: str) -> None:
    with LocalCluster() as cluster:
        settings = {
            "bootstrap.servers": cluster.bootstrap_servers,
            "group.id": "b-mm2",
            "offset.storage.topic": "mm2-offsets.internal",
            "state.dir": str(tmp_path),
        }
        member = Member(
            read_configuration(overrides=[f"{name}={value}" for name, value in settings.items()]),
            "mirror-b",
            is_standalone=True,
        )
        member.start()
        try:
            config = {
                "connector.class": CONNECTOR,
                "source.cluster.alias": "a",
                "replication.policy.separator": separator,
            }
            assert take_over(member, NAME, config) == 0
            theirs = f"mm2-offsets{separator}a{separator}internal"
            cluster.create_topic(theirs)
            for each, offset in (
                (key("a", "orders"), 41),
                (key("a", "paid"), 7),
                (key("a", "paid"), 8),
                (key("z", "orders"), 5),
                (key("a", "orders", "MirrorHeartbeatConnector"), 3),
            ):
                produced(cluster, theirs, [orjson.dumps({"offset": offset})], key=each)
            assert (
                take_over(member, "a->b.MirrorHeartbeatConnector", {"connector.class": "MirrorHeartbeat"})
                == 0
            )
            assert take_over(member, NAME, config) == 2
            admin = OffsetsAdmin(member.configuration.client, "b-mm2")
            found = [
                (place["topic"], offset["offset"])
                for place, offset in admin.of_source("mm2-offsets.internal", NAME)
            ]
            assert sorted(found) == [("orders", 41), ("paid", 8)]
            assert take_over(member, NAME, config) == 0
        finally:
            member.stop()
