"""Requests that schemathesis makes from our description: none is answered with 5xx, and none deviates from it."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from e2e.rest.rest_client import LocalProxy
from moldau.testing import LocalCluster

EXAMPLES = os.environ.get("MOLDAU_REST_EXAMPLES")
"""Per operation; then every boundary of every schema is tried as well, which takes a minute more."""
FEW = "4"
CONFIG = """
# A schema cannot say which topics exist, what an Avro schema is, or how many partitions a topic has: a request that
# fits the description may be refused for such a reason, and one that does not may be refused for another reason first.
[checks.positive_data_acceptance]
expected-statuses = ["2xx", "400", "401", "403", "404", "408", "409", "422", "429"]
[checks.negative_data_rejection]
expected-statuses = ["207", "400", "401", "403", "404", "405", "406", "408", "409", "413", "415", "422", "429"]
"""
"""207 is the answer to a batch, which has the code of every entry in its body."""


@pytest.mark.skipif(
    importlib.util.find_spec("schemathesis") is None,
    reason="schemathesis is not installed: pip install schemathesis",
)
def test_nothing_deviates_from_the_description(tmp_path: Path) -> None:
    (tmp_path / "schemathesis.toml").write_text(CONFIG)
    limits = {"consumer_request_timeout_max_ms": "50", "consumer_instances_max": "5"}
    # A cluster of its own: topics are deleted and settings changed.
    with (
        LocalCluster(registry=True) as cluster,
        LocalProxy(cluster.bootstrap_servers, cluster.registry_url, **limits) as rest,
    ):
        command = [sys.executable, "-m", "schemathesis.cli", "run", f"{rest.url}/openapi.json"]
        # Events have no end.
        options = ["--phases", "coverage,fuzzing" if EXAMPLES else "fuzzing", "-n", EXAMPLES or FEW]
        options += [
            "--exclude-path",
            "/events",
            "--request-timeout",
            "60",
            "--seed",
            "1",
            "--generation-database",
            "none",
        ]
        done = subprocess.run([*command, *options], cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
