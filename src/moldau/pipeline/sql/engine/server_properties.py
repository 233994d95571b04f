"""The settings that statements speak of: what SET and ALTER SYSTEM accept, and what SHOW PROPERTIES lists.

One declaration for each setting of a query. All other settings belong to the server process and are only listed. Kafka
Streams' own settings keep their names; `ksql.streams.auto.offset.reset` is another name for `auto.offset.reset`.
"""

import difflib
from collections.abc import Iterable, Mapping
from typing import Final

from moldau.core.errors import ConfigError
from moldau.core.settings.checks import NON_EMPTY, one_of
from moldau.core.settings.key import boolean, integer, long, string
from moldau.core.settings.view import SettingsView, nearest_text
from moldau.pipeline.sql.engine.answers import ServerProperty
from moldau.pipeline.sql.syntax.errors import NOWHERE, Position, SqlError

STREAMS_PREFIX: Final = "ksql.streams."
OPEN_PREFIXES: Final = (
    "ksql.functions.",
    "ksql.properties.overrides.",
    "consumer.",
    "producer.",
    "main.consumer.",
    "restore.consumer.",
    "global.consumer.",
    "admin.",
    "topic.",
)
"""Of settings whose names are not all known here. The values are not checked."""
SUBSTITUTION: Final = "ksql.variable.substitution.enable"
MISSPELT: Final = 0.85
"""As similar as this, a name that no setting has is meant to be one."""
HIDDEN: Final = "[hidden]"
_SECRETS: Final = (
    "password",
    "secret",
    "credential",
    "user.info",
    "jaas",
    "private.key",
    "ssl.keystore.key",
)
_NO_CACHE: Final = "results are written once for each batch"
_ONE_HOST: Final = "Spark decides how many tasks run at a time"
_ALWAYS: Final = "it is always possible"
_CLIENT: Final = "the engine sets up its own clients; use the prefix consumer. or producer."


class QuerySettings(SettingsView):
    """What may be different for each query."""

    KIND = "query"

    offset_reset = string(
        "auto.offset.reset",
        "latest",
        "Where a query begins to read streams: at the earliest record there is, or at those still to come.",
        check=one_of("earliest", "latest", ignore_case=True),
    )
    processing_guarantee = string(
        "processing.guarantee",
        "exactly_once_v2",
        "Whether each record has its effect exactly once, or at least once.",
        check=one_of("at_least_once", "exactly_once", "exactly_once_v2", "exactly_once_beta"),
    )
    key_format = string(
        "ksql.persistence.default.format.key", "KAFKA", "The format of keys where WITH says none."
    )
    value_format = string(
        "ksql.persistence.default.format.value", None, "The format of values where WITH says none."
    )
    wrap_single_values = boolean(
        "ksql.persistence.wrap.single.values", None, "WRAP_SINGLE_VALUE where WITH says none."
    )
    topic_replicas = integer(
        "ksql.internal.topic.replicas", 1, "The replication factor of internal topics.", at_least=1
    )
    replication_factor = integer(
        "replication.factor", -1, "The replication factor of topics that queries create.", at_least=-1
    )
    substitutes_variables = boolean(
        SUBSTITUTION, True, "Whether ${name} in a statement stands for a variable."
    )
    allows_table_scan = boolean(
        "ksql.query.pull.table.scan.enabled", True, "Whether pull queries without a key are answered."
    )
    offset_lag_max = long(
        "ksql.query.pull.max.allowed.offset.lag",
        2**63 - 1,
        "How many records a table may be behind and still be asked.",
        at_least=0,
    )
    fails_on_bad_time = boolean(
        "ksql.timestamp.throw.on.invalid", False, "Fail a query at a record without a valid time."
    )
    fails_on_bad_records = boolean(
        "ksql.fail.on.deserialization.error", False, "Fail a query at a record that cannot be read."
    )
    commit_interval_ms = long(
        "commit.interval.ms",
        2_000,
        "How often a query commits.",
        at_least=0,
        inert="a query commits each batch",
    )
    threads = integer("num.stream.threads", 4, "Threads of a query.", at_least=0, inert=_ONE_HOST)
    standby_replicas = integer("num.standby.replicas", 0, "Copies of the state.", at_least=0, inert=_ONE_HOST)
    buffered_bytes_max = long(
        "cache.max.bytes.buffering", 10_000_000, "The cache before a sink.", at_least=0, inert=_NO_CACHE
    )
    cache_bytes_max = long(
        "statestore.cache.max.bytes", 10_000_000, "The cache before a sink.", at_least=0, inert=_NO_CACHE
    )
    task_idle_ms = long(
        "max.task.idle.ms",
        0,
        "How long a task waits for records.",
        at_least=-1,
        inert="Spark plans each batch",
    )
    task_timeout_ms = long(
        "task.timeout.ms",
        300_000,
        "How long a task is retried.",
        at_least=0,
        inert="failed queries are restarted",
    )
    topology_optimization = string(
        "topology.optimization", "all", "Which optimizations are done.", check=NON_EMPTY, inert="all are done"
    )
    push_v2 = boolean("ksql.query.push.v2.enabled", True, "Push queries tail topics.", inert=_ALWAYS)
    pull_interpreter = boolean("ksql.query.pull.interpreter.enabled", True, "Not compiled.", inert=_ALWAYS)
    pull_streams = boolean("ksql.query.pull.stream.enabled", True, "Pull queries of streams.", inert=_ALWAYS)
    pull_ranges = boolean("ksql.query.pull.range.scan.enabled", True, "Ranges of keys.", inert=_ALWAYS)
    pull_limits = boolean(
        "ksql.query.pull.limit.clause.enabled", True, "LIMIT of pull queries.", inert=_ALWAYS
    )
    pull_consistency = boolean(
        "ksql.query.pull.consistency.token.enabled", False, "Consistency tokens.", inert="there are none"
    )
    suppresses = boolean("ksql.suppress.enabled", True, "EMIT FINAL.", inert=_ALWAYS)
    suppressed_bytes_max = long(
        "ksql.suppress.buffer.size.bytes",
        -1,
        "The buffer of EMIT FINAL.",
        at_least=-1,
        inert="it has no limit",
    )
    keeps_null_in_casts = boolean(
        "ksql.cast.strings.preserve.nulls", True, "NULL as STRING is NULL.", inert=_ALWAYS
    )
    nested_errors_are_null = boolean(
        "ksql.nested.error.set.null", True, "A failed part of an expression is NULL.", inert=_ALWAYS
    )
    max_poll_records = integer("max.poll.records", 500, "Records of one poll.", at_least=1, inert=_CLIENT)
    session_timeout_ms = integer("session.timeout.ms", 45_000, "Of the group.", at_least=1, inert=_CLIENT)
    request_timeout_ms = integer("request.timeout.ms", 30_000, "Of a request.", at_least=1, inert=_CLIENT)
    compression = string("compression.type", None, "Of what is written.", check=NON_EMPTY, inert=_CLIENT)
    acks = string("acks", "all", "Of what is written.", check=one_of("0", "1", "-1", "all"), inert=_CLIENT)


