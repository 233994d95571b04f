"""Opens a broker's data: the log directories and the coordination store, made to agree with each other.

Blocks, and may take long after an unclean stop: runs on a worker thread before anything is served.
"""

import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

from moldau.broker.configs.config_records import read_configs
from moldau.broker.configs.log_settings import log_config_of
from moldau.broker.topics.catalog import TopicCatalog
from moldau.broker.topics.topic_records import forget_deletions, load_catalog
from moldau.coordination import tree_layout as layout
from moldau.coordination.sqlite import SqliteStore
from moldau.coordination.store import Store
from moldau.coordination.tree_setup import claim_cluster_id, create_folders
from moldau.core.errors import StorageFault
from moldau.core.ports import Clock
from moldau.core.settings.broker_keys import BrokerSettings
from moldau.core.settings.resolve import BrokerLayers, resolve_topic
from moldau.node.log_reconciliation import create_missing_logs, reconcile_alone, reconcile_with_cluster
from moldau.storage.directory.log_dir import LogDirectory
from moldau.storage.directory.meta_properties import new_identity, parse_properties
from moldau.storage.disk import Disk
from moldau.storage.log_config import LogConfig
from moldau.storage.names import META_PROPERTIES
from moldau.storage.os_files import OsFiles

_log = logging.getLogger("moldau.node")

STORE_FILE: Final = "moldau-metadata.sqlite"


@dataclass(frozen=True, slots=True)
class OpenedData:
    cluster_id: str
    store: Store
    catalog: TopicCatalog
    directories: Sequence[LogDirectory]
    offline: Mapping[str, str]
    """Directories that could not be opened, and why."""

    def close(self, *, clean: bool) -> None:
        for directory in self.directories:
            try:
                directory.close(clean=clean)
            except StorageFault as fault:
                _log.error("%s", fault)
        self.store.close()


def open_data(
    layers: BrokerLayers, clock: Clock, *, disk: Disk | None = None, cluster_store: Store | None = None
) -> OpenedData:
    """ConfigError or StorageFault when there is nothing to serve from. `cluster_store` is the store that the brokers of
    a cluster share; a broker that stands alone keeps its own beside its logs."""
    settings = layers.settings()
    paths = [os.path.abspath(path) for path in settings.log_dirs or settings.log_dir]
    topics = _TopicConfigs(layers, paths[0], cluster_store)
    try:
        return _open(topics, settings, paths, clock, disk or OsFiles(), cluster_store)
    except BaseException:
        topics.close()
        raise


def _open(
    topics: "_TopicConfigs",
    settings: BrokerSettings,
    paths: Sequence[str],
    clock: Clock,
    disk: Disk,
    cluster_store: Store | None,
) -> OpenedData:
    # One value for all brokers, as in Kafka (KIP-966): the number of replicas a write needs must not depend on which
    # broker leads.
    defaults = {"min.insync.replicas": str(settings.min_insync_replicas)}
    directories: list[LogDirectory] = []
    offline: dict[str, str] = {}
    cluster_id: str | None = None
    if cluster_store is not None:
        wanted = _known_cluster(disk, paths[0]) or new_identity()
        cluster_id = claim_cluster_id(topics.store, wanted, defaults)
    for path in paths:
        try:
            directory = LogDirectory.open(
                disk,
                path,
                cluster_id=cluster_id,
                node_id=settings.node_id,
                config_for=topics.config_of,
                now_ms=clock.now_ms(),
            )
        except StorageFault as fault:
            # The first directory holds the store: without it there is nothing to serve.
            if path == paths[0]:
                raise
            _log.error("%s", fault)
            offline[path] = str(fault)
            continue
        directories.append(directory)
        cluster_id = cluster_id or claim_cluster_id(topics.store, directory.cluster_id, defaults)
    assert cluster_id is not None
    catalog = topics.catalog
    if cluster_store is not None:
        reconcile_with_cluster(topics.store, catalog, directories, settings.node_id)
        return OpenedData(cluster_id, topics.store, catalog, directories, offline)
    reconcile_alone(topics.store, catalog, topics.config_of, directories, settings.node_id, disk)
    if not offline:
        forget_deletions(topics.store)
        create_missing_logs(catalog, directories, topics.config_of, settings.node_id, clock)
    return OpenedData(cluster_id, topics.store, catalog, directories, offline)


class _TopicConfigs:
    """The settings of topics while logs are being opened. Opens the store on first use: by then the lock on its
    directory is held."""

    def __init__(self, layers: BrokerLayers, directory: str, cluster_store: Store | None) -> None:
        self._layers = layers
        self._path = f"{directory}/{STORE_FILE}"
        self._cluster_store = cluster_store
        # A cache on the method would belong to the class and keep every store that was ever opened.
        self._config = lru_cache(maxsize=1024)(self._resolve)

    @cached_property
    def store(self) -> Store:
        store = self._cluster_store or SqliteStore(self._path)
        create_folders(store)
        return store

    def close(self) -> None:
        """Closes the broker's own store; a shared one is closed where it was opened."""
        if self._cluster_store is None and "store" in vars(self):
            self.store.close()

    @cached_property
    def catalog(self) -> TopicCatalog:
        return load_catalog(self.store)

    @cached_property
    def settings(self) -> BrokerSettings:
        node_id = str(self._layers.settings().node_id)
        return self._layers._replace(
            dynamic_default=read_configs(self.store, layout.BROKER_CONFIGS, layout.ALL_BROKERS),
            dynamic=read_configs(self.store, layout.BROKER_CONFIGS, node_id),
        ).settings()

    def config_of(self, topic: str) -> LogConfig:
        entry = self.catalog.find(topic)
        return self._config(frozenset(entry.configs.items()) if entry is not None else frozenset())

    def _resolve(self, overrides: frozenset[tuple[str, str]]) -> LogConfig:
        return log_config_of(resolve_topic(self.settings, dict(overrides), checked=False), self.settings)


def _known_cluster(disk: Disk, directory: str) -> str | None:
    """The ID of the cluster that a directory already belongs to."""
    try:
        data = disk.read_bytes(f"{directory}/{META_PROPERTIES}")
    except OSError:
        return None
    return parse_properties(data.decode(errors="replace")).get("cluster.id")
