"""The layout of the coordination tree: the path of each node and the form of its data, as Kafka kept them on ZooKeeper.

| node | content |
|---|---|
| /cluster/id | `{"version":"1","id":"..."}` |
| /brokers/ids/B | ephemeral: `{"version":5,"host":"h","port":9092,"endpoints":["PLAINTEXT://h:9092"],...}` |
| /brokers/topics/T | `{"version":3,"topic_id":"...","partitions":{"0":[1,2]},...}`: preferred leader first |
| /brokers/topics/T/partitions/P/state | `{"version":1,"leader":1,"isr":[1,2],"isr_epochs":[7,9],...}` |
| /brokers/seqid | its version is the last broker ID that was generated |
| /controller | ephemeral: `{"version":1,"brokerid":1,"timestamp":"1540874053577"}` |
| /controller_epoch | the epoch as text; its version fences every write of a controller |
| /config/{topics,brokers,groups,client-metrics}/NAME | `{"version":1,"config":{...}}`; `<default>`: all brokers |
| /config/{users,clients,ips}/NAME, /kafka-acl/... | see `security/` |
| /admin/delete_topics/ID | the name of a deleted topic whose logs may still exist |
| /admin/preferred_replica_election | `{"version":1,"partitions":[{"topic":"t","partition":0}]}`: written by hand |
| /admin/reassign_partitions | `{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[1]}]}`: by hand |
| /admin/shutdown/B | ephemeral: broker B is stopping and wants its leaderships moved |

A broker's epoch is the position of its node in the order of creations (KIP-380). A state node is written when a
partition's state first changes. Until then the partition has its initial state: its first replica leads in epoch 0
and all replicas are in sync. So a topic of ten thousand partitions is one node.

Two fields are not Kafka's. `isr_epochs` holds the broker epoch of each ISR member when it joined the ISR (KIP-903).
`intact_since` in a broker's node is the first of its epochs since which its logs lost nothing (KIP-966): a machine
crash may cut the end of a log, and such a broker is not in sync until it has caught up again.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple
from urllib.parse import quote, unquote

import orjson

from moldau.core.ids import TopicId, topic_id_parse, topic_id_text

CLUSTER_ID: Final = "/cluster/id"
BROKER_IDS: Final = "/brokers/ids"
BROKER_ID_SEQUENCE: Final = "/brokers/seqid"
TOPICS: Final = "/brokers/topics"
CONTROLLER: Final = "/controller"
CONTROLLER_EPOCH: Final = "/controller_epoch"
CONFIGS: Final = "/config"
TOPIC_CONFIGS: Final = "/config/topics"
BROKER_CONFIGS: Final = "/config/brokers"
GROUP_CONFIGS: Final = "/config/groups"
CLIENT_METRICS_CONFIGS: Final = "/config/client-metrics"
CONFIGS_OUTSIDE_IMAGE: Final = frozenset({"users", "clients", "ips", "changes"})
"""Kinds below CONFIGS that `security/` keeps, or that nobody reads."""
ALL_BROKERS: Final = "<default>"
DELETIONS: Final = "/admin/delete_topics"
PREFERRED_ELECTION: Final = "/admin/preferred_replica_election"
REASSIGNMENT: Final = "/admin/reassign_partitions"
SHUTDOWNS: Final = "/admin/shutdown"

TOPIC_NODE_VERSION: Final = 3
BROKER_NODE_VERSION: Final = 5
NO_LEADER: Final = -1
NOT_WRITTEN: Final = -1


class Endpoint(NamedTuple):
    listener: str
    host: str
    port: int


class BrokerRegistration(NamedTuple):
    broker_id: int
    epoch: int
    endpoints: tuple[Endpoint, ...]
    rack: str | None = None
    security: Mapping[str, str] = {}
    """Protocol of each listener, by the listener's name."""
    intact_since: int = 0
    """The logs of this broker lost nothing in this epoch or after it."""

    def endpoint(self, listener: str) -> Endpoint | None:
        return next((each for each in self.endpoints if each.listener == listener), None)


class PartitionState(NamedTuple):
    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    isr_epochs: tuple[int, ...]
    controller_epoch: int = 0
    version: int = NOT_WRITTEN
    """Of its node; NOT_WRITTEN while the partition has its initial state."""


class TopicNode(NamedTuple):
    topic_id: TopicId
    replicas: tuple[tuple[int, ...], ...]
    adding: Mapping[int, tuple[int, ...]] = {}
    removing: Mapping[int, tuple[int, ...]] = {}


def broker_path(broker_id: int) -> str:
    return f"{BROKER_IDS}/{broker_id}"


