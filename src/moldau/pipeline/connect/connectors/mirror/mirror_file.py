"""MirrorMaker 2's file: clusters, flows between them, and the connectors and workers that they need. Pure.

clusters = a, b
a.bootstrap.servers = ...          settings of all clients of a cluster follow its alias
a->b.enabled = true                settings of one flow; without a prefix, they are those of all flows
a->b.topics = orders, payments.*
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import permutations
from typing import Final, NamedTuple

from moldau.core.errors import ConfigError
from moldau.core.settings.properties import parse_properties
from moldau.core.settings.text_form import parse_list
from moldau.core.settings.view import nearest_text
from moldau.pipeline.connect.connectors.mirror.settings import CHECKPOINT, HEARTBEAT, SOURCE
from moldau.pipeline.connect.declarations import Declaration

CLUSTERS: Final = "clusters"
ARROW: Final = "->"
ENABLED: Final = "enabled"
HEARTBEATS_ON: Final = "emit.heartbeats.enabled"
TRUE: Final = "true"
BYTES: Final = "org.apache.kafka.connect.converters.ByteArrayConverter"
ROLES: Final = ("consumer.", "producer.", "admin.")
RECORD_PREFIXES: Final = ("transforms", "predicates", "errors.", "topic.creation.")
"""Of settings that the connector of records has as any other source."""
ALL_TASKS: Final = "tasks.max"
_CLASS: Final = "org.apache.kafka.connect.mirror."
_CONNECTORS: Final[Mapping[str, tuple[Declaration, ...]]] = {
    "MirrorSourceConnector": SOURCE,
    "MirrorCheckpointConnector": CHECKPOINT,
    "MirrorHeartbeatConnector": HEARTBEAT,
}
_ALIAS: Final = re.compile(r"[A-Za-z0-9_-]+")
_DECLARED: Final = frozenset(one.name for some in _CONNECTORS.values() for one in some)
_WITHOUT_EFFECT: Final = frozenset(
    {
        "dedicated.mode.enable.internal.rest",
        "add.source.alias.to.metrics",
        "exactly.once.source.support",
        "replication.policy.offset.lag.max",
        "use.incremental.alter.configs",
    }
)

_JAVA_CLASSES: Final = {
    "topic.filter.class": "DefaultTopicFilter",
    "group.filter.class": "DefaultGroupFilter",
    "config.property.filter.class": "DefaultConfigPropertyFilter",
    "forwarding.admin.class": "ForwardingAdmin",
}
"""Settings that name a class, with the one whose work is done here."""


class FlowName(NamedTuple):
    source: str
    target: str

    def __str__(self) -> str:
        return f"{self.source}{ARROW}{self.target}"


@dataclass(frozen=True, slots=True)
class TargetPlan:
    """What runs at one target: a worker with these settings, and connectors by their names."""

    alias: str
    worker: Mapping[str, str]
    flows: tuple[FlowName, ...]
    connectors: dict[str, Mapping[str, str]] = field(default_factory=dict)


class MirrorFile:
    """`is_worker_setting` says which settings are a worker's: those of internal topics, of Spark, of secrets."""

    def __init__(self, text: str, *, file: str, is_worker_setting: Callable[[str], bool]) -> None:
        """Raises ConfigError with the file, and the line where it is known."""
        self._file = file
        self._texts: dict[str, str] = {}
        self._is_worker_setting = is_worker_setting
        lines: dict[str, int] = {}
        for name, value, line in parse_properties(text, file=file):
            self._texts[name], lines[name] = value, line
        self.clusters = tuple(parse_list(self._texts.get(CLUSTERS, "")))
        self._require_clusters()
        for name, line in lines.items():
            self._require_known(name, f"{file}, line {line}")
        self.flows = tuple(one for one in self._pairs() if self._is_on(one, ENABLED, default=False))
        if not self.flows:
            first, second = self.clusters[:2]
            raise ConfigError(
                f"{file}: no flow is enabled: add for instance {first}{ARROW}{second}.{ENABLED} = {TRUE}"
            )

    def plans(self) -> list[TargetPlan]:
        """One for each cluster that is the target of a flow."""
        targets = dict.fromkeys(one.target for one in self.flows)
        plans = {
            alias: TargetPlan(
                alias, self._worker(alias), tuple(one for one in self.flows if one.target == alias)
            )
            for alias in targets
        }
        for flow in self.flows:
            for kind in ("MirrorSourceConnector", "MirrorCheckpointConnector"):
                self._add(plans[flow.target], flow, kind)
        for pair in self._heartbeat_pairs():
            # Where no worker is, one at the other end of the flow writes to the cluster itself.
            plan = plans.get(pair.target) or plans[pair.source]
            more = {} if plan.alias == pair.target else {"emit.heartbeats.directly": TRUE}
            self._add(plan, pair, "MirrorHeartbeatConnector", more)
        return list(plans.values())

    def _pairs(self) -> Iterable[FlowName]:
        return (FlowName(*pair) for pair in permutations(self.clusters, 2))

    def _heartbeat_pairs(self) -> list[FlowName]:
        """Both ways wherever there is a flow: heartbeats that are written to its source show that it goes on."""
        used = {one for flow in self.flows for one in (flow, FlowName(flow.target, flow.source))}
        return [one for one in self._pairs() if one in used and self._is_on(one, HEARTBEATS_ON, default=True)]

    def _is_on(self, flow: FlowName, name: str, *, default: bool) -> bool:
        text = self._texts.get(f"{flow}.{name}", self._texts.get(name, str(default)))
        return text.strip().lower() == TRUE

    def _add(
        self, plan: TargetPlan, flow: FlowName, kind: str, more: Mapping[str, str] | None = None
    ) -> None:
        name = f"{flow}.{kind}"
        declared = {one.name for one in _CONNECTORS[kind]}

        def takes(setting: str) -> bool:
            if setting in declared or setting == ALL_TASKS:
                return True
            is_of_clients = setting.startswith((*ROLES, "source.", "target."))
            is_of_records = kind == "MirrorSourceConnector" and setting.startswith(RECORD_PREFIXES)
            return is_of_clients or is_of_records

        own = f"{flow}."
        said = {setting: text for setting, text in self._texts.items() if takes(setting)}
        said |= {
            setting.removeprefix(own): text
            for setting, text in self._texts.items()
            if setting.startswith(own) and takes(setting.removeprefix(own))
        }
        if kind == "MirrorHeartbeatConnector":
            said[ENABLED] = TRUE
        plan.connectors[name] = {
            **self._of_cluster(flow.source, "source"),
            **self._of_cluster(flow.target, "target"),
            **said,
            "name": name,
            "connector.class": f"{_CLASS}{kind}",
            **dict.fromkeys(("key.converter", "value.converter", "header.converter"), BYTES),
            **(more or {}),
        }

    def _cluster_settings(self, alias: str) -> dict[str, str]:
        prefix = f"{alias}."
        return {
            name.removeprefix(prefix): text for name, text in self._texts.items() if name.startswith(prefix)
        }

    def _of_cluster(self, alias: str, side: str) -> dict[str, str]:
        """Under the names that connectors have for the settings of the clients of one side."""
        found = {f"{side}.cluster.alias": alias}
        for name, text in self._cluster_settings(alias).items():
            found[f"{side}.{name}" if name.startswith(ROLES) else f"{side}.cluster.{name}"] = text
        return found

    def _worker(self, alias: str) -> dict[str, str]:
        cluster = self._cluster_settings(alias)
        own = {name: text for name, text in self._texts.items() if self._is_of_worker(name)}
        return {
            "offset.storage.topic": "mm2-offsets.internal",
            "group.id": f"{alias}-mm2",
            **own,
            **{name: text for name, text in cluster.items() if self._is_of_worker(name)},
        }

    def _is_of_worker(self, name: str) -> bool:
        # admin.timeout.ms is the connectors', and looks like a setting of a client.
        return self._is_worker_setting(name) and name not in _DECLARED

    def _require_clusters(self) -> None:
        if len(self.clusters) < 2:
            raise ConfigError(
                f"{self._file}: `{CLUSTERS}` must name two clusters at least, for example {CLUSTERS} = a, b"
            )
        for alias in self.clusters:
            if not _ALIAS.fullmatch(alias):
                raise ConfigError(
                    f"{self._file}: {alias!r} cannot be a cluster's alias, which begins names of topics: use letters, "
                    "digits, underscores and hyphens"
                )
            if not self._texts.get(f"{alias}.bootstrap.servers", "").strip():
                raise ConfigError(
                    f"{self._file}: the cluster {alias} has no brokers: add {alias}.bootstrap.servers = host:port"
                )

    def _require_known(self, name: str, where: str) -> None:
        prefix, dot, rest = name.partition(".")
        source, arrow, target = prefix.partition(ARROW)
        if arrow and dot:
            for alias in (source, target):
                if alias not in self.clusters:
                    raise ConfigError(
                        f"{where}: {name} is about the cluster {alias}, which `{CLUSTERS}` does not have"
                        f"{nearest_text(alias, self.clusters)}. It has {', '.join(self.clusters)}"
                    )
            self._require_setting(rest, where, name)
        elif prefix not in self.clusters and name != CLUSTERS:
            self._require_setting(name, where, name)

    def _require_setting(self, setting: str, where: str, name: str) -> None:
        if setting in _JAVA_CLASSES:
            if self._texts[name].strip().rpartition(".")[2] != _JAVA_CLASSES[setting]:
                raise ConfigError(
                    f"{where}: {name} is a class in Java, which cannot run here. Name topics, groups and settings with "
                    "topics, topics.exclude, groups, groups.exclude and config.properties.exclude"
                )
            return
        is_known = (
            setting in _DECLARED
            or setting in _WITHOUT_EFFECT
            or setting in (ALL_TASKS, ENABLED)
            or setting.startswith((*ROLES, *RECORD_PREFIXES, "source.", "target."))
            or self._is_worker_setting(setting)
        )
        if not is_known:
            hint = nearest_text(setting, _DECLARED) or (
                f": settings of a cluster's clients follow its alias, as in {self.clusters[0]}.{setting}"
            )
            raise ConfigError(f"{where}: unknown setting {name}{hint}")
