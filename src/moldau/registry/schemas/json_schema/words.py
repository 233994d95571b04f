"""Describes a difference between JSON Schemas, and the smallest change to the new schema that would pass."""

from dataclasses import dataclass

from moldau.registry.schemas.json_schema.differences import Difference
from moldau.registry.schemas.model import Clash, Direction

_CLOSE = '"additionalProperties": false'


@dataclass(frozen=True, slots=True)
class Words:
    """The text for both directions. `{new}` and `{old}` are what the two schemas have."""

    backward: str
    backward_change: str
    forward: str
    forward_change: str


def clash(difference: Difference, direction: Direction, version: int) -> Clash:
    backward = direction is Direction.BACKWARD
    words = _WORDS.get(difference.rule) or _limit_words(difference) or _OTHER
    old, new = (
        (difference.original, difference.update) if backward else (difference.update, difference.original)
    )
    values = {
        "what": _what(difference),
        "name": difference.within or "the value",
        "key": difference.path.rpartition("/")[2],
        "new": new,
        "old": old,
        "version": version,
    }
    reason = (words.backward if backward else words.forward).format(**values)
    change = (words.backward_change if backward else words.forward_change).format(**values)
    additional = {"property": difference.within} if difference.within else {}
    return Clash(
        difference.rule,
        difference.path,
        direction,
        version,
        reason[0].upper() + reason[1:],
        change,
        additional,
    )


def _what(difference: Difference) -> str:
    return f"property {difference.within}" if difference.within else "the value"


def _limit_words(difference: Difference) -> Words | None:
    """Texts for limits that were added, raised or lowered."""
    key = difference.path.rpartition("/")[2]
    rule, _, change = difference.rule.rpartition("_")
    if change == "ADDED" and difference.original == f"no {key}":
        return Words(
            "{what} has {new} now but had {old} in version {version}",
            "leave {key} out",
            "{what} has {new} now but had {old} in version {version}",
            "keep {old}",
        )
    if change in ("INCREASED", "DECREASED"):
        looser, tighter = ("less", "more") if change == "INCREASED" else ("more", "less")
        return Words(
            "{what} has {new} but had {old} in version {version}",
            f"set {{old}} or {looser}, or leave {{key}} out",
            "{what} has {new} but had {old} in version {version}",
            f"set {{old}} or {tighter}",
        )
    if rule == "MULTIPLE_OF":
        return Words(
            "{what} has {new} but had {old} in version {version}",
            "keep {old}, or use a divisor of it",
            "{what} has {new} but had {old} in version {version}",
            "keep {old}, or use a multiple of it",
        )
    return None


