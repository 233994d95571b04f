"""A difference between Protobuf schemas in words, and the smallest change of the new schema that would pass."""

from dataclasses import dataclass

from moldau.registry.schemas.model import Clash, Direction
from moldau.registry.schemas.protobuf.differences import Difference, alternatives_to


@dataclass(frozen=True, slots=True)
class Words:
    """Both ways round: `{new}` and `{old}` are what the two schemas have there."""

    backward: str
    backward_change: str
    forward: str
    forward_change: str


_DIFFERS = "{what} is {new}, and {old} in version {version}"
_KEPT = "keep {old}{others}; for the new type add a field with a number of its own"
_MOVED = "give the fields back their place outside of the oneof; a oneof for new fields may be added"
_WORDS = {
    "PACKAGE_CHANGED": Words(_DIFFERS, "keep package {old}", _DIFFERS, "keep package {old}"),
    "MESSAGE_REMOVED": Words(
        "{what} is gone since version {version}",
        "keep {what}; it may stay empty",
        "{what} is new, and version {version} does not have it",
        "leave {what} out; with FORWARD or FULL a message cannot be added",
    ),
    "FIELD_KIND_CHANGED": Words(_DIFFERS, _KEPT, _DIFFERS, _KEPT),
    "FIELD_SCALAR_KIND_CHANGED": Words(_DIFFERS, _KEPT, _DIFFERS, _KEPT),
    "FIELD_NAMED_TYPE_CHANGED": Words(
        "{what} has the type {new}, and {old} in version {version}, which it cannot replace",
        "keep the type {old} as it is in version {version}; for the new type add a field with a number of its own",
        "{what} has the type {new}, and {old} in version {version}, which cannot replace it",
        "keep the type {old} as it is in version {version}; for the new type add a field with a number of its own",
    ),
    "FIELD_NUMERIC_LABEL_CHANGED": Words(_DIFFERS, "keep it {old}", _DIFFERS, "keep it {old}"),
    "REQUIRED_FIELD_ADDED": Words(
        "{what} is new and required, and data of version {version} does not have it",
        "make it optional",
        "{what} is gone, and version {version} requires it",
        "keep {what}",
    ),
    "REQUIRED_FIELD_REMOVED": Words(
        "{what} is gone, and it is required in version {version}",
        "keep {what}",
        "{what} is new and required, and version {version} does not know it",
        "make it optional",
    ),
    "ONEOF_FIELD_REMOVED": Words(
        "{what} is gone, and version {version} may have it set {old}",
        "keep {what}",
        "{what} is new {new}, and version {version} would not see which field is set",
        "leave {what} out, or put it outside of the oneof",
    ),
    "MULTIPLE_FIELDS_MOVED_TO_ONEOF": Words(
        "{what} now holds {new}, which could be set together in version {version}",
        _MOVED,
        "{what} of version {version} held {old}, which can be set together now",
        "keep {old} in the oneof",
    ),
    "FIELD_MOVED_TO_EXISTING_ONEOF": Words(
        "{what} now holds {new}, which could be set beside the others in version {version}",
        _MOVED,
        "{what} of version {version} held {old}, which can be set beside the others now",
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
