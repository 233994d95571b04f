"""Confluent's own client for Node.js, the npm package kafka-rest, against our proxy. It speaks version 1."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from compat.node_clients import FOLDER
from e2e.rest.rest_client import LocalProxy
from moldau.testing import LocalCluster

DRIVER = Path(__file__).with_name("kafka_rest_driver.cjs")
PACKAGES = Path(os.environ.get("MOLDAU_NODE_MODULES", str(FOLDER / "node_modules")))


@pytest.mark.skipif(shutil.which("node") is None, reason="Node.js (node) is not installed")
@pytest.mark.skipif(
    not (PACKAGES / "kafka-rest").is_dir(),
    reason=f"npm install kafka-rest@0.0.5 has not been run in {FOLDER}",
)
def test_the_client_writes_lists_reads_and_leaves() -> None:
    with (
        LocalCluster(registry=True) as cluster,
        LocalProxy(cluster.bootstrap_servers, cluster.registry_url) as rest,
    ):
        done = subprocess.run(
            ["node", str(DRIVER), rest.url, "clicks"],
            env={**os.environ, "NODE_PATH": str(PACKAGES)},
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        seen = json.loads(done.stdout)
        assert [each["offset"] for each in seen["written"]["offsets"]] == [0, 1]
        assert [each["offset"] for each in seen["avro"]["offsets"]] == [0, 1]
        assert seen["avro"]["value_schema_id"] >= 1
        assert {"clicks", "clicks-avro"} <= set(seen["topics"])
        assert (seen["brokers"], seen["partitions"]) == ([1], [0])
        assert seen["read"] == [
            {"key": "k", "value": "one", "partition": 0},
            {"key": None, "value": "two", "partition": 0},
        ]
        cluster_id = rest.ok("GET", "/v3/clusters")["data"][0]["cluster_id"]
        [lag] = rest.ok("GET", f"/v3/clusters/{cluster_id}/consumer-groups/group-clicks/lags")["data"]
        assert lag["lag"] == 0
