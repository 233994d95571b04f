"""MirrorMaker 2's file: which connectors it becomes, and what is wrong with it."""

import pytest

from moldau.core.errors import ConfigError
from moldau.pipeline.connect.connectors.mirror.mirror_file import MirrorFile
from moldau.pipeline.connect.server.settings import is_known

CLUSTERS = "clusters = a, b, c\n" + "".join(f"{one}.bootstrap.servers = {one}:9092\n" for one in "abc")


def mirror(text: str) -> MirrorFile:
    return MirrorFile(CLUSTERS + text, file="mm2.properties", is_worker_setting=is_known)


def test_flows_and_where_they_run() -> None:
    found = mirror("a->b.enabled = true\nc->b.enabled = true\nb->a.enabled = true\nc->a.enabled = false\n")
    assert [str(one) for one in found.flows] == ["a->b", "b->a", "c->b"]
    plans = {plan.alias: plan for plan in found.plans()}
    assert plans.keys() == {"a", "b"}
    assert sorted(plans["a"].connectors) == [
        "b->a.MirrorCheckpointConnector",
        "b->a.MirrorHeartbeatConnector",
        "b->a.MirrorSourceConnector",
    ]
    # No worker is at c: that of b writes its heartbeats.
    assert plans["b"].connectors["b->c.MirrorHeartbeatConnector"]["emit.heartbeats.directly"] == "true"
    assert "emit.heartbeats.directly" not in plans["b"].connectors["c->b.MirrorHeartbeatConnector"]


def test_settings_of_all_flows_of_one_and_of_a_cluster() -> None:
    text = """topics = .*
a->b.enabled = true
a->b.topics = orders
c->b.enabled = true
c->b.transforms = t
tasks.max = 4
admin.timeout.ms = 5000
replication.factor = 1
emit.heartbeats.enabled = false
a.consumer.fetch.min.bytes = 5
a.security.protocol = SSL
b.security.protocol = PLAINTEXT
b.producer.linger.ms = 7
offset.storage.replication.factor = 2
"""
    (plan,) = mirror(text).plans()
    assert sorted(plan.connectors) == [
        f"{flow}.{kind}"
        for flow in ("a->b", "c->b")
        for kind in ("MirrorCheckpointConnector", "MirrorSourceConnector")
    ]
    first, second = (plan.connectors[f"{flow}->b.MirrorSourceConnector"] for flow in "ac")
    assert (first["topics"], second["topics"]) == ("orders", ".*")
    assert (first["tasks.max"], first["replication.factor"]) == ("4", "1")
    assert first["source.consumer.fetch.min.bytes"] == "5"
    assert (first["source.cluster.security.protocol"], first["target.cluster.security.protocol"]) == (
        "SSL",
        "PLAINTEXT",
    )
    assert second["transforms"] == "t"
    assert "transforms" not in plan.connectors["c->b.MirrorCheckpointConnector"]
    assert plan.worker["bootstrap.servers"] == "b:9092"
    assert plan.worker["producer.linger.ms"] == "7"
    assert "admin.timeout.ms" not in plan.worker
    assert first["admin.timeout.ms"] == "5000"
    assert plan.worker["offset.storage.replication.factor"] == "2"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"no flow is enabled: add for instance a->b.enabled = true"),
        ("a->b.topic.filter.class = org.x.Mine\na->b.enabled = true\n", "line 5: .* is a class in Java"),
        ("topic = x\na->b.enabled = true\n", r"line 5: unknown setting topic; did you mean topics\?"),
        ("a->d.enabled = true\n", r"line 5: a->d.enabled is about the cluster d, which .* It has a, b, c"),
        ("a->b.tpics = x\n", r"unknown setting a->b.tpics; did you mean topics\?"),
        ("d.bootstrap.servers = x\n", r"unknown setting d.bootstrap.servers"),
    ],
)
def test_mistakes_are_named(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        mirror(text)


def test_clusters_must_be_complete() -> None:
    for text, message in (
        ("clusters = a\n", "must name two clusters"),
        ("clusters = a, b\na.bootstrap.servers = x:1\n", "the cluster b has no brokers"),
        ("clusters = a, b.c\na.bootstrap.servers = x:1\n", "cannot be a cluster's alias"),
    ):
        with pytest.raises(ConfigError, match=message):
            MirrorFile(text, file="f", is_worker_setting=is_known)
