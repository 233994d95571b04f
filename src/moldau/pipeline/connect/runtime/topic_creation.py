"""`topic.creation.*`: with which settings a source connector's topics are created. Pure.

A topic belongs to the first group of `topic.creation.groups` whose `include` matches its name and whose `exclude` does
not, else to the group `default`. Groups inherit from `default`.
"""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple, Self

from moldau.core.errors import ConfigError
from moldau.core.settings.text_form import parse_list

PREFIX: Final = "topic.creation."
_OURS: Final = frozenset({"include", "exclude", "replication.factor", "partitions"})


class TopicToCreate(NamedTuple):
    topic: str
    partitions: int
    replicas: int
    """-1: the broker's default, as for partitions."""
    config: Mapping[str, str]


class TopicRules:
    def __init__(self, groups: Mapping[str, Mapping[str, str]]) -> None:
        self._groups = groups

    @classmethod
    def of(cls, config: Mapping[str, str]) -> Self | None:
        """None: the connector does not create topics. Raises ConfigError for a wrong setting."""
        default = _group(config, "default")
        names = [name for name in parse_list(config.get(f"{PREFIX}groups", "")) if name != "default"]
        if not default:
            if names:
                raise ConfigError(
                    f"{PREFIX}groups needs {PREFIX}default.replication.factor and {PREFIX}default.partitions"
                )
            return None
        for wanted in ("replication.factor", "partitions"):
            if wanted not in default:
                raise ConfigError(
                    f'Missing required configuration "{PREFIX}default.{wanted}" which has no default value.'
                )
        groups = {}
        for name in names:
            own = _group(config, name)
            if "include" not in own:
                raise ConfigError(
                    f'Missing required configuration "{PREFIX}{name}.include" which has no default value.'
                )
            groups[name] = {**default, "exclude": "", **own}
        made = cls({**groups, "default": {**default, "include": ".*", "exclude": ""}})
        for name, group in made._groups.items():
            _checked(name, group)
        return made

    def topic(self, name: str) -> TopicToCreate:
        group = next(group for group in self._groups.values() if _takes(group, name))
        return TopicToCreate(
            name,
            int(group["partitions"]),
            int(group["replication.factor"]),
            {key: value for key, value in group.items() if key not in _OURS},
        )


def _missing(name: str) -> ConfigError:
    return ConfigError(f'Missing required configuration "{PREFIX}{name}" which has no default value.')


def _group(config: Mapping[str, str], name: str) -> dict[str, str]:
    prefix = f"{PREFIX}{name}."
    return {key.removeprefix(prefix): value for key, value in config.items() if key.startswith(prefix)}


def _takes(group: Mapping[str, str], topic: str) -> bool:
    def matches(patterns: str) -> bool:
        return any(re.fullmatch(pattern, topic) for pattern in parse_list(patterns))

    return matches(group["include"]) and not matches(group["exclude"])


def _checked(name: str, group: Mapping[str, str]) -> None:
    for key in ("partitions", "replication.factor"):
        text = group[key].strip()
        if not re.fullmatch(r"-1|[1-9][0-9]*", text):
            raise ConfigError(
                f"Invalid value {text} for configuration {PREFIX}{name}.{key}: it takes -1 or a positive number"
            )
    for key in ("include", "exclude"):
        for pattern in parse_list(group[key]):
            try:
                re.compile(pattern)
            except re.error as wrong:
                raise ConfigError(
                    f"Invalid value {pattern} for configuration {PREFIX}{name}.{key}: {wrong}"
                ) from None
