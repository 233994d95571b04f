"""`meta.properties`: the cluster and node a log directory belongs to. Java properties, version 1."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from moldau.core.errors import ConfigError
from moldau.core.ids import TopicId, topic_id_text

VERSION: Final = "1"


@dataclass(frozen=True, slots=True)
class MetaProperties:
    cluster_id: str
    node_id: int
    directory_id: str

    def text(self) -> bytes:
        """The keys in the order Kafka writes them, without the date: two equal directories have equal files."""
        return (
            f"#\ncluster.id={self.cluster_id}\ndirectory.id={self.directory_id}\n"
            f"node.id={self.node_id}\nversion={VERSION}\n"
        ).encode()


def new_identity() -> str:
    """A random UUID (RFC 4122, version 4) in the form Kafka prints: 22 characters, never starting with a dash,
    which a command line would take for an option."""
    while True:
        raw = bytearray(secrets.token_bytes(16))
        raw[6] = raw[6] & 0x0F | 0x40
        raw[8] = raw[8] & 0x3F | 0x80
        text = topic_id_text(TopicId(bytes(raw)))
        if not text.startswith("-"):
            return text


def parse_properties(text: str) -> dict[str, str]:
    """Parses as much of Java's format as Kafka writes there: comments, `=` or `:`, backslash escapes."""
    properties: dict[str, str] = {}
    for line in text.splitlines():
        line = line.strip()
        if not line or line[0] in "#!":
            continue
        for at, char in enumerate(line):
            if char in "=:" and (at == 0 or line[at - 1] != "\\"):
                key, value = line[:at].strip(), line[at + 1 :].strip()
                properties[key.replace("\\", "")] = value.replace("\\", "")
                break
    return properties


def check_properties(
    path: str, properties: Mapping[str, str], cluster_id: str | None, node_id: int
) -> MetaProperties:
    """Returns the file's content if it belongs to this broker; `properties` is empty when there is no file yet."""
    version = properties.get("version", "0" if "broker.id" in properties else VERSION)
    is_whole = "cluster.id" in properties and ("node.id" in properties or "broker.id" in properties)
    if properties and not is_whole:
        raise ConfigError(
            f"{path} does not say which cluster and node the directory belongs to: it is damaged. Restore "
            "cluster.id, node.id and version=1, or move the file away if the directory is this broker's own"
        )
    if version not in ("0", "1"):
        raise ConfigError(
            f"{path} has version {version}; this broker supports 0 and 1. Was it written by a newer Kafka?"
        )
    found_node = properties.get("node.id", properties.get("broker.id"))
    if found_node is not None and found_node != str(node_id):
        raise ConfigError(
            f"{path} says the directory belongs to node {found_node}, but node.id is {node_id}. "
            f"Set node.id={found_node}, or point log.dirs at another directory."
        )
    found_cluster = properties.get("cluster.id")
    if cluster_id is not None and found_cluster is not None and found_cluster != cluster_id:
        raise ConfigError(
            f"{path} says the directory belongs to cluster {found_cluster}, but this broker is in {cluster_id}. "
            "Point log.dirs at the directory of this cluster; do not delete the file while the data matters."
        )
    return MetaProperties(
        found_cluster or cluster_id or new_identity(),
        node_id,
        properties.get("directory.id") or new_identity(),
    )
