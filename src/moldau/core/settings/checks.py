"""Conditions on a value beyond its type. Each check has a description for error messages."""

import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple


class Check(NamedTuple):
    accepts: Callable[[Any], bool]
    expects: str
    """Follows the name of the type: "a whole number" + " of at least 1"."""
    example: str = ""


def within(at_least: float | None, at_most: float | None) -> Check | None:
    if at_least is not None and at_most is not None:
        low, high = at_least, at_most
        return Check(lambda value: low <= value <= high, f" between {low} and {high}", str(low))
    if at_least is not None:
        low = at_least
        return Check(lambda value: value >= low, f" of at least {low}", str(low))
    return None


def one_of(*allowed: str, ignore_case: bool = False) -> Check:
    words = f": one of {', '.join(allowed)}"
    if ignore_case:
        lowered = frozenset(word.lower() for word in allowed)
        return Check(lambda value: value.lower() in lowered, words, allowed[0])
    return Check(lambda value: value in allowed, words, allowed[0])


def each_of(*allowed: str) -> Check:
    return Check(
        lambda value: len(set(value)) == len(value) and set(value) <= set(allowed),
        f": any of {', '.join(allowed)}, each at most once",
        allowed[0],
    )


GZIP_LEVEL: Final = Check(lambda value: value == -1 or 1 <= value <= 9, " between 1 and 9, or -1")
NO_LIMIT_OR_POSITIVE: Final = Check(
    lambda value: value == -1 or value >= 1, " of at least 1, or -1 for no limit"
)
NON_EMPTY: Final = Check(bool, " that is not empty")

_REPLICA: Final = re.compile(r"[0-9]+:[0-9]+")
THROTTLED_REPLICAS: Final = Check(
    lambda value: value == ("*",) or all(_REPLICA.fullmatch(item) for item in value),
    " of partition:broker pairs, or * for all",
    "0:1,1:2",
)

_DURATION_RESET: Final = re.compile(
    r"by_duration:P(?=.)(\d+D)?(T(?=.)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?", re.IGNORECASE
)
OFFSET_RESET: Final = Check(
    lambda value: value in ("latest", "earliest") or bool(_DURATION_RESET.fullmatch(value)),
    ": latest, earliest or by_duration:PnDTnHnMn.nS",
    "latest",
)
