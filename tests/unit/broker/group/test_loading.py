"""A broker that has no groups and no transactions does not load what works for them."""

import subprocess
import sys

SHOW_LOADED = "import sys, moldau.node.assembly; print(*sys.modules)"
MACHINES = {
    "moldau.broker.group.machine",
    "moldau.broker.group.classic.classic_group",
    "moldau.broker.group.consumer.consumer_group",
    "moldau.broker.txn.facts",
    "moldau.broker.txn.machine",
    "moldau.broker.coordinator.group_shard",
    "moldau.broker.coordinator.txn_shard",
    "re2",
    "xxhash",
}


def test_the_machines_are_loaded_when_needed() -> None:
    printed = subprocess.run([sys.executable, "-c", SHOW_LOADED], capture_output=True, text=True, check=True)
    loaded = set(printed.stdout.split())
    assert "moldau.broker.coordinator.router" in loaded
    assert not MACHINES & loaded
