"""Rules: the first one that matches an MQTT topic says which Kafka topic and key its messages get.

A rule matches by an MQTT filter or by a regular expression. In its templates stand `{topic}` for the MQTT topic, `{1}`
for its first level and so on, and the names of groups of the expression. What matches no rule goes to the default
topic.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import re2

from moldau.core.errors import ConfigError
from moldau.proxies.mqtt.codec.topics import filter_problem, matches

BRIDGES: Final = "$SYS/broker/connection/"
KAFKA_NAME_MAX: Final = 249
WHOLE: Final = "topic"
_PLACEHOLDER: Final = re.compile(r"\{([^{}]*)\}")
_ILLEGAL: Final = re.compile(r"[^a-zA-Z0-9._-]")
_ANY_NAME: Final = "[a-zA-Z0-9._-]+"
ROUTES_MAX: Final = 16_384


class Route(NamedTuple):
    """Where messages of one MQTT topic go."""

    topic: str
    key: bytes
    is_key_topic: bool
    """Whether the key is the MQTT topic; else a header says it."""


@dataclass(frozen=True)
class Rule:
    name: str
    filter: tuple[str, ...] | None
    pattern: Any
    """A compiled regular expression, where there is no filter."""
    topic: str
    key: str

    def values(self, topic: str) -> Mapping[str, str] | None:
        """What the templates may use, if the rule matches."""
        groups: dict[str, str] = {}
        if self.filter is not None:
            if not matches(self.filter, topic):
                return None
        else:
            found = self.pattern.fullmatch(topic)
            if found is None:
                return None
            groups = {name: value or "" for name, value in found.groupdict().items()}
        levels = {str(number): level for number, level in enumerate(topic.split("/"), 1)}
        return {**levels, **groups, WHOLE: topic}


class Rules:
    """All rules, the default last. Remembers the routes of topics it has seen."""

    def __init__(self, rules: Sequence[Rule], default_topic: str) -> None:
        self._rules = (*rules, Rule("", ("#",), None, default_topic, "{topic}"))
        self._default = default_topic
        self._routes: dict[str, Route | None] = {}

    def route(self, topic: str) -> Route | None:
        """None: no Kafka topic can take it, or it is the proxy's own."""
        try:
            return self._routes[topic]
        except KeyError:
            route = self._new_route(topic)
            if len(self._routes) >= ROUTES_MAX:
                self._routes.clear()
            self._routes[topic] = route
            return route

    def _new_route(self, topic: str) -> Route | None:
        if is_own(topic):
            return None
        for rule in self._rules:
            values = rule.values(topic)
            if values is not None:
                name = _ILLEGAL.sub("_", _filled(rule.topic, values))[:KAFKA_NAME_MAX]
                if name in ("", ".", "..") or (name.startswith("_") and name != rule.topic):
                    # Names with an underscore in front are internal topics; a client must not reach them by a level.
                    return None
                key = _filled(rule.key, values)
                return Route(name, key.encode(), key == topic)
        return Route(self._default, topic.encode(), True)  # `$` topics, which # does not match

    def fixed_topics(self) -> set[str]:
        """The Kafka topics that are known by name."""
        return {rule.topic for rule in self._rules if not _PLACEHOLDER.search(rule.topic)}

    def topics_pattern(self) -> Any:
        """Matches the name of every Kafka topic that messages may go to."""
        parts = []
        for rule in self._rules:
            texts = _PLACEHOLDER.split(rule.topic)
            # Texts and placeholders take turns.
            parts.append("".join(_ANY_NAME if odd % 2 else re.escape(text) for odd, text in enumerate(texts)))
        return re2.compile("|".join(f"(?:{part})" for part in parts))


def is_own(topic: str) -> bool:
    """Whether only the proxy publishes there [MQTT-4.7.2-1]. Bridges of mosquitto publish their state."""
    return (topic == "$SYS" or topic.startswith("$SYS/")) and not topic.startswith(BRIDGES)


def _filled(template: str, values: Mapping[str, str]) -> str:
    return _PLACEHOLDER.sub(lambda found: values.get(found[1], ""), template)


def rule_of(name: str, texts: Mapping[str, str]) -> Rule:
    """A rule from its settings `filter` or `match`, `topic` and `key`. Raises ConfigError."""
    where = f"mapping.{name}"
    unknown = sorted(texts.keys() - {"filter", "match", "topic", "key"})
    if unknown:
        raise ConfigError(f"{where}.{unknown[0]}: a rule has the settings filter or match, topic and key")
    if ("filter" in texts) == ("match" in texts):
        raise ConfigError(
            f"{where}: give {where}.filter, an MQTT filter, or {where}.match, a regular expression; one of them"
        )
    if "topic" not in texts:
        raise ConfigError(
            f"{where}.topic is missing: the Kafka topic, for example {where}.topic=sensors-{{2}}"
        )
    levels, pattern = None, None
    known = {WHOLE}
    if "filter" in texts:
        problem = filter_problem(texts["filter"])
        if problem is not None:
            raise ConfigError(f"{where}.filter: {problem}; for example {where}.filter=sensors/+/temperature")
        levels = tuple(texts["filter"].split("/"))
    else:
        try:
            pattern = re2.compile(texts["match"].replace("(?<", "(?P<"))
        except re2.error as error:
            raise ConfigError(f"{where}.match is no regular expression of RE2: {error}") from None
        known |= set(pattern.groupindex)
    key = texts.get("key", "{topic}")
    for setting, template in (("topic", texts["topic"]), ("key", key)):
        for placeholder in _PLACEHOLDER.findall(template):
            if placeholder not in known and not (placeholder.isdigit() and int(placeholder)):
                raise ConfigError(
                    f"{where}.{setting}: there is no {{{placeholder}}}; there are {{topic}}, {{1}} for the first "
                    "level, and the named groups of the expression"
                )
    return Rule(name, levels, pattern, texts["topic"], key)
