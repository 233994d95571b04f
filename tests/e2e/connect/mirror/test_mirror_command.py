"""`moldau mirror` from one Moldau to another, on real Spark: a consumer group moves over, and a restart neither loses
nor doubles a record."""

import os
from functools import partial
from pathlib import Path

import pytest

from compat.server_process import wait_until
from e2e.connect.mirror.flow_kit import produced, read_values
from e2e.connect.mirror.mirror_process import MirrorProcess
from e2e.connect.mirror.test_groups import committed, read_and_commit
from moldau.testing import LocalCluster

pytestmark = pytest.mark.slow

PATIENCE_S = 300
RESTARTS = int(os.environ.get("MOLDAU_MIRROR_RESTARTS", "0"))
"""Each starts Spark again."""
TOPIC = "a.orders"


def numbers(first: int, end: int) -> list[bytes]:
    return [b"%d" % one for one in range(first, end)]


def test_a_group_moves_over(tmp_path: Path) -> None:
    with LocalCluster() as here, LocalCluster() as there:
        here.create_topic("orders")
        produced(here, "orders", numbers(0, 20))
        settings = {
            "a->b.enabled": "true",
            "a->b.topics": "orders",
            "a->b.groups": "shop",
            "sync.group.offsets.enabled": "true",
        }
        clusters = {"a": here.bootstrap_servers, "b": there.bootstrap_servers}
        mirror = MirrorProcess(tmp_path, clusters, settings)
        with mirror:
            wait_until(partial(_holds, there, 20), "20 records are mirrored", PATIENCE_S)
            assert read_and_commit(here, "shop", "orders", 20) == numbers(0, 20)
            wait_until(lambda: committed(there, "shop", TOPIC) == 20, "the translated offset", PATIENCE_S)
            wait_until(
                lambda: bool(read_values(here.bootstrap_servers, "heartbeats")), "heartbeats", PATIENCE_S
            )
            end = 20
            for _ in range(RESTARTS):
                assert mirror.stop() == 0
                end += 5
                produced(here, "orders", numbers(end - 5, end))
                mirror.start()
                wait_until(partial(_holds, there, end), "more is mirrored", PATIENCE_S)
            produced(here, "orders", numbers(end, end + 5))
            assert read_and_commit(there, "shop", TOPIC, end - 15) == numbers(20, end + 5)
            assert mirror.stop() == 0
        assert read_values(there.bootstrap_servers, TOPIC) == numbers(0, end + 5)


def _holds(there: LocalCluster, count: int) -> bool:
    return len(read_values(there.bootstrap_servers, TOPIC)) >= count
