"""Topics that statements must leave alone: those of the platform itself, with which a right on this server would be
worth more than it says. Who writes `_moldau_roles` grants himself every role.

Asked whenever a statement is decided, and never when it is replayed: what was defined before stays defined, and its
queries run until they are terminated.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from moldau.core.settings.checks import Check
from moldau.pipeline.sql.definitions import SourceInfo
from moldau.pipeline.sql.syntax.errors import NOWHERE, Position, SqlError

HIDDEN_TOPICS: Final = "ksql.hidden.topics"
READONLY_TOPICS: Final = "ksql.readonly.topics"
PLATFORM_TOPICS: Final = (
    "_confluent.*",
    "__.*",
    "_moldau_.*",
    "_mqtt.*",
    "_schemas.*",
    "(.*[-_])?connect-(configs|offsets|status|statuses)",
    r"mm2.*\.internal",
)
"""The default of both settings: of the brokers, of roles and logins, of the registry, Connect, MirrorMaker, the MQTT
proxy and the SQL servers."""
NEVER_WRITTEN: Final = (
    "__consumer_offsets",
    "__transaction_state",
    "_schemas",
    "_confluent",
    "__confluent",
    "_moldau_",
)
"""How the names of topics begin that no setting opens for writing."""


def _is_pattern(text: str) -> bool:
    try:
        re.compile(text)
    except re.error:
        return False
    return True


PATTERNS: Final = Check(
    lambda value: all(_is_pattern(one) for one in value), " of regular expressions", "_internal.*,secret"
)


def check_usable(topic: str, settings: Mapping[str, str], at: Position = NOWHERE) -> None:
    """SqlError for a topic that statements must neither read nor write."""
    if is_hidden(topic, settings):
        raise SqlError(
            f"the topic {topic} is internal: statements can neither read nor write it, because the setting "
            f"{HIDDEN_TOPICS} of this server hides it",
            at,
            hint=f"Use another topic; or an administrator sets {HIDDEN_TOPICS} and restarts the server.",
        )


def check_source_usable(source: SourceInfo, settings: Mapping[str, str], at: Position = NOWHERE) -> None:
    """The same of a stream or table that is read. One that was defined before its topic was hidden is still there."""
    try:
        check_usable(source.topic, settings, at)
    except SqlError as hidden:
        hidden.hint = f"{hidden.hint} DROP {source.kind} {source.name}; removes what is over it."
        raise


def check_writable(topic: str, settings: Mapping[str, str], at: Position = NOWHERE) -> None:
    """SqlError for a topic that statements must neither write nor delete."""
    check_usable(topic, settings, at)
    if topic.startswith(NEVER_WRITTEN):
        raise SqlError(
            f"the topic {topic} is internal: no statement writes or deletes it",
            at,
            hint="Reading it is allowed.",
        )
    if _matches(topic, settings, READONLY_TOPICS):
        raise SqlError(
            f"the topic {topic} is read-only: no statement writes or deletes it, because of the setting "
            f"{READONLY_TOPICS} of this server",
            at,
            hint=f"Reading it is allowed. An administrator can set {READONLY_TOPICS} and restart the server.",
        )


def is_writable(topic: str, settings: Mapping[str, str]) -> bool:
    """Whether statements may write and delete the topic."""
    try:
        check_writable(topic, settings)
    except SqlError:
        return False
    return True


def is_hidden(topic: str, settings: Mapping[str, str]) -> bool:
    """Whether statements see nothing of the topic, except its name in SHOW ALL TOPICS."""
    return _matches(topic, settings, HIDDEN_TOPICS)


def _matches(topic: str, settings: Mapping[str, str], name: str) -> bool:
    return _is_match(topic, settings.get(name, ",".join(PLATFORM_TOPICS)))


@lru_cache(4_096)
def _is_match(topic: str, patterns: str) -> bool:
    """Kept, since every row that is inserted asks."""
    return any(one.fullmatch(topic) for one in _patterns(patterns))


@lru_cache(16)
def _patterns(text: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(one.strip()) for one in text.split(",") if one.strip())
