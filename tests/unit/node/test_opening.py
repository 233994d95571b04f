"""What a broker opens before it serves. If something fails, nothing stays open."""

import os
from pathlib import Path

import pytest

from moldau.broker.configs.config_records import read_configs
from moldau.coordination import tree_layout as layout
from moldau.core.errors import ConfigError
from moldau.core.settings.static_layer import static_layer
from moldau.node.opening import STORE_FILE, OpenedData, open_data
from moldau.testing.simulation.sim_clock import SimClock


def opened(*directories: Path, **settings: str) -> OpenedData:
    overrides = [f"{name.replace('_', '.')}={text}" for name, text in settings.items()]
    layers = static_layer(overrides=[f"log.dirs={','.join(map(str, directories))}", *overrides])
    return open_data(layers, SimClock())


def open_files() -> list[str]:
    return [os.path.realpath(f"/proc/self/fd/{number}") for number in os.listdir("/proc/self/fd")]


def test_a_start_that_fails_leaves_the_store_closed(tmp_path: Path) -> None:
    ours, others = tmp_path / "ours", tmp_path / "others"
    opened(others, node_id="2").close(clean=True)
    with pytest.raises(ConfigError, match="belongs to node 2") as refusal:
        opened(ours, others)
    assert str(ours / STORE_FILE) not in open_files(), refusal


def test_a_new_cluster_keeps_the_min_insync_replicas_of_its_first_broker(tmp_path: Path) -> None:
    """As Kafka's with KIP-966: all leaders ask for as many replicas, whatever their files say."""
    for number in ("2", "3"):
        data = opened(tmp_path, min_insync_replicas=number)
        assert read_configs(data.store, layout.BROKER_CONFIGS, layout.ALL_BROKERS) == {
            "min.insync.replicas": "2"
        }
        data.close(clean=True)
