"""A partition that moves to another broker, slowly enough to be seen."""

import json
import subprocess
import sys
from pathlib import Path

from e2e.rest.rest_client import PATIENCE_S, LocalProxy
from moldau.testing import LocalCluster

RATE = "replication.throttled.rate"
REPLICAS = "replication.throttled.replicas"
SLOWED = [{"name": f"{side}.{REPLICAS}", "value": "*"} for side in ("leader", "follower")]


def test_a_partition_that_moves_is_shown(tmp_path: Path) -> None:
    # The first fetch is not slowed down. It brings one batch, and there are twenty.
    settings = {"replica.fetch.max.bytes": "1024"}
    with LocalCluster(brokers=2, settings=settings) as cluster, LocalProxy(cluster.bootstrap_servers) as rest:
        base = f"/v3/clusters/{rest.ok('GET', '/v3/clusters')['data'][0]['cluster_id']}"
        wanted = {"topic_name": "moving", "replicas_assignments": {"0": [1], "1": [1]}, "configs": SLOWED}
        rest.ok("POST", f"{base}/topics", wanted)
        for _ in range(20):
            rest.produce("moving", *[{"value": "x" * 10_000, "partition": 0}] * 10)
        slow = [{"name": f"{side}.{RATE}", "value": "1000"} for side in ("leader", "follower")]
        for broker in (1, 2):
            assert rest("POST", f"{base}/brokers/{broker}/configs:alter", {"data": slow}).status == 204
        plan = tmp_path / "plan.json"
        move = {"topic": "moving", "partition": 0, "replicas": [2]}
        plan.write_text(json.dumps({"version": 1, "partitions": [move]}))
        command = ["partitions", "reassign", "execute", "-b", cluster.bootstrap_servers, "--plan", str(plan)]
        subprocess.run(
            [sys.executable, "-m", "moldau", *command], check=True, timeout=PATIENCE_S, capture_output=True
        )
        path = f"{base}/topics/moving/partitions"
        shown = rest.ok("GET", f"{path}/0/reassignment")
        assert (shown["kind"], shown["topic_name"], shown["partition_id"]) == (
            "KafkaReassignment",
            "moving",
            0,
        )
        assert (shown["adding_replicas"], shown["removing_replicas"]) == ([2], [1])
        assert shown["metadata"]["self"] == f"{rest.url}{path}/0/reassignment"
        assert shown["replicas"]["related"] == f"{rest.url}{path}/0/replicas"
        for listed in (f"{base}/topics/-/partitions/-/reassignment", f"{path}/-/reassignment"):
            assert rest.ok("GET", listed)["data"] == [shown]
        rest("GET", f"{path}/1/reassignment").refused(404, "moving-1 is not moving")
