"""The messages when ZooKeeper cannot be started, and its configuration."""

from pathlib import Path

import pytest

from moldau.coordination import zookeeper_server
from moldau.coordination.zookeeper_server import ZooKeeperServer, find_jars, find_java, local_ensemble
from moldau.core.errors import ConfigError


def test_a_missing_pyspark_is_said_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zookeeper_server.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"pip install 'moldau\[spark\]'"):
        find_jars()


def test_a_missing_java_is_said_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(ConfigError, match="install a Java runtime"):
        find_java()


def test_a_server_alone_listens_on_its_port_only(tmp_path: Path) -> None:
    lines = ZooKeeperServer(tmp_path, 2181)._write_config().read_text().splitlines()
    assert "clientPort=2181" in lines and "clientPortAddress=127.0.0.1" in lines
    assert not any(line.startswith("server.") for line in lines)


def test_the_servers_of_an_ensemble_know_each_other(tmp_path: Path) -> None:
    servers = local_ensemble(tmp_path, [2181, 2182, 2183])
    texts = [server._write_config().read_text() for server in servers]
    known = [sorted(line for line in text.splitlines() if line.startswith("server.")) for text in texts]
    assert known[0] == known[1] == known[2]
    assert [line.rpartition(";")[2] for line in known[0]] == [
        f"127.0.0.1:{port}" for port in (2181, 2182, 2183)
    ]
    assert [(tmp_path / str(number) / "data" / "myid").read_text() for number in (1, 2, 3)] == [
        "1\n", "2\n", "3\n",
    ]  # fmt: skip
