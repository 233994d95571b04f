"""The settings of the three connectors, under MirrorMaker 2's names and with its defaults."""

from collections.abc import Mapping
from typing import Any, Final

from moldau.core.settings.checks import one_of
from moldau.core.settings.key import ConfigKey, Importance, boolean, integer, long, short, string, strings
from moldau.pipeline.connect.connectors.mirror.replication_policy import DEFAULT, IDENTITY
from moldau.pipeline.connect.declarations import ConfigValue, Declaration, Texts, values_of

PARTITIONS: Final = "task.assigned.partitions"
GROUPS: Final = "task.assigned.groups"
TARGET: Final = "target"
_LISTS: Final = {
    "topics": (".*",),
    "topics.exclude": (r"mm2.*\.internal", r".*\.replica", "__.*"),
    "groups": (".*",),
    "groups.exclude": ("console-consumer-.*", "connect-.*", "__.*"),
    "config.properties.exclude": (
        r"follower\.replication\.throttled\.replicas",
        r"leader\.replication\.throttled\.replicas",
        r"message\.timestamp\.difference\.max\.ms",
        r"message\.timestamp\.type",
        r"unclean\.leader\.election\.enable",
        r"min\.insync\.replicas",
    ),
}


def _seconds(name: str, default: int, doc: str) -> Declaration:
    return _low(long(name, default, doc, at_least=0, importance=Importance.LOW), "Intervals")


def _list(name: str, doc: str, group: str) -> Declaration:
    return Declaration(
        strings(name, _LISTS[name], doc, importance=Importance.HIGH), group=group, width="LONG"
    )


def _switch(name: str, doc: str, *, default: bool = True, group: str = "Flow") -> Declaration:
    return _low(boolean(name, default, doc, importance=Importance.LOW), group)


def _replicas(name: str, default: int, doc: str) -> Declaration:
    return _low(short(name, default, f"{doc} Fewer if the cluster has fewer brokers.", at_least=-1), "Topics")


def _low(key: ConfigKey[Any], group: str) -> Declaration:
    return Declaration(key, group=group)