def shutdown_path(broker_id: int) -> str:
    return f"{SHUTDOWNS}/{broker_id}"


def topic_path(name: str) -> str:
    return f"{TOPICS}/{name}"


def partitions_path(name: str) -> str:
    return f"{TOPICS}/{name}/partitions"


def partition_path(name: str, partition: int) -> str:
    return f"{TOPICS}/{name}/partitions/{partition}"


def state_path(name: str, partition: int) -> str:
    return f"{TOPICS}/{name}/partitions/{partition}/state"


def topic_config_path(name: str) -> str:
    return f"{TOPIC_CONFIGS}/{name}"


def deletion_path(topic_id: TopicId) -> str:
    """By ID, unlike Kafka's: a topic name may be deleted, reused and deleted again."""
    return f"{DELETIONS}/{topic_id_text(topic_id)}"


def node_name(name: str) -> str:
    """A name with any characters, slashes included, as one part of a path."""
    return quote(name, safe="")


def name_of_node(node: str) -> str:
    return unquote(node)


def encode_broker(broker: BrokerRegistration, now_ms: int) -> bytes:
    first = broker.endpoints[0]
    node: dict[str, Any] = {
        "version": BROKER_NODE_VERSION,
        "host": first.host,
        "port": first.port,
        "jmx_port": -1,
        "timestamp": str(now_ms),
        "endpoints": [f"{each.listener}://{_bracketed(each.host)}:{each.port}" for each in broker.endpoints],
        "listener_security_protocol_map": dict(broker.security),
        # The epoch is known only after the node has been created: None stands for it.
        "intact_since": broker.intact_since if broker.intact_since < broker.epoch else None,
    }
    if broker.rack is not None:
        node["rack"] = broker.rack
    return orjson.dumps(node)


def decode_broker(broker_id: int, data: bytes, epoch: int) -> BrokerRegistration:
    node = orjson.loads(data)
    intact_since = node.get("intact_since")
    return BrokerRegistration(
        broker_id,
        epoch,
        tuple(_endpoint(text) for text in node["endpoints"]),
        node.get("rack"),
        node.get("listener_security_protocol_map", {}),
        epoch if intact_since is None else intact_since,
    )


def _endpoint(text: str) -> Endpoint:
    listener, _, address = text.partition("://")
    host, _, port = address.rpartition(":")
    return Endpoint(listener, host.removeprefix("[").removesuffix("]"), int(port))


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def encode_topic(topic: TopicNode) -> bytes:
    return orjson.dumps(
        {
            "version": TOPIC_NODE_VERSION,
            "topic_id": topic_id_text(topic.topic_id),
            "partitions": {str(index): list(brokers) for index, brokers in enumerate(topic.replicas)},
            "adding_replicas": {str(index): list(brokers) for index, brokers in topic.adding.items()},
            "removing_replicas": {str(index): list(brokers) for index, brokers in topic.removing.items()},
        }
    )


def decode_topic(data: bytes) -> TopicNode:
    node = orjson.loads(data)
    partitions = node["partitions"]
    return TopicNode(
        topic_id_parse(node["topic_id"]),
        tuple(tuple(partitions[str(index)]) for index in range(len(partitions))),
        _replicas_by_partition(node.get("adding_replicas", {})),
        _replicas_by_partition(node.get("removing_replicas", {})),
    )


def _replicas_by_partition(node: Mapping[str, Sequence[int]]) -> Mapping[int, tuple[int, ...]]:
    return {int(index): tuple(brokers) for index, brokers in node.items()}


def encode_state(state: PartitionState) -> bytes:
    return orjson.dumps(
        {
            "version": 1,
            "leader": state.leader,
            "leader_epoch": state.leader_epoch,
            "isr": list(state.isr),
            "controller_epoch": state.controller_epoch,
            "isr_epochs": list(state.isr_epochs),
        }
    )


def decode_state(data: bytes, version: int) -> PartitionState:
    node = orjson.loads(data)
    isr = tuple(node["isr"])
    return PartitionState(
        node["leader"],
        node["leader_epoch"],
        isr,
        tuple(node.get("isr_epochs", ())) or (0,) * len(isr),
        node["controller_epoch"],
        version,
    )


def encode_controller(broker_id: int, now_ms: int) -> bytes:
    return orjson.dumps({"version": 1, "brokerid": broker_id, "timestamp": str(now_ms)})


def decode_controller(data: bytes) -> int:
    return int(orjson.loads(data)["brokerid"])


def encode_configs(configs: Mapping[str, str]) -> bytes:
    return orjson.dumps({"version": 1, "config": dict(configs)})


def decode_configs(data: bytes) -> dict[str, str]:
    return dict(orjson.loads(data)["config"])
