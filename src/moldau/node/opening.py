"""Opens what a broker keeps on disk: the log directories, the coordination store, and how the two agree.

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
from moldau.broker.topics.topic_admin import random_topic_id
from moldau.broker.topics.topic_records import forget_deletions, load_catalog, match_cluster_logs, match_logs
from moldau.broker.transactions.producer_ids import reserve_producer_ids
from moldau.coordination import tree_layout as layout
from moldau.coordination.sqlite import SqliteStore
from moldau.coordination.store import Store
from moldau.coordination.tree_setup import claim_cluster_id, create_folders
from moldau.core.errors import ConfigError, PeerError, StorageFault
from moldau.core.ids import BrokerId, ProducerId, TopicId, TopicPartition
from moldau.core.ports import Clock
from moldau.core.settings.broker_keys import BrokerSettings
from moldau.core.settings.resolve import BrokerLayers, resolve_topic
from moldau.core.settings.topic_keys import TopicSettings
from moldau.storage.directory.kraft_settings import read_topic_settings
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
    """ConfigError or StorageFault when there is nothing to serve from. A broker of a cluster is given the store it
    shares with the others; one that stands alone keeps its own beside its logs."""
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
    # One for all brokers, as Kafka keeps it (KIP-966): who leads must not decide how many replicas a write needs.
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
            # The first directory holds the metadata: without it there is nothing to serve.
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
        _agree_with_cluster(topics.store, catalog, directories, settings.node_id)
        return OpenedData(cluster_id, topics.store, catalog, directories, offline)
    _agree(topics, directories, settings.node_id, disk)
    if not offline:
        forget_deletions(topics.store)
        _create_missing(catalog, directories, topics, settings.node_id, clock)
    return OpenedData(cluster_id, topics.store, catalog, directories, offline)


class _TopicConfigs:
    """The settings of topics while logs are being opened. The store is opened on first use: by then the lock on
    its directory is held."""

    def __init__(self, layers: BrokerLayers, directory: str, cluster_store: Store | None) -> None:
        self._layers = layers
        self._path = f"{directory}/{STORE_FILE}"
        self._cluster_store = cluster_store
        # One of its own: a cache of the class would keep everything that was ever opened.
        self._config = lru_cache(maxsize=1024)(self._resolve)

    @cached_property
    def store(self) -> Store:
        store = self._cluster_store or SqliteStore(self._path)
        create_folders(store)
        return store

    def close(self) -> None:
        """Only the broker's own store; one that is shared was opened elsewhere."""
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
    """The cluster a directory belongs to already."""
    try:
        data = disk.read_bytes(f"{directory}/{META_PROPERTIES}")
    except OSError:
        return None
    return parse_properties(data.decode(errors="replace")).get("cluster.id")


def _agree_with_cluster(
    store: Store, catalog: TopicCatalog, directories: Sequence[LogDirectory], broker_id: int
) -> None:
    """What the cluster has deleted goes; what it knows nothing of, or has given to others, is set aside."""
    place_of = {place: directory for directory in directories for place in directory.logs}
    found = {place: directory.logs[place].topic_id for place, directory in place_of.items()}
    matched = match_cluster_logs(store, catalog, found, broker_id)
    for place in matched.deleted:
        place_of[place].delete_log(place).run()
    for place in matched.strays:
        path = place_of[place].set_aside_log(place)
        _log.warning("the log of %s is no replica of this cluster; it is kept as %s", place, path)


def _recorded_settings(disk: Disk, directories: Sequence[LogDirectory]) -> dict[str, dict[str, str]]:
    """What Kafka's metadata log, where there is one, says topics were set to, as far as it means something here."""
    settings: dict[str, dict[str, str]] = {}
    for directory in directories:
        try:
            settings |= read_topic_settings(disk, directory.path)
        except (OSError, PeerError) as error:
            _log.warning(
                "cannot read what Kafka's metadata log in %s says topics were set to: %s; adopted topics keep "
                "everything and are not compacted until `moldau topics alter` says otherwise",
                directory.path, error,
            )  # fmt: skip
    for topic, texts in settings.items():
        for name in list(texts):
            try:
                TopicSettings.values_of({name: texts[name]})
            except ConfigError as error:
                _log.warning("topic %s: leaving out %s=%s: %s", topic, name, texts.pop(name), error)
    return settings


def _agree(topics: _TopicConfigs, directories: Sequence[LogDirectory], broker_id: int, disk: Disk) -> None:
    """Holds logs against the catalog: unknown topics are adopted, unfinished deletions finished."""
    store, catalog = topics.store, topics.catalog
    place_of = {place: directory for directory in directories for place in directory.logs}
    ids: dict[str, TopicId] = {}
    found: dict[TopicPartition, TopicId] = {}
    for place, directory in place_of.items():
        log = directory.logs[place]
        if log.topic_id is None:
            log.assign_topic_id(_id_for(place.topic, catalog, ids))
        assert log.topic_id is not None
        found[place] = log.topic_id
    has_unknown = any(catalog.find(place.topic) is None for place in found)
    recorded = _recorded_settings(disk, directories) if has_unknown else {}
    matched = match_logs(store, catalog, found, broker_id, recorded)
    highest = max(
        (log.producers.highest_id for each in directories for log in each.logs.values()), default=-1
    )
    if matched.adopted and highest >= 0:
        reserve_producer_ids(store, BrokerId(broker_id), ProducerId(highest))
    for entry in matched.adopted:
        texts = ", ".join(f"{name}={text}" for name, text in sorted(entry.configs.items()))
        _log.warning(
            "adopting topic %s with %d partitions, found on disk, with %s; `moldau topics alter %s` changes that",
            entry.name, len(entry.partitions), texts, entry.name,
        )  # fmt: skip
        for index in range(len(entry.partitions)):
            place = TopicPartition(entry.name, index)
            if (home := place_of.get(place)) is not None:
                # It was opened when nothing was known of its topic.
                home.logs[place].config = topics.config_of(entry.name)
    for place in matched.deleted:
        place_of[place].delete_log(place).run()
    for place in matched.strays:
        path = place_of[place].set_aside_log(place)
        _log.warning("the log of %s belongs to no topic of this cluster; it is kept as %s", place, path)


def _id_for(topic: str, catalog: TopicCatalog, ids: dict[str, TopicId]) -> TopicId:
    """A log older than topic ids (before Kafka 2.8) says none of its own."""
    entry = catalog.find(topic)
    return entry.topic_id if entry is not None else ids.setdefault(topic, random_topic_id())


def _create_missing(
    catalog: TopicCatalog,
    directories: Sequence[LogDirectory],
    topics: _TopicConfigs,
    broker_id: int,
    clock: Clock,
) -> None:
    """A crash in the middle of a creation leaves a topic without some of its logs."""
    present = {place for directory in directories for place in directory.logs}
    for entry in catalog.topics():
        for index, partition in enumerate(entry.partitions):
            place = TopicPartition(entry.name, index)
            if broker_id in partition.replicas and place not in present:
                directory = min(directories, key=lambda each: len(each.logs))
                directory.create_log(
                    place, entry.topic_id, topics.config_of(entry.name), now_ms=clock.now_ms()
                )