_CLUSTERS: Final = (
    Declaration(
        string("source.cluster.alias", "", "The alias of the source cluster.", importance=Importance.HIGH),
        is_required=True,
        group="Clusters",
    ),
    Declaration(
        string(
            "target.cluster.alias", TARGET, "The alias of the target cluster.", importance=Importance.HIGH
        ),
        group="Clusters",
    ),
    Declaration(
        string(
            "source.cluster.bootstrap.servers",
            "",
            "Brokers of the source cluster. All settings of Kafka's clients may follow `source.cluster.`, and those of "
            "one kind of client `source.consumer.`, `source.producer.` and `source.admin.`.",
            importance=Importance.HIGH,
        ),
        is_required=True,
        group="Clusters",
    ),
    Declaration(
        string(
            "target.cluster.bootstrap.servers",
            "",
            "Brokers of the target cluster, which must be that of the worker. Settings of clients follow "
            "`target.cluster.`, as for the source.",
            importance=Importance.HIGH,
        ),
        is_required=True,
        group="Clusters",
    ),
    _low(
        long("admin.timeout.ms", 60_000, "How long requests to a cluster may take.", at_least=1), "Clusters"
    ),
    _switch("enabled", "Whether the flow runs."),
)
_NAMES: Final = (
    Declaration(
        string(
            "replication.policy.class",
            DEFAULT,
            f"How mirrored topics are called: {DEFAULT} puts the source's alias before the name, {IDENTITY} keeps it.",
            importance=Importance.LOW,
        ),
        group="Names",
        width="LONG",
        recommends=lambda _: (DEFAULT, IDENTITY),
    ),
    _low(string("replication.policy.separator", ".", "Stands between alias and name."), "Names"),
    _switch(
        "replication.policy.internal.topic.separator.enabled",
        "Whether the separator is also used in the names of MirrorMaker's own topics.",
        group="Names",
    ),
)
_TOPICS: Final = (
    _list("topics", "The topics to mirror: names and patterns.", "Flow"),
    _list("topics.exclude", "Topics not to mirror, even if `topics` has them.", "Flow"),
)
_HEARTBEATS_TOO: Final = _switch(
    "heartbeats.replication.enabled", "Whether heartbeats are mirrored, even if `topics` does not have them."
)
_SYNCS: Final = (
    _low(
        string(
            "offset-syncs.topic.location",
            "source",
            "Which cluster has the topic of offset syncs.",
            check=one_of("source", TARGET),
            importance=Importance.LOW,
        ),
        "Topics",
    ),
    _switch(
        "emit.offset-syncs.enabled",
        "Whether offset syncs are written. Without them, offsets of groups cannot be translated.",
    ),
    _low(
        long("consumer.poll.timeout.ms", 1_000, "How long one look at the source may take.", at_least=0),
        "Flow",
    ),
)
SOURCE: Final = (
    *_CLUSTERS,
    *_NAMES,
    *_TOPICS,
    _HEARTBEATS_TOO,
    *_SYNCS,
    _list("config.properties.exclude", "Topic settings not to mirror.", "Flow"),
    _low(
        string(
            "use.defaults.from",
            TARGET,
            "Whose defaults hold for topic settings that are not set in the source.",
            check=one_of("source", TARGET),
            importance=Importance.LOW,
        ),
        "Flow",
    ),
    _replicas("replication.factor", 2, "Replicas of mirrored topics when they are created."),
    _replicas("offset-syncs.topic.replication.factor", 3, "Replicas of the topic of offset syncs."),
    _low(
        long(
            "offset.lag.max",
            100,
            "An offset sync is written after so many records, and soon after the last one.",
            at_least=0,
            importance=Importance.LOW,
        ),
        "Flow",
    ),
    _switch(
        "refresh.topics.enabled", "Whether new topics and partitions are found later.", group="Intervals"
    ),
    _seconds("refresh.topics.interval.seconds", 600, "How often new topics are looked for."),
    _switch(
        "sync.topic.configs.enabled", "Whether topics get the settings of their source.", group="Intervals"
    ),
    _seconds("sync.topic.configs.interval.seconds", 600, "How often topic settings are compared."),
    _switch("sync.topic.acls.enabled", "Whether topics get the ACLs of their source.", group="Intervals"),
    _seconds("sync.topic.acls.interval.seconds", 600, "How often ACLs are compared."),
    _low(
        integer(
            "poll.records.max",
            20_000,
            "The most records in one transaction when it is as large as a poll.",
            at_least=1,
            importance=Importance.LOW,
        ),
        "Flow",
    ),
)
CHECKPOINT: Final = (
    *_CLUSTERS,
    *_NAMES,
    *_TOPICS,
    *_SYNCS,
    _list("groups", "The consumer groups whose offsets are translated: names and patterns.", "Flow"),
    _list("groups.exclude", "Groups to leave out, even if `groups` has them.", "Flow"),
    _switch(
        "emit.checkpoints.enabled", "Whether translated offsets are written to the topic of checkpoints."
    ),
    _seconds("emit.checkpoints.interval.seconds", 60, "How often offsets are translated."),
    _switch("refresh.groups.enabled", "Whether new groups are found later.", group="Intervals"),
    _seconds("refresh.groups.interval.seconds", 600, "How often new groups are looked for."),
    _switch(
        "sync.group.offsets.enabled",
        "Whether translated offsets are committed in the target, for groups that nobody uses there.",
        default=False,
    ),
    _seconds("sync.group.offsets.interval.seconds", 60, "How often offsets are committed in the target."),
    _replicas("checkpoints.topic.replication.factor", 3, "Replicas of the topic of checkpoints."),
)
HEARTBEAT: Final = (
    *_CLUSTERS,
    *_NAMES,
    _switch("emit.heartbeats.enabled", "Whether heartbeats are written to the target."),
    _seconds("emit.heartbeats.interval.seconds", 1, "How often a heartbeat is written."),
    _replicas("heartbeats.topic.replication.factor", 3, "Replicas of the topic of heartbeats."),
    _switch(
        "emit.heartbeats.directly",
        "The task writes to the target itself, which need not be the cluster of the worker. `moldau mirror` uses this.",
        default=False,
    ),
)


def parse(declarations: tuple[Declaration, ...], texts: Texts, *, of: str) -> Mapping[str, Any]:
    """Values by name. Raises ConfigError."""
    return values_of(declarations, texts, of=of)


def same_alias(config: Texts) -> list[ConfigValue]:
    """Checks that need more than one setting, for all three."""
    source, target = config.get("source.cluster.alias"), config.get("target.cluster.alias", TARGET)
    if not source or source != target:
        return []
    error = f"source and target have the same alias, {source}: topics could not be told from their mirrors"
    return [ConfigValue("target.cluster.alias", target, errors=[error])]
