"""Topic names and topic filters (4.7): what is valid, and which filter matches which name."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from moldau.proxies.mqtt.codec.primitives import MalformedPacket, text_of
from moldau.proxies.mqtt.codec.reason_codes import Reason

LEVELS_MAX: Final = 128
"""More levels than any design needs; a name of 65,535 slashes would cost a walk of as many steps."""
SHARE: Final = "$share/"
CACHED_BYTES_MAX: Final = 256


class SharedFilter(NamedTuple):
    """`$share/group/filter` in its parts. The group is empty when it is not shared."""

    group: str
    filter: str


def check_name(name: str) -> str:
    """Raises MalformedPacket for a name no message can be published under [MQTT-3.3.2-2, MQTT-4.7.3-1]."""
    if not name:
        raise MalformedPacket("a topic name is empty", Reason.TOPIC_NAME_INVALID)
    if "+" in name or "#" in name:
        raise MalformedPacket("a topic name contains a wildcard, + or #", Reason.TOPIC_NAME_INVALID)
    if "\0" in name:
        raise MalformedPacket("a topic name contains U+0000", Reason.TOPIC_NAME_INVALID)
    if name.count("/") >= LEVELS_MAX:
        raise MalformedPacket(
            f"a topic name has {name.count('/') + 1} levels, more than {LEVELS_MAX}",
            Reason.TOPIC_NAME_INVALID,
        )
    return name


def is_name(name: str) -> bool:
    return (
        bool(name)
        and not any(mark in name for mark in "+#\0")
        and name.count("/") < LEVELS_MAX
        and len(name.encode()) <= 65_535
    )


def name_of(data: bytes) -> str:
    """A checked topic name from its bytes. An empty one is returned: a topic alias may stand for it."""
    if len(data) <= CACHED_BYTES_MAX:
        return _short_name_of(data)
    return check_name(text_of(data))


@lru_cache(maxsize=16_384)
def _short_name_of(data: bytes) -> str:
    text = text_of(data)
    return check_name(text) if text else text


def filter_problem(text: str) -> str | None:
    """Why this is no valid topic filter, or None [MQTT-4.7.1-2, MQTT-4.7.1-3]."""
    if not text:
        return "a topic filter is empty"
    levels = text.split("/")
    if len(levels) > LEVELS_MAX:
        return f"a topic filter has {len(levels)} levels, more than {LEVELS_MAX}"
    for number, level in enumerate(levels, 1):
        if "#" in level and (level != "#" or number < len(levels)):
            return "in a topic filter # must be the last level, and alone in it"
        if "+" in level and level != "+":
            return "in a topic filter + must be alone in its level"
    return None


def shared(text: str) -> SharedFilter:
    """Raises MalformedPacket for a `$share` filter without a valid name and filter [MQTT-4.8.2-1, MQTT-4.8.2-2]."""
    if not text.startswith(SHARE):
        if text == "$share":
            raise MalformedPacket(
                "a shared subscription has the form $share/name/filter", Reason.TOPIC_FILTER_INVALID
            )
        return SharedFilter("", text)
    group, slash, rest = text.removeprefix(SHARE).partition("/")
    if not group or not slash or not rest or "+" in group or "#" in group:
        raise MalformedPacket(
            "a shared subscription has the form $share/name/filter, and no wildcard in the name",
            Reason.TOPIC_FILTER_INVALID,
        )
    return SharedFilter(group, rest)


def matches(levels: Sequence[str], name: str) -> bool:
    """Whether the filter, in its levels, matches. Wildcards at the front do not match `$` [MQTT-4.7.2-1]."""
    named = name.split("/")
    if named[0][:1] == "$" and levels[0] in ("#", "+"):
        return False
    for position, level in enumerate(levels):
        if level == "#":
            return True
        if position >= len(named) or (level not in ("+", named[position])):
            return False
    return len(levels) == len(named)
