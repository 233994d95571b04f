"""The topics of streams and tables: which must be there, which are created, and how many partitions joins need."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from moldau.pipeline.sql.analysis.plan import QueryPlan
from moldau.pipeline.sql.definitions import SourceInfo
from moldau.pipeline.sql.engine.decision import NewTopic
from moldau.pipeline.sql.engine.facts import Facts, TopicFacts
from moldau.pipeline.sql.engine.protected_topics import check_source_usable, check_writable
from moldau.pipeline.sql.engine.with_properties import WithProperties
from moldau.pipeline.sql.syntax.errors import Position, SqlError

_NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,249}")
ADDITIONAL_RETENTION_MS: Final = 86_400_000
"""How much longer than its windows the topic of a windowed table is kept: retention of topics goes by the wall clock,
that of windows by the time of records. Kafka Streams has it for its changelogs
(windowstore.changelog.additional.retention.ms); here servers load the table from its own topic."""
LONG_MAX: Final = 2**63 - 1
BROKER_DEFAULT: Final = -1
"""The replication factor that the brokers choose."""


def topic_name(name: str, said: WithProperties, at: Position) -> str:
    """The topic of a stream or table: by default it has its name."""
    topic: str = said.get("KAFKA_TOPIC") or name
    if _NAME.fullmatch(topic) and topic not in (".", ".."):
        return topic
    raise SqlError(
        f"'{topic}' cannot be the name of a topic",
        said.places.get("KAFKA_TOPIC", at),
        hint="Give KAFKA_TOPIC a name of at most 249 letters, digits, '.', '_' and '-'.",
    )


def topic_of_source(
    source: SourceInfo, said: WithProperties, facts: Facts, at: Position
) -> tuple[NewTopic, ...]:
    """What CREATE over a topic has to create. SqlError where the topic is missing or another."""
    found = facts.topics.get(source.topic)
    if found is not None:
        _check_same(source.topic, found, said)
        return ()
    check_writable(source.topic, facts.settings, said.places.get("KAFKA_TOPIC", at))
    partitions = said.get("PARTITIONS")
    if partitions is None:
        raise SqlError(
            f"the topic {source.topic} does not exist",
            at,
            hint="Create it first; or say how many partitions a new one has: WITH (..., PARTITIONS=6).",
        )
    replicas = said.get("REPLICAS") or BROKER_DEFAULT
    return (NewTopic(source.topic, partitions, replicas, _configs(source, said, None)),)


def sink_topic(
    target: SourceInfo, plan: QueryPlan, said: WithProperties, facts: Facts, at: Position
) -> tuple[TopicFacts, tuple[NewTopic, ...]]:
    """The topic that a query fills, as it is or will be, and what to create for it. A new one has as many partitions as
    what the query reads first."""
    check_writable(target.topic, facts.settings, said.places.get("KAFKA_TOPIC", at))
    check_copartitioned(plan, facts, at)
    found = facts.topics.get(target.topic)
    if found is not None:
        _check_same(target.topic, found, said)
        return found, ()
    first = facts.topics[plan.first.source.topic]
    retention_ms = None
    if plan.grouping is not None and plan.grouping.window is not None:
        retention_ms = plan.grouping.window.retention_ms
    new = NewTopic(
        target.topic,
        said.get("PARTITIONS") or first.partitions,
        said.get("REPLICAS") or first.replicas,
        _configs(target, said, retention_ms),
    )
    return TopicFacts(new.partitions, new.replicas, new.configs), (new,)


def _check_same(topic: str, found: TopicFacts, said: WithProperties) -> None:
    for name, actual in (("PARTITIONS", found.partitions), ("REPLICAS", found.replicas)):
        wanted = said.get(name)
        if wanted not in (None, actual, BROKER_DEFAULT):
            raise said.wrong(
                name,
                f"the topic {topic} exists with {name}={actual}, and the statement says {name}={wanted}",
                f"Leave {name} out, or use another KAFKA_TOPIC.",
            )


def _configs(source: SourceInfo, said: WithProperties, window_retention_ms: int | None) -> Mapping[str, str]:
    """A table's topic keeps the last record of each key; that of a windowed one forgets old windows too."""
    policy, retention_ms = said.get("CLEANUP_POLICY"), said.get("RETENTION_MS")
    if source.is_table and source.window is None and retention_ms is not None:
        raise said.wrong(
            "RETENTION_MS",
            f"RETENTION_MS has no meaning for the table {source.name}: its topic keeps the last row of each key",
            "Leave it out. Streams and windowed tables can have it.",
        )
    if policy is None:
        policy = "delete" if not source.is_table else "compact" if source.window is None else "compact,delete"
    else:
        policy = _policy(str(policy), said)
    configs = {"cleanup.policy": policy}
    if retention_ms is None and source.is_table and source.window is not None:
        retention_ms = None
        if window_retention_ms is not None:
            retention_ms = min(window_retention_ms + ADDITIONAL_RETENTION_MS, LONG_MAX)
    if retention_ms is not None:
        configs["retention.ms"] = str(retention_ms)
    return configs


def _policy(text: str, said: WithProperties) -> str:
    parts = sorted({part.strip().lower() for part in text.replace("_", ",").split(",")})
    if not parts or not set(parts) <= {"compact", "delete"}:
        raise said.wrong(
            "CLEANUP_POLICY", f"CLEANUP_POLICY is '{text}'; it takes 'compact', 'delete' or 'compact,delete'"
        )
    return ",".join(parts)


# Joins


def check_copartitioned(plan: QueryPlan, facts: Facts, at: Position) -> None:
    """SqlError where a topic is hidden or missing, or records with the same key would meet in different partitions."""
    counts: dict[str, int] = {}
    for one in plan.inputs:
        check_source_usable(one.source, facts.settings, at)
        found = facts.topics.get(one.source.topic)
        if found is None:
            hint = (
                "It was deleted after the stream or table was created. Create it again, or drop its source."
            )
            raise SqlError(f"the topic {one.source.topic} of {one.source.name} does not exist", at, hint=hint)
        counts[one.alias] = found.partitions
    together = [plan.first.alias]
    for step in plan.joins:
        if step.is_foreign_key:
            continue
        members = together if step.left_key is None else []
        members = [*members, step.right.alias] if step.right_key is None else members
        _check_equal(members, counts, at)
        together = members


def _check_equal(members: Sequence[str], counts: Mapping[str, int], at: Position) -> None:
    if len({counts[name] for name in members}) < 2:
        return
    said = ", ".join(
        f"{name} has {counts[name]} {'partition' if counts[name] == 1 else 'partitions'}" for name in members
    )
    most = max(members, key=lambda name: counts[name])
    fewest = min(members, key=lambda name: counts[name])
    raise SqlError(
        f"a join needs the same number of partitions on both sides: {said}",
        at,
        hint=f"Copy {fewest} by CREATE ... WITH (PARTITIONS={counts[most]}) AS SELECT ... PARTITION BY, and join that.",
    )
