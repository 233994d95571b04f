"""Makes the logs found on disk agree with the catalog when a broker starts: adopts, deletes, creates, sets aside.

Blocks: runs on a worker thread before anything is served.
"""

import logging
from collections.abc import Callable, Mapping, Sequence

from moldau.broker.topics.catalog import TopicCatalog
from moldau.broker.topics.topic_admin import random_topic_id
from moldau.broker.topics.topic_records import match_cluster_logs, match_logs
from moldau.broker.transactions.producer_ids import reserve_producer_ids
from moldau.coordination.store import Store
from moldau.core.errors import ConfigError, PeerError
from moldau.core.ids import BrokerId, ProducerId, TopicId, TopicPartition
from moldau.core.ports import Clock
from moldau.core.settings.topic_keys import TopicSettings
from moldau.storage.directory.kraft_settings import read_topic_settings
from moldau.storage.directory.log_dir import LogDirectory
from moldau.storage.disk import Disk
from moldau.storage.log_config import LogConfig

_log = logging.getLogger("moldau.node")

ConfigOf = Callable[[str], LogConfig]
"""The log settings of a topic, by its name."""


def reconcile_with_cluster(
    store: Store, catalog: TopicCatalog, directories: Sequence[LogDirectory], broker_id: int
) -> None:
    """Deletes the logs of topics the cluster has deleted. Sets aside logs of topics it does not know, and of partitions
    of which this broker is no replica."""
    directory_of = {each: directory for directory in directories for each in directory.logs}
    found = {each: directory.logs[each].topic_id for each, directory in directory_of.items()}
    matched = match_cluster_logs(store, catalog, found, broker_id)
    for each in matched.deleted:
        directory_of[each].delete_log(each).run()
    for each in matched.strays:
        path = directory_of[each].set_aside_log(each)
        _log.warning("the log of %s is no replica of this cluster; it is kept as %s", each, path)


def _recorded_settings(disk: Disk, directories: Sequence[LogDirectory]) -> dict[str, dict[str, str]]:
    """The topic settings in Kafka's metadata log, if there is one: those that exist here too."""
    settings: dict[str, dict[str, str]] = {}
    for directory in directories:
        try:
            settings |= read_topic_settings(disk, directory.path)
        except (OSError, PeerError) as error:
            _log.warning(
                "cannot read the topic settings from Kafka's metadata log in %s: %s; adopted topics keep all "
                "records and are not compacted until `moldau topics alter` changes that",
                directory.path, error,
            )  # fmt: skip
    for topic, texts in settings.items():
        for name in list(texts):
            try:
                TopicSettings.values_of({name: texts[name]})
            except ConfigError as error:
                _log.warning("topic %s: ignoring %s=%s: %s", topic, name, texts.pop(name), error)
    return settings


def reconcile_alone(
    store: Store,
    catalog: TopicCatalog,
    config_of: ConfigOf,
    directories: Sequence[LogDirectory],
    broker_id: int,
    disk: Disk,
) -> None:
    """Adopts topics that are on disk but not in the catalog, and finishes interrupted deletions."""
    directory_of = {each: directory for directory in directories for each in directory.logs}
    found = _topic_ids(catalog, directory_of)
    has_unknown = any(catalog.find(each.topic) is None for each in found)
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
            each = TopicPartition(entry.name, index)
            if (directory := directory_of.get(each)) is not None:
                # The log was opened before its topic was known.
                directory.logs[each].config = config_of(entry.name)
    for each in matched.deleted:
        directory_of[each].delete_log(each).run()
    for each in matched.strays:
        path = directory_of[each].set_aside_log(each)
        _log.warning("the log of %s belongs to no topic of this cluster; it is kept as %s", each, path)


def _topic_ids(
    catalog: TopicCatalog, directory_of: Mapping[TopicPartition, LogDirectory]
) -> dict[TopicPartition, TopicId]:
    """The topic ID of each log. Logs from before topic IDs (Kafka 2.8) have none and are assigned one."""
    new: dict[str, TopicId] = {}
    found: dict[TopicPartition, TopicId] = {}
    for each, directory in directory_of.items():
        log = directory.logs[each]
        if log.topic_id is None:
            entry = catalog.find(each.topic)
            log.assign_topic_id(
                entry.topic_id if entry is not None else new.setdefault(each.topic, random_topic_id())
            )
        assert log.topic_id is not None
        found[each] = log.topic_id
    return found


def create_missing_logs(
    catalog: TopicCatalog,
    directories: Sequence[LogDirectory],
    config_of: ConfigOf,
    broker_id: int,
    clock: Clock,
) -> None:
    """A crash while a topic is created leaves it without some of its logs."""
    present = {each for directory in directories for each in directory.logs}
    for entry in catalog.topics():
        for index, partition in enumerate(entry.partitions):
            missing = TopicPartition(entry.name, index)
            if broker_id in partition.replicas and missing not in present:
                directory = min(directories, key=lambda each: len(each.logs))
                directory.create_log(missing, entry.topic_id, config_of(entry.name), now_ms=clock.now_ms())
