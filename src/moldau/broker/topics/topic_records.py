"""Topics in the coordination store: written, read back, and matched with the logs found on disk.

Everything here blocks and runs on a worker thread, or before anything is served. Each change is one `multi`:
after a crash it is complete or absent.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from moldau.broker.configs.config_records import read_configs
from moldau.broker.topics.catalog import (
    INTERNAL_TOPICS,
    PartitionEntry,
    TopicCatalog,
    TopicEntry,
    initial_entry,
)
from moldau.coordination import tree_layout as layout
from moldau.coordination.store import Create, Delete, NodeExists, NoNode, Op, Store
from moldau.coordination.tree_layout import TopicNode
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.core.ids import TopicId, TopicPartition, topic_id_parse


def load_catalog(store: Store) -> TopicCatalog:
    catalog = TopicCatalog()
    configured = set(store.children(layout.TOPIC_CONFIGS))
    for name in store.children(layout.TOPICS):
        node = layout.decode_topic(store.get(layout.topic_path(name)).data)
        configs = read_configs(store, layout.TOPIC_CONFIGS, name) if name in configured else {}
        catalog.put(TopicEntry(name, node.topic_id, _load_states(store, name, node.replicas), configs))
    return catalog


def _load_states(store: Store, name: str, replicas: Sequence[tuple[int, ...]]) -> tuple[PartitionEntry, ...]:
    born = {brokers: initial_entry(brokers) for brokers in set(replicas)}
    entries = [born[brokers] for brokers in replicas]
    folder = layout.partitions_path(name)
    if store.exists(folder):
        for index in map(int, store.children(folder)):
            state = layout.decode_state(*store.get(layout.state_path(name, index)))
            entries[index] = PartitionEntry(state.leader, state.leader_epoch, replicas[index], state.isr)
    return tuple(entries)


def write_new(store: Store, entry: TopicEntry) -> None:
    """ApiError when the topic already exists."""
    node = TopicNode(entry.topic_id, tuple(partition.replicas for partition in entry.partitions))
    ops: list[Op] = [Create(layout.topic_path(entry.name), layout.encode_topic(node))]
    if entry.configs:
        ops.append(Create(layout.topic_config_path(entry.name), layout.encode_configs(entry.configs)))
    try:
        store.multi(ops)
    except NodeExists:
        raise ApiError(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{entry.name}' already exists.") from None


def write_partitions(store: Store, entry: TopicEntry, *, expected: int) -> None:
    """ApiError when the number of partitions is not the one the change was based on. The store's version of
    existing partitions stays: their replicas may be moving."""
    version, present = _look_up(store, entry)
    count = len(present.replicas)
    if count != expected:
        raise ApiError(
            ErrorCode.INVALID_PARTITIONS,
            f"The topic {entry.name} has {count} partition(s) now, not {expected}; try again.",
        )
    added = tuple(partition.replicas for partition in entry.partitions[count:])
    data = layout.encode_topic(present._replace(replicas=present.replicas[: len(entry.partitions)] + added))
    store.set(layout.topic_path(entry.name), data, version)


def write_deletion(store: Store, entry: TopicEntry) -> None:
    """Deletes the topic and leaves a marker, so that its logs are deleted even after a crash."""
    _look_up(store, entry)
    ops: list[Op] = [Delete(path) for path in _subtree(store, layout.topic_path(entry.name))]
    config_path = layout.topic_config_path(entry.name)
    if store.exists(config_path):
        ops.append(Delete(config_path))
    ops.append(Create(layout.deletion_path(entry.topic_id), entry.name.encode()))
    store.multi(ops)


def write_deleted(store: Store, topic_id: TopicId) -> None:
    """Deletes the marker once the logs are deleted."""
    with suppress(NoNode):
        store.delete(layout.deletion_path(topic_id))


def forget_deletions(store: Store) -> None:
    """For the start, once the logs of deleted topics are removed from every directory."""
    for node in store.children(layout.DELETIONS):
        write_deleted(store, topic_id_parse(node))


def _look_up(store: Store, entry: TopicEntry) -> tuple[int, TopicNode]:
    """Version and content of a topic's node. ApiError when the topic was deleted, or another has its name
    now."""
    try:
        data, version = store.get(layout.topic_path(entry.name))
        node = layout.decode_topic(data)
        if node.topic_id == entry.topic_id:
            return version, node
    except NoNode:
        pass
    raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"topic '{entry.name}' was deleted in the meantime")


def _subtree(store: Store, path: str) -> list[str]:
    """A node and all its descendants, deepest first."""
    below = [node for child in store.children(path) for node in _subtree(store, f"{path}/{child}")]
    return [*below, path]


class FoundLogs(NamedTuple):
    """How the logs on disk were classified."""

    adopted: list[TopicEntry]
    """Topics that were only on disk, as in a directory written by Apache Kafka; now in store and catalog."""
    deleted: list[TopicPartition]
    """Logs of topics whose deletion was not finished: to be removed."""
    strays: list[TopicPartition]
    """Logs that belong to no known topic, for example to an older one of the same name: to be set aside."""


def match_logs(
    store: Store,
    catalog: TopicCatalog,
    found: Mapping[TopicPartition, TopicId],
    broker_id: int,
    recorded: Mapping[str, Mapping[str, str]],
) -> FoundLogs:
    """Compares the logs on disk with the catalog. Call once, before anything is served. `recorded`: the topic
    settings of the broker that wrote the logs, as far as known."""
    deleted = {topic_id_parse(node) for node in store.children(layout.DELETIONS)}
    removed: list[TopicPartition] = []
    strays: list[TopicPartition] = []
    unknown: dict[str, dict[TopicId, int]] = {}
    for (name, index), topic_id in found.items():
        entry = catalog.find(name)
        if topic_id in deleted:
            removed.append(TopicPartition(name, index))
        elif entry is None:
            counts = unknown.setdefault(name, {})
            counts[topic_id] = max(counts.get(topic_id, 0), index + 1)
        elif entry.topic_id != topic_id or index >= len(entry.partitions):
            strays.append(TopicPartition(name, index))
    adopted = []
    for name, counts in unknown.items():
        # Two topics cannot have one name; the one with more partitions stays.
        topic_id = max(counts, key=lambda each: (counts[each], each))
        if len(counts) > 1:
            others = {*counts} - {topic_id}
            strays += [
                topic_partition
                for topic_partition, its_id in found.items()
                if topic_partition.topic == name and its_id in others
            ]
        partitions = (initial_entry((broker_id,)),) * counts[topic_id]
        adopted.append(TopicEntry(name, topic_id, partitions, _adopted_configs(name, recorded.get(name, {}))))
    for entry in adopted:
        write_new(store, entry)
        catalog.put(entry)
    return FoundLogs(adopted, removed, strays)


def match_cluster_logs(
    store: Store, catalog: TopicCatalog, found: Mapping[TopicPartition, TopicId | None], broker_id: int
) -> FoundLogs:
    """Like `match_logs`, in a cluster: no topic is adopted, because the other brokers do not know it."""
    deleted = {topic_id_parse(node) for node in store.children(layout.DELETIONS)}
    removed: list[TopicPartition] = []
    strays: list[TopicPartition] = []
    for topic_partition, topic_id in found.items():
        entry = catalog.find(topic_partition.topic)
        if topic_id in deleted:
            removed.append(topic_partition)
        elif (
            entry is None
            or entry.topic_id != topic_id
            or topic_partition.partition >= len(entry.partitions)
            or broker_id not in entry.partitions[topic_partition.partition].replicas
        ):
            strays.append(topic_partition)
    return FoundLogs([], removed, strays)


def _adopted_configs(name: str, recorded: Mapping[str, str]) -> dict[str, str]:
    """The retention defaults of the broker that wrote the topic are unknown here, so nothing may be deleted
    until somebody sets them."""
    if name in INTERNAL_TOPICS:
        return {"cleanup.policy": "compact", **recorded}
    return {"retention.ms": "-1", "retention.bytes": "-1", **recorded}
