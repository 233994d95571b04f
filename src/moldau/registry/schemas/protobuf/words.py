"""Describes a difference between Protobuf schemas, and the smallest change to the new schema that would pass."""

from dataclasses import dataclass

from moldau.registry.schemas.model import Clash, Direction
from moldau.registry.schemas.protobuf.differences import Difference, alternatives_to


@dataclass(frozen=True, slots=True)
class Words:
    """The text for both directions. `{new}` and `{old}` are what the two schemas have."""

    backward: str
    backward_change: str
    forward: str
    forward_change: str


_DIFFERS = "{what} is {new} but was {old} in version {version}"
_KEPT = "keep {old}{others}; for the new type add a field with a new number"
_MOVED = "move the fields back out of the oneof; a oneof for new fields may be added"
_WORDS = {
    "PACKAGE_CHANGED": Words(_DIFFERS, "keep package {old}", _DIFFERS, "keep package {old}"),
    "MESSAGE_REMOVED": Words(
        "{what} of version {version} was removed",
        "keep {what}; it may stay empty",
        "{what} is new: version {version} does not have it",
        "leave {what} out; with FORWARD or FULL a message cannot be added",
    ),
    "FIELD_KIND_CHANGED": Words(_DIFFERS, _KEPT, _DIFFERS, _KEPT),
    "FIELD_SCALAR_KIND_CHANGED": Words(_DIFFERS, _KEPT, _DIFFERS, _KEPT),
    "FIELD_NAMED_TYPE_CHANGED": Words(
        "{what} has the type {new} but had {old} in version {version}, which it cannot replace",
        "keep the type {old} as it is in version {version}; for the new type add a field with a new number",
        "{what} has the type {new} but had {old} in version {version}, which cannot replace it",
        "keep the type {old} as it is in version {version}; for the new type add a field with a new number",
    ),
    "FIELD_NUMERIC_LABEL_CHANGED": Words(_DIFFERS, "keep it {old}", _DIFFERS, "keep it {old}"),
    "REQUIRED_FIELD_ADDED": Words(
        "{what} is new and required, but missing in data of version {version}",
        "make it optional",
        "{what} was removed, but version {version} requires it",
        "keep {what}",
    ),
    "REQUIRED_FIELD_REMOVED": Words(
        "{what} was removed, but version {version} requires it",
        "keep {what}",
        "{what} is new and required, but unknown to version {version}",
        "make it optional",
    ),
    "ONEOF_FIELD_REMOVED": Words(
        "{what} was removed, but data of version {version} may have it set {old}",
        "keep {what}",
        "{what} is new {new}, so version {version} could not tell which field is set",
        "leave {what} out, or put it outside the oneof",
    ),
    "MULTIPLE_FIELDS_MOVED_TO_ONEOF": Words(
        "{what} now holds {new}, which could be set together in version {version}",
        _MOVED,
        "{what} of version {version} held {old}, which can be set together now",
        "keep {old} in the oneof",
    ),
    "FIELD_MOVED_TO_EXISTING_ONEOF": Words(
        "{what} now holds {new}, which could be set together with the others in version {version}",
        _MOVED,
        "{what} of version {version} held {old}, which can be set together with the others now",
        "keep {old} in the oneof",
    ),
}


def clash(difference: Difference, direction: Direction, version: int) -> Clash:
    backward = direction is Direction.BACKWARD
    words = _WORDS[difference.rule]
    old, new = (
        (difference.original, difference.update) if backward else (difference.update, difference.original)
    )
    alternatives = alternatives_to(old)
    values = {
        "what": difference.within,
        "new": new,
        "old": old,
        "version": version,
        "others": f" (or {', '.join(alternatives)})" if alternatives else "",
    }
    reason = (words.backward if backward else words.forward).format(**values)
    change = (words.backward_change if backward else words.forward_change).format(**values)
    return Clash(
        difference.rule,
        difference.path,
        direction,
        version,
        reason[0].upper() + reason[1:],
        change,
        {"element": difference.within},
    )
