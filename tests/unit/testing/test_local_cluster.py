"""The life of a cluster: fast start, fast stop, nothing left over; killed and recovered."""

import gc
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from e2e.conversation import create_topic, metadata, produce_values, topic_configs, values_of
from e2e.wire import WireClient
from moldau.core.errors import ApiError, ConfigError
from moldau.storage.names import CLEAN_SHUTDOWN
from moldau.testing import LocalCluster, broker_thread

START_MS_MAX = 50
STOP_MS_MAX = 50
TRIES = 10


def connect(cluster: LocalCluster) -> WireClient:
    return WireClient(int(cluster.bootstrap_servers.rpartition(":")[2]))


def test_start_and_stop_are_quick() -> None:
    """The best of several runs, in CPU time: other tests run on this machine at the same time."""
    starts_ms, stops_ms = [], []
    for _ in range(TRIES):
        begun = time.process_time()
        cluster = LocalCluster().start()
        started = time.process_time()
        cluster.stop()
        starts_ms.append((started - begun) * 1000)
        stops_ms.append((time.process_time() - started) * 1000)
    assert min(starts_ms) < START_MS_MAX, starts_ms
    assert min(stops_ms) < STOP_MS_MAX, stops_ms


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def use() -> None:
        with LocalCluster() as cluster, connect(cluster) as client:
            create_topic(client, "orders")
            produce_values(client, "orders", [b"one"])
            assert values_of(client, "orders") == [b"one"]
            assert list(tmp_path.iterdir())
            cluster.restart()
            cluster.kill()

    use()  # What is made once for the whole process is made here.
    gc.collect()
    threads, files = set(threading.enumerate()), len(os.listdir("/proc/self/fd"))
    use()
    gc.collect()
    assert set(threading.enumerate()) <= threads
    assert len(os.listdir("/proc/self/fd")) <= files
    assert not list(tmp_path.iterdir())


def test_several_at_once() -> None:
    with LocalCluster() as one, LocalCluster() as other:
        assert one.bootstrap_servers != other.bootstrap_servers
        assert one.data_directory != other.data_directory
        one.create_topic("here")
        with connect(one) as client:
            assert metadata(client, ["here"]).topics[0].error_code == 0
        with connect(other) as client:
            assert metadata(client, ["here"]).topics[0].error_code != 0


@pytest.mark.parametrize("clean", [True, False])
def test_restart_keeps_address_and_records(clean: bool) -> None:
    with LocalCluster() as cluster:
        address = cluster.bootstrap_servers
        cluster.create_topic("orders")
        with connect(cluster) as client:
            produce_values(client, "orders", [b"one", b"two"])
        cluster.restart(clean=clean)
        assert cluster.bootstrap_servers == address
        with connect(cluster) as client:
            assert values_of(client, "orders") == [b"one", b"two"]
            assert produce_values(client, "orders", [b"three"]) == 2


def test_a_killed_broker_leaves_no_clean_mark_and_is_not_reached() -> None:
    with LocalCluster() as cluster:
        port = int(cluster.bootstrap_servers.rpartition(":")[2])
        with connect(cluster) as client:
            cluster.kill()
            assert client.is_closed_by_broker()
        assert not Path(cluster.data_directory, CLEAN_SHUTDOWN).exists()
        with pytest.raises(ConnectionRefusedError):
            WireClient(port)
        with pytest.raises(RuntimeError, match="has stopped"):
            _ = cluster.bootstrap_servers
        cluster.start()
        with connect(cluster) as client:
            assert metadata(client, None).topics == []


def test_a_given_directory_is_kept_and_closed_cleanly(tmp_path: Path) -> None:
    data = str(tmp_path / "data")
    with LocalCluster(data_directory=data) as cluster:
        assert cluster.data_directory == data
        cluster.create_topic("orders")
        with connect(cluster) as client:
            produce_values(client, "orders", [b"kept"])
    assert Path(data, CLEAN_SHUTDOWN).exists()
    with LocalCluster(data_directory=data) as cluster, connect(cluster) as client:
        assert values_of(client, "orders") == [b"kept"]


def test_settings_reach_the_broker() -> None:
    with LocalCluster(settings={"num.partitions": "3"}) as cluster, connect(cluster) as client:
        cluster.create_topic("by-default")
        cluster.create_topic("by-hand", partitions=2, configs={"cleanup.policy": "compact"})
        by_default, by_hand = metadata(client, ["by-default", "by-hand"]).topics
        assert (len(by_default.partitions), len(by_hand.partitions)) == (3, 2)
        assert topic_configs(client, "by-hand")["cleanup.policy"] == "compact"
        with pytest.raises(ApiError, match="already exists"):
            cluster.create_topic("by-hand")
        assert cluster.settings["group.initial.rebalance.delay.ms"] == "0"


def test_a_start_that_fails_says_why_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = set(threading.enumerate())
    cluster = LocalCluster(settings={"num.partitons": "3"})
    with pytest.raises(ConfigError, match=r"num\.partitions"):
        cluster.start()
    assert set(threading.enumerate()) <= before
    assert not list(tmp_path.iterdir())
    cluster.stop()


def test_who_gives_up_waiting_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Like Ctrl-C during the start."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(broker_thread, "WAIT_S_MAX", 0)
    before, files = set(threading.enumerate()), len(os.listdir("/proc/self/fd"))
    with pytest.raises(TimeoutError):
        LocalCluster().start()
    gc.collect()
    assert set(threading.enumerate()) <= before
    assert len(os.listdir("/proc/self/fd")) <= files
    assert not list(tmp_path.iterdir())


def test_it_is_started_once_and_stopped_as_often_as_one_likes() -> None:
    cluster = LocalCluster().start()
    with pytest.raises(RuntimeError, match="already running"):
        cluster.start()
    cluster.stop()
    cluster.stop()
    with pytest.raises(RuntimeError, match="not running"):
        cluster.create_topic("nowhere")
    with cluster as again, connect(again) as client:
        assert metadata(client, None).topics == []


async def test_in_asynchronous_tests() -> None:
    async with LocalCluster() as cluster:
        with connect(cluster) as client:
            assert metadata(client, None).topics == []


def test_nothing_is_printed(tmp_path: Path) -> None:
    """Not even after a client misbehaves, nor as a ResourceWarning."""
    program = """
import socket
from moldau.testing import LocalCluster, broker_thread
with LocalCluster() as cluster:
    host, port = cluster.bootstrap_servers.split(":")
    with socket.create_connection((host, int(port))) as rude:
        rude.sendall(b"GET / HTTP/1.1\\r\\n\\r\\n")
        assert rude.recv(1) == b""
    cluster.restart(clean=False)
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