def canonical_name(name: str) -> str:
    """The short name of a setting of Kafka Streams."""
    name = name.strip()
    return name.removeprefix(STREAMS_PREFIX) if name.startswith(STREAMS_PREFIX) else name


def is_editable(name: str) -> bool:
    """Whether SET and ALTER SYSTEM may change it."""
    short = canonical_name(name)
    return short in QuerySettings.KEYS or short.startswith(OPEN_PREFIXES)


def checked(name: str, value: str, settings: Iterable[str], at: Position = NOWHERE) -> tuple[str, str]:
    """The short name and the value of a property of SET. `settings` are the server's. SqlError where the property is
    unknown, belongs to the server, or does not take the value."""
    short = editable_name(name, settings, at)
    key = QuerySettings.KEYS.get(short)
    if key is not None:
        try:
            key.parse(value)
        except ConfigError as wrong:
            raise SqlError(str(wrong), at) from None
    return short, value.strip()


def check_sent(properties: Mapping[str, str], settings: Iterable[str]) -> None:
    """Properties that came with a request. Clients may send any setting of Kafka's clients, which has no effect here;
    SqlError for a wrong value, a setting of the server, and what is a misspelt setting."""
    for name, value in properties.items():
        short = canonical_name(name)
        if is_editable(short) or short in settings or name in settings:
            checked(name, value, settings)
        elif near := difflib.get_close_matches(short, QuerySettings.KEYS, 1, MISSPELT):
            raise SqlError(f"unknown property {name}", hint=f"Did you mean {near[0]}?")


def editable_name(name: str, settings: Iterable[str], at: Position = NOWHERE) -> str:
    """The short name. SqlError where the property is unknown or belongs to the server."""
    if is_editable(name):
        return canonical_name(name)
    known = [*QuerySettings.KEYS, *settings]
    if name in known:
        raise SqlError(
            f"{name} is a setting of the server; a statement cannot change it",
            at,
            hint="Set it in the server's properties file and restart the server.",
        )
    nearest = nearest_text(name, known).removeprefix("; did you mean ").removesuffix("?")
    hint = f"Did you mean {nearest}?" if nearest else "SHOW PROPERTIES; lists those there are."
    raise SqlError(f"unknown property {name}", at, hint=hint)


def all_properties(
    settings: Mapping[str, str], system: Mapping[str, str], session: Mapping[str, str]
) -> tuple[ServerProperty, ...]:
    """Every setting with the value a statement would have now: the session's before the system's before the server's.
    Secrets are hidden."""
    own = {canonical_name(name): value for name, value in settings.items()}
    names = sorted({*QuerySettings.KEYS, *own, *system, *session})
    return tuple(_property(name, own, system, session) for name in names)


def _property(
    name: str, settings: Mapping[str, str], system: Mapping[str, str], session: Mapping[str, str]
) -> ServerProperty:
    default = default_text(name)
    value = next((one[name] for one in (session, system, settings) if name in one), default)
    is_own = name.startswith("ksql.") or not is_editable(name)
    return ServerProperty(
        name=name,
        value=HIDDEN if is_secret(name) and value else value,
        scope="KSQL" if is_own else "KAFKA STREAMS",
        level="SESSION" if is_editable(name) else "SERVER",
        is_overridden=name in session,
        is_default=name not in session and value == default,
        is_editable=is_editable(name),
    )


def default_text(name: str) -> str:
    key = QuerySettings.KEYS.get(name)
    if key is None or key.default is None:
        return ""
    return str(key.default).lower() if isinstance(key.default, bool) else str(key.default)


def is_secret(name: str) -> bool:
    low = name.lower()
    return any(word in low for word in _SECRETS)
