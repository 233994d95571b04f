"""What is said of a file for KRaft."""

import pytest

from moldau.core.settings.quorum_notice import quorum_notice
from moldau.core.settings.static_layer import static_layer

BROKER_OF_THREE = """
process.roles=broker
node.id=4
controller.quorum.voters=1@a:9093,2@b:9093,3@c:9093
controller.listener.names=CONTROLLER
"""
COMBINED = "process.roles=broker,controller\ncontroller.quorum.bootstrap.servers=localhost:9093\n"


def test_a_file_without_a_quorum_needs_no_word() -> None:
    assert quorum_notice(static_layer("broker.id=1\nzookeeper.connect=localhost:2181")) is None
    assert quorum_notice(static_layer()) is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (BROKER_OF_THREE, "no other broker of the file's cluster will join it; to form a cluster"),
        (COMBINED, "this broker is alone and keeps topics and settings beside its logs; to form"),
        (f"{COMBINED}zookeeper.connect=zk:2181/moldau", "the cluster is kept in ZooKeeper at zk:2181/moldau"),
        ("process.roles=broker", "will join it"),
    ],
)
def test_a_quorum_is_told_to_have_no_effect(text: str, says: str) -> None:
    notice = quorum_notice(static_layer(text))
    assert notice is not None and says in notice
    assert notice.startswith(
        ("controller.quorum.", "process.roles: there is no controller quorum (KRaft) here")
    )
