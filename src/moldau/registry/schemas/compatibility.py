"""The seven compatibility modes: which versions a new schema is compared with, and in which direction."""

from collections.abc import Sequence

from moldau.registry.schemas.model import Clash, Direction, Existing, InvalidSchema, ParsedSchema

BOTH = (Direction.BACKWARD, Direction.FORWARD)
_DIRECTIONS: dict[str, tuple[Direction, ...]] = {
    "NONE": (),
    "BACKWARD": (Direction.BACKWARD,),
    "BACKWARD_TRANSITIVE": (Direction.BACKWARD,),
    "FORWARD": (Direction.FORWARD,),
    "FORWARD_TRANSITIVE": (Direction.FORWARD,),
    "FULL": BOTH,
    "FULL_TRANSITIVE": BOTH,
}
MODES = tuple(_DIRECTIONS)
CLASHES_MAX = 100
"""Enough for a reader; ten thousand fields with a changed type would make an answer of megabytes."""


def check(mode: str, new: ParsedSchema, versions: Sequence[Existing]) -> list[Clash]:
    """Returns the clashes of `new` with `versions`, which are oldest first; none when `new` may be registered.

    The newest version is compared first, and clashes come in that order, because people know it best.
    """
    directions = _DIRECTIONS[mode]
    compared = versions if mode.endswith("_TRANSITIVE") else versions[-1:]
    found: list[Clash] = []
    for existing in reversed(compared):
        for direction in directions:
            found += _clashes(new, existing, direction)
        if len(found) >= CLASHES_MAX:
            break
    return found[:CLASHES_MAX]


def _clashes(new: ParsedSchema, existing: Existing, direction: Direction) -> list[Clash]:
    old = existing.schema
    if old.schema_type != new.schema_type:
        return [
            Clash(
                "SCHEMA_TYPE_CHANGED",
                "/",
                direction,
                existing.version,
                f"The schema is of type {new.schema_type}, and version {existing.version} of type {old.schema_type}",
                f"write it as {old.schema_type}, or register it under another subject",
            )
        ]
    if old is new:
        return []
    try:
        return new.clashes(existing, direction)
    except RecursionError:
        # Types that refer to each other can be flat as text and yet nested thousands of levels deep.
        raise InvalidSchema(
            f"The schema and version {existing.version} are nested too deeply to be compared: "
            "flatten the chain of types."
        ) from None
    except InvalidSchema as error:
        raise InvalidSchema(
            f"The schema cannot be compared with version {existing.version}, which is invalid: {error}"
        ) from error
