"""Checks changes of quotas by Kafka's rules, and answers which quotas a filter asks for."""

import ipaddress
from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from typing import Final, NamedTuple

from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError
from moldau.security.quotas.quota_keys import (
    ADDRESS,
    ADDRESS_KEYS,
    CLIENT,
    CLIENT_KEYS,
    LARGEST_WHOLE,
    USER,
    Entity,
    Part,
    quota_text,
)

_ORDER: Final = (USER, CLIENT, ADDRESS)
FRACTION_MAX: Final = 1e-6
"""Whole numbers may differ by so much from what a float holds."""


class MatchType(IntEnum):
    EXACT = 0
    DEFAULT = 1
    ANY = 2


class Component(NamedTuple):
    kind: str
    match_type: int
    name: str | None


class QuotaFilter(NamedTuple):
    names: Mapping[str, str | None]
    """By kind; None is the default."""
    kinds: frozenset[str]
    """Whatever the name."""
    is_strict: bool

    def takes(self, entity: Entity) -> bool:
        parts = dict(entity)
        if self.is_strict and len(parts) != len(self.names) + len(self.kinds):
            return False
        has_names = all(kind in parts and parts[kind] == name for kind, name in self.names.items())
        return has_names and self.kinds <= parts.keys()


def quota_filter(components: Iterable[Component], *, is_strict: bool) -> QuotaFilter:
    """ApiError for one that makes no sense."""
    names: dict[str, str | None] = {}
    kinds: set[str] = set()
    for kind, match_type, name in components:
        if not kind:
            raise _invalid("Invalid empty entity type.")
        if kind in names or kind in kinds:
            raise _invalid(f"Entity type {kind} cannot appear more than once in the filter.")
        if kind not in _ORDER:
            raise ApiError(ErrorCode.UNSUPPORTED_VERSION, f"Unsupported entity type {kind}.")
        if (match_type == MatchType.EXACT) == (name is None):
            raise _invalid(f"Match type {match_type} of {kind} does not go with the name {name}.")
        match match_type:
            case MatchType.EXACT | MatchType.DEFAULT:
                names[kind] = name
            case MatchType.ANY:
                kinds.add(kind)
            case _:
                raise _invalid(f"Unknown match type {match_type}.")
    every = names.keys() | kinds
    if ADDRESS in every and len(every) > 1:
        raise _invalid("A filter for addresses cannot ask for users or clients too.")
    return QuotaFilter(names, frozenset(kinds), is_strict)


def checked_entity(parts: Sequence[Part]) -> Entity:
    """The parts in their order. ApiError for an entity that cannot have quotas."""
    by_kind = dict(parts)
    if not parts:
        raise _invalid("Invalid empty client quota entity")
    if len(by_kind) < len(parts):
        raise _invalid(
            f"Invalid client quota entity, duplicate entity entry among {[kind for kind, _ in parts]}"
        )
    for kind, name in parts:
        if kind not in _ORDER:
            raise _invalid(f"Unhandled client quota entity type: {kind}")
        if name == "":
            raise _invalid(f"Empty {kind} not supported")
    if ADDRESS in by_kind and len(by_kind) > 1:
        raise _invalid("Invalid quota entity combination: an address goes with neither users nor clients")
    if not _is_address(by_kind.get(ADDRESS)):
        raise _invalid(f"{by_kind[ADDRESS]} is not a valid IP address")
    return tuple((kind, by_kind[kind]) for kind in _ORDER if kind in by_kind)


def checked_values(entity: Entity, values: Sequence[tuple[str, float | None]]) -> dict[str, str | None]:
    """The settings to write, None for those to remove. ApiError for a key or value that cannot be."""
    keys = ADDRESS_KEYS if entity[0][0] == ADDRESS else CLIENT_KEYS
    texts: dict[str, str | None] = {}
    for key, value in values:
        if key in texts:
            raise _invalid(f"Duplicate quota key {key}: the quota is not changed")
        if value is not None:
            _check_value(keys, key, value)
        texts[key] = None if value is None else quota_text(key, value)
    return {key: text for key, text in texts.items() if key in keys}


def _check_value(keys: frozenset[str], key: str, value: float) -> None:
    if key not in keys:
        raise _invalid(f"Invalid configuration key {key}: use one of {', '.join(sorted(keys))}")
    if not value > 0:
        raise _invalid(f"Quota {key} must be greater than 0, and is {value}")
    if key not in LARGEST_WHOLE:
        return
    if value > LARGEST_WHOLE[key]:
        raise _invalid(f"The value {value} is too large for {key}, which is at most {LARGEST_WHOLE[key]}")
    if abs(value % 1.0) > FRACTION_MAX:
        raise _invalid(f"{key} cannot be a fractional value, and is {value}")


def _is_address(name: str | None) -> bool:
    if name is None:
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _invalid(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REQUEST, message)
