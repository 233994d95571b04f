"""Clients that others wrote for ksqlDB: they create, push, pull, insert and end queries."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from e2e.sql.server.sql_process import SqlProcess

PROGRAMS = Path(__file__).parent / "clients"
NPM_PACKAGES = ("ksqldb-client@1.0.5",)
PYTHON_PACKAGES = (
    "ksql==0.10.2",
    "hyper==0.7.0",
    "h2==2.6.2",
    "hpack==3.0.0",
    "hyperframe==3.2.0",
    "rfc3986==1.5.0",
    "six",
)
PATIENCE_S = 120


def installed(command: Sequence[str]) -> None:
    """Skips the test, with the reason, where the packages are not to be had."""
    found = subprocess.run(command, capture_output=True, text=True)
    if found.returncode != 0:
        reason = (found.stderr.strip().splitlines() or ["no reason given"])[-1]
        pytest.skip(f"{' '.join(command[:3])} failed: {reason}")


def printed(command: Sequence[str], **environment: str) -> dict[str, Any]:
    found = subprocess.run(
        command, capture_output=True, text=True, timeout=PATIENCE_S, env={**os.environ, **environment}
    )
    assert found.returncode == 0, found.stderr
    document: dict[str, Any] = json.loads(found.stdout.splitlines()[-1])
    return document


def test_the_npm_package_ksqldb_client(sql: SqlProcess, tmp_path: Path) -> None:
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("Node.js (node, npm) is not installed; run tools/install-test-tools")
    installed(
        [npm, "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(tmp_path), *NPM_PACKAGES]
    )
    done = printed(
        [node, str(PROGRAMS / "ksqldb_client.cjs"), str(sql.port), "NPM_CLIENT"],
        NODE_PATH=str(tmp_path / "node_modules"),
    )
    assert done["created"]["data"]["rows"][0]["commandStatus"]["status"] == "SUCCESS"
    assert done["inserted"]["data"]["rows"] == [{"status": "ok", "seq": 0}]
    rows = [{"ID": "a", "N": 1}, {"ID": "b", "N": 2}]
    assert done["pushed"] == rows
    assert done["terminated"]["status"] == 200
    assert done["streamed"]["status"] == 200
    assert done["pulled"]["data"]["rows"] == rows
    assert done["refused"]["error"]["error_code"] == 40001
    assert "NPM_CLIENT" in done["streams"]
    assert [field["name"] for field in done["described"]["fields"]] == ["ID", "N"]
    assert done["dropped"]["status"] == 200


def test_the_python_package_ksql(sql: SqlProcess, tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    installed([*pip, "--target", str(tmp_path), *PYTHON_PACKAGES])
    done = printed(
        [sys.executable, str(PROGRAMS / "ksql_python.py"), sql.client.url, "PYTHON_CLIENT"],
        PYTHONPATH=str(tmp_path),
    )
    assert done["created"][0]["commandStatus"]["status"] == "SUCCESS"
    assert done["inserted"] == [{"status": "ok", "seq": 0}, {"status": "ok", "seq": 1}]
    assert done["rows"] == [{"ID": "a", "N": 1}, {"ID": "b", "N": 2}]
    assert [json.loads(chunk) for chunk in done["chunks"][1:3]] == [["a", 1], ["b", 2]]
    assert (done["closed"], done["closed_again"]) == (True, False)
    assert done["refused"] == 40001
    assert done["properties"] > 10
    assert done["dropped"][0]["commandStatus"]["status"] == "SUCCESS"