_DIFFERS = "{what} is {new} but was {old} in version {version}"
_OTHER = Words(_DIFFERS, "keep {old}", _DIFFERS, "keep {old}")
_ITEMS_CHANGED = Words(
    "further items of {name} are {new} but were {old} in version {version}",
    "keep further items {old}",
    "further items of {name} are {new} but were {old} in version {version}",
    "keep further items {old}",
)
_FURTHER = Words(
    "additional properties are {new} but were {old} in version {version}",
    "keep them {old}",
    "additional properties are {new} but were {old} in version {version}",
    "keep them {old}",
)
_COMBINED = Words(
    "{what} is {new} but was {old} in version {version}: one of them matches no alternative that can read it",
    "keep the alternatives of version {version} as they are and add new ones",
    "{what} is {new} but was {old} in version {version}: one of them matches no alternative that can read it",
    "keep the alternatives of version {version} as they are",
)
_ADDED_OPEN = Words(
    "{what} is new, but version {version} allows any value there (open content model)",
    "set the schema of {what} to true, or leave it out; with "
    + _CLOSE
    + " in the first version it could have been added",
    "{what} was removed, so the new schema allows any value there (open content model), "
    "while version {version} expects {old}",
    "keep {what}, or close the new schema with " + _CLOSE,
)
_COVERED_ADDED = Words(
    "{what} is {new}, but in version {version} that property is {old} (partially open content model)",
    "give {what} the schema that applies to it in version {version}",
    "{what} was removed and now falls under {new}, while version {version} expects {old}",
    "keep {what}",
)
_COVERED_REMOVED = Words(
    "{what} was removed and now falls under {new}, while in version {version} it is {old}",
    "keep {what}",
    "{what} is {new}, but in version {version} that property is {old} (partially open content model)",
    "give {what} the schema that applies to it in version {version}, or leave it out",
)
_WORDS: dict[str, Words] = {
    "TYPE_CHANGED": Words(
        _DIFFERS,
        "keep {old}, or accept both with anyOf",
        _DIFFERS,
        "keep {old}, or add a new property",
    ),
    "TYPE_NARROWED": Words(_DIFFERS, "keep {old}", _DIFFERS, "keep {old}"),
    "SCHEMA_ADDED": Words(
        "{what} is {new} but was {old} in version {version}",
        "leave the schema of the items out",
        "{what} is {new} but was {old} in version {version}",
        "keep the schema of the items",
    ),
    "PATTERN_ADDED": Words(
        "{what} has a {new} that version {version} does not have",
        "leave the pattern out",
        "{what} no longer has the {old} of version {version}",
        "keep the {old}",
    ),
    "PATTERN_CHANGED": Words(
        "{what} has {new} but had {old} in version {version}",
        "keep {old}, or leave the pattern out",
        "{what} has {new} but had {old} in version {version}",
        "keep {old}",
    ),
    "ENUM_ARRAY_NARROWED": Words(
        "{what} allows {new} but allowed {old} in version {version}",
        "allow all of {old}",
        "{what} allows {new} but allowed {old} in version {version}",
        "allow no more than {old}",
    ),
    "REQUIRED_ATTRIBUTE_ADDED": Words(
        "{what} is required now but optional in version {version}",
        "leave {name} optional, or give it a default",
        "{what} is optional now but required in version {version}",
        "keep {name} required",
    ),
    "REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL": Words(
        "{what} is new and required, but missing in data of version {version}",
        "make {name} optional, or give it a default",
        "{what} was removed, but version {version} requires it",
        "keep {what}",
    ),
    "PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL": Words(
        "{what} was removed, and the new schema allows no others (closed content model), "
        "but data of version {version} may have it",
        'keep {what}, or drop "additionalProperties": false',
        "{what} is new, but version {version} allows no other properties (closed content model)",
        "leave {what} out",
    ),
    "REQUIRED_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL": _ADDED_OPEN,
    "REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_OPEN_CONTENT_MODEL": _ADDED_OPEN,
    "OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL": _ADDED_OPEN,
    "PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL": _COVERED_ADDED,
    "PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL": _COVERED_REMOVED,
    "ITEM_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL": _COVERED_ADDED,
    "ITEM_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL": _COVERED_REMOVED,
    "ITEM_ADDED_TO_OPEN_CONTENT_MODEL": Words(
        "item {name} is {new}, but version {version} allows any value there (open content model)",
        "set the schema of the item to true, or leave it out",
        "item {name} was removed, so the new schema allows any value there, while version {version} expects {old}",
        'keep the item, or close the list with "additionalItems": false',
    ),
    "ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL": Words(
        "item {name} was removed, and the list is closed, but data of version {version} may have it",
        'keep the item, or drop "additionalItems": false',
        "item {name} is new, but the list of version {version} is closed",
        "leave the item out",
    ),
    "ADDITIONAL_PROPERTIES_REMOVED": _FURTHER,
    "ADDITIONAL_PROPERTIES_NARROWED": _FURTHER,
    "UNEVALUATED_PROPERTIES_REMOVED": _FURTHER,
    "UNEVALUATED_PROPERTIES_NARROWED": _FURTHER,
    "ADDITIONAL_ITEMS_REMOVED": _ITEMS_CHANGED,
    "ADDITIONAL_ITEMS_NARROWED": _ITEMS_CHANGED,
    "UNEVALUATED_ITEMS_REMOVED": _ITEMS_CHANGED,
    "UNEVALUATED_ITEMS_NARROWED": _ITEMS_CHANGED,
    "UNIQUE_ITEMS_ADDED": Words(
        "{what} must not contain duplicate items now, but may in version {version}",
        "leave uniqueItems out",
        "{what} may contain duplicate items now, but must not in version {version}",
        "keep uniqueItems true",
    ),
    "COMBINED_TYPE_CHANGED": Words(
        "{what} combines with {new} but with {old} in version {version}",
        "keep {old}, or use anyOf",
        "{what} combines with {new} but with {old} in version {version}",
        "keep {old}",
    ),
    "COMBINED_TYPE_SUBSCHEMAS_CHANGED": _COMBINED,
    "SUM_TYPE_NARROWED": Words(
        "{what} has fewer alternatives, {new}, than in version {version}, {old}",
        "keep all alternatives of version {version}",
        "{what} has more alternatives, {new}, than in version {version}, {old}",
        "leave the new alternatives out",
    ),
    "PRODUCT_TYPE_EXTENDED": Words(
        "{what} has more conditions, {new}, than in version {version}, {old}",
        "leave the new conditions out",
        "{what} has fewer conditions, {new}, than in version {version}, {old}",
        "keep all conditions of version {version}",
    ),
    "NOT_TYPE_EXTENDED": Words(
        "{what} forbids more than version {version} does",
        "forbid what version {version} forbids, or less",
        "{what} forbids less than version {version} does",
        "forbid what version {version} forbids, or more",
    ),
    "DEPENDENCY_SCHEMA_ADDED": Words(
        "{what} adds a dependency that version {version} does not have",
        "leave the dependency out",
        "{what} no longer has the dependency it has in version {version}",
        "keep the dependency",
    ),
}
_DEPENDENCY = Words(
    "now {new} but in version {version} {old}",
    "leave out what was added to the dependency",
    "now {new} but in version {version} {old}",
    "keep the dependency",
)
_WORDS |= {f"DEPENDENCY_ARRAY_{kind}": _DEPENDENCY for kind in ("ADDED", "EXTENDED", "CHANGED")}
_WORDS["ENUM_ARRAY_CHANGED"] = _WORDS["ENUM_ARRAY_NARROWED"]
