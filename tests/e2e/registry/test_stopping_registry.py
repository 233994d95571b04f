"""SIGTERM ends a registry by its own stop, which leaves the group: another instance takes over at once."""

from pathlib import Path

from e2e.registry.registry_process import RegistryProcess, ask
from moldau.testing import LocalCluster


def test_a_signal_ends_it_by_its_own_stop(tmp_path: Path) -> None:
    with LocalCluster() as cluster, RegistryProcess(tmp_path, cluster.bootstrap_servers) as registry:
        assert ask(registry.url, "GET", "/subjects").body == []
        assert registry.stop() == 0
