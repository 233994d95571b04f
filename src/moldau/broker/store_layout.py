"""Where things are in the coordination store, and in which form: as Kafka keeps them on ZooKeeper.

| node | content |
|---|---|
| /cluster/id | `{"version":"1","id":"..."}` |
| /brokers/topics/T | `{"version":3,"topic_id":"...","partitions":{"0":[1]}}`: replicas, the preferred leader first |
| /brokers/topics/T/partitions/P/state | `{"version":1,"leader":1,"leader_epoch":0,"isr":[1],"controller_epoch":0}` |
| /config/{topics,brokers,groups,client-metrics}/NAME | `{"version":1,"config":{...}}`; `<default>`: all brokers |
| /admin/delete_topics/ID | the name of a topic whose logs are still to be deleted |

A state node is written when a partition's state first changes. Until then the state is the one it was born with:
led by its first replica in epoch 0, all replicas in sync. So a topic of ten thousand partitions is one node.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Final
from urllib.parse import quote, unquote

import orjson

from moldau.broker.topics.catalog import PartitionEntry
from moldau.coordination.store import Create, NodeExists, NoNode, Store
from moldau.core.ids import TopicId, topic_id_parse, topic_id_text

TOPICS: Final = "/brokers/topics"
DELETIONS: Final = "/admin/delete_topics"
CLUSTER_ID: Final = "/cluster/id"
TOPIC_CONFIGS: Final = "/config/topics"
BROKER_CONFIGS: Final = "/config/brokers"
GROUP_CONFIGS: Final = "/config/groups"
CLIENT_METRICS_CONFIGS: Final = "/config/client-metrics"
ALL_BROKERS: Final = "<default>"
TOPIC_NODE_VERSION: Final = 3

_FOLDERS: Final = (
    "/cluster",
    "/brokers",
    TOPICS,
    "/config",
    TOPIC_CONFIGS,
    BROKER_CONFIGS,
    GROUP_CONFIGS,
    CLIENT_METRICS_CONFIGS,
    "/admin",
    DELETIONS,
)


def prepare(store: Store) -> None:
    """Makes the folders that are missing; on a store in use that is one read."""
    while missing := [Create(path) for path in _FOLDERS if not store.exists(path)]:
        with suppress(NodeExists):  # Another broker starts at the same time.
            store.multi(missing)


def topic_path(name: str) -> str:
    return f"{TOPICS}/{name}"


def deletion_path(topic_id: TopicId) -> str:
    """By id, not by name as Kafka has it: a name may be deleted, taken again and deleted again."""
    return f"{DELETIONS}/{topic_id_text(topic_id)}"


def topic_config_path(name: str) -> str:
    return f"{TOPIC_CONFIGS}/{name}"


def node_name(name: str) -> str:
    """A name that may hold anything, slashes too, as one part of a path."""
    return quote(name, safe="")


def name_of_node(node: str) -> str:
    return unquote(node)


def encode_topic(topic_id: TopicId, replicas: Iterable[Sequence[int]]) -> bytes:
    return orjson.dumps(
        {
            "version": TOPIC_NODE_VERSION,
            "topic_id": topic_id_text(topic_id),
            "partitions": {str(index): list(brokers) for index, brokers in enumerate(replicas)},
        }
    )


def decode_topic(data: bytes) -> tuple[TopicId, list[tuple[int, ...]]]:
    """The topic's id and the replicas of each partition."""
    node = orjson.loads(data)
    partitions = node["partitions"]
    replicas = [tuple(partitions[str(index)]) for index in range(len(partitions))]
    return topic_id_parse(node["topic_id"]), replicas


def newborn(replicas: tuple[int, ...]) -> PartitionEntry:
    return PartitionEntry(leader=replicas[0], leader_epoch=0, replicas=replicas, isr=replicas)


def decode_state(data: bytes, replicas: tuple[int, ...]) -> PartitionEntry:
    node = orjson.loads(data)
    return PartitionEntry(node["leader"], node["leader_epoch"], replicas, tuple(node["isr"]))


def encode_configs(configs: Mapping[str, str]) -> bytes:
    return orjson.dumps({"version": 1, "config": dict(configs)})


def decode_configs(data: bytes) -> dict[str, str]:
    return dict(orjson.loads(data)["config"])


def claim_cluster_id(store: Store, wanted: str, broker_defaults: Mapping[str, str]) -> str:
    """The cluster's id: the one in the store, or `wanted` when this is the first to ask. A new cluster begins with
    these settings for all brokers."""
    defaults_path = f"{BROKER_CONFIGS}/{ALL_BROKERS}"
    while True:
        try:
            return str(orjson.loads(store.get(CLUSTER_ID).data)["id"])
        except NoNode:
            claim = [Create(CLUSTER_ID, orjson.dumps({"version": "1", "id": wanted}))]
        if broker_defaults and not store.exists(defaults_path):
            claim.append(Create(defaults_path, encode_configs(broker_defaults)))
        with suppress(NodeExists):  # Another broker starts at the same time.
            store.multi(claim)
