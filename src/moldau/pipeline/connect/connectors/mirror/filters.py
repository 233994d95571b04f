"""Lists of names and Java patterns that say which topics, groups and topic settings a flow takes."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Self

from moldau.core.errors import ConfigError
from moldau.pipeline.connect.connectors.mirror.replication_policy import ReplicationPolicy
from moldau.pipeline.java_texts.regex import to_search

_ANYTHING: Final = r"\A(?:%s)\z"


class Filter:
    """Takes a name that one of the included patterns matches as a whole, and none of the excluded ones."""

    def __init__(self, included: Sequence[str], excluded: Sequence[str], *, name: str) -> None:
        """`name` is the setting of the included patterns. Raises ConfigError for what is no pattern."""
        self._included = _pattern(included, name)
        self._excluded = _pattern(excluded, f"{name}.exclude")

    @classmethod
    def of(cls, values: Mapping[str, Any], name: str) -> Self:
        """From the settings `name` and `name.exclude`."""
        return cls(values[name], values[f"{name}.exclude"], name=name)

    def takes(self, text: str) -> bool:
        return _matches(self._included, text) and not _matches(self._excluded, text)


class TopicFilter:
    """Which topics of its source a flow mirrors."""

    def __init__(
        self, names: Filter, policy: ReplicationPolicy, target: str, *, with_heartbeats: bool
    ) -> None:
        self._names = names
        self._policy = policy
        self._target = target
        self._with_heartbeats = with_heartbeats

    def takes(self, topic: str) -> bool:
        is_wanted = self._names.takes(topic) or (self._with_heartbeats and self._policy.is_heartbeats(topic))
        return (
            is_wanted
            and not self._policy.is_internal(topic)
            and not self._policy.is_cycle(topic, self._target)
        )


def _pattern(patterns: Sequence[str], name: str) -> str:
    for one in patterns:
        try:
            to_search(_ANYTHING % one, "")
        except ValueError as wrong:
            raise ConfigError(f"Invalid value {one} for configuration {name}: {wrong}") from None
    return _ANYTHING % "|".join(patterns) if patterns else ""


def _matches(pattern: str, text: str) -> bool:
    return bool(pattern) and to_search(pattern, text).search(text) is not None
