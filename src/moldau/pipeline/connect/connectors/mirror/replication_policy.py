"""Names of mirrored topics, and where a topic comes from: MirrorMaker's DefaultReplicationPolicy and
IdentityReplicationPolicy."""

from collections.abc import Mapping
from typing import Final

from moldau.core.errors import ConfigError

DEFAULT: Final = "org.apache.kafka.connect.mirror.DefaultReplicationPolicy"
IDENTITY: Final = "org.apache.kafka.connect.mirror.IdentityReplicationPolicy"
HEARTBEATS: Final = "heartbeats"


class ReplicationPolicy:
    """A topic `t` of the cluster `a` is called `a.t` where it is mirrored."""

    def __init__(self, separator: str = ".", *, separates_internal: bool = True) -> None:
        """`separates_internal`: the names of MirrorMaker's own topics have the separator too."""
        self._separator = separator
        internal = separator if separates_internal else "."
        self._internal = internal
        self._internal_suffix = f"{internal}internal"
        self._checkpoints_suffix = f"{internal}checkpoints{self._internal_suffix}"

    def remote_topic(self, source: str, topic: str) -> str:
        """The name that a topic of the cluster `source` has where it is mirrored."""
        return f"{source}{self._separator}{topic}"

    def topic_source(self, topic: str) -> str | None:
        """The cluster from which a topic was mirrored; None if it was not."""
        source, separator, rest = topic.partition(self._separator)
        return source if separator and rest else None

    def upstream_topic(self, topic: str) -> str | None:
        """The name of a mirrored topic in the cluster that it comes from."""
        source = self.topic_source(topic)
        return None if source is None else topic[len(source) + len(self._separator) :]

    def original_topic(self, topic: str) -> str:
        """The name of a topic where records were first written to it."""
        while (upstream := self.upstream_topic(topic)) is not None and upstream != topic:
            topic = upstream
        return topic

    def is_cycle(self, topic: str, target: str) -> bool:
        """Whether the records have been in the cluster `target` already."""
        while (source := self.topic_source(topic)) is not None:
            if source == target:
                return True
            upstream = self.upstream_topic(topic)
            if upstream is None or upstream == topic:
                return False
            topic = upstream
        return False

    def offset_syncs_topic(self, other: str) -> str:
        """`other`: the cluster at the other end of the flow than the one that has the topic."""
        return f"mm2-offset-syncs{self._internal}{other}{self._internal_suffix}"

    def checkpoints_topic(self, source: str) -> str:
        return f"{source}{self._checkpoints_suffix}"

    def is_heartbeats(self, topic: str) -> bool:
        return self.original_topic(topic) == HEARTBEATS

    def is_internal(self, topic: str) -> bool:
        """Topics of Kafka, of Connect and of MirrorMaker: never mirrored."""
        return topic.startswith(("__", ".")) or topic.endswith(
            (self._internal_suffix, "-internal", ".internal")
        )


class IdentityPolicy(ReplicationPolicy):
    """Topics keep their names, heartbeats excepted. Names no longer say where records come from, so it is not for two
    clusters that mirror the same topics to each other."""

    def __init__(self, source: str, separator: str = ".", *, separates_internal: bool = True) -> None:
        super().__init__(separator, separates_internal=separates_internal)
        self._source = source

    def remote_topic(self, source: str, topic: str) -> str:
        return super().remote_topic(source, topic) if _looks_like_heartbeats(topic) else topic

    def topic_source(self, topic: str) -> str | None:
        return super().topic_source(topic) if _looks_like_heartbeats(topic) else self._source

    def upstream_topic(self, topic: str) -> str | None:
        return super().upstream_topic(topic) if _looks_like_heartbeats(topic) else topic


def policy_of(values: Mapping[str, object]) -> ReplicationPolicy:
    """From the values of a connector's settings."""
    name = str(values["replication.policy.class"]).strip()
    separator = str(values["replication.policy.separator"])
    separates_internal = bool(values["replication.policy.internal.topic.separator.enabled"])
    short_name = name.rpartition(".")[2]
    if short_name == DEFAULT.rpartition(".")[2]:
        return ReplicationPolicy(separator, separates_internal=separates_internal)
    if short_name == IDENTITY.rpartition(".")[2]:
        source = str(values["source.cluster.alias"])
        return IdentityPolicy(source, separator, separates_internal=separates_internal)
    raise ConfigError(
        f"Invalid value {name} for configuration replication.policy.class: known are {DEFAULT}, with the cluster's "
        f"alias before each name, and {IDENTITY}, which keeps names"
    )


def _looks_like_heartbeats(topic: str) -> bool:
    return topic.endswith(HEARTBEATS)
