"""Which of the types that a service can answer a client prefers (RFC 9110, 12.5.1). Pure."""

from collections.abc import Sequence


def base_type(header: str) -> str:
    """A type without its parameters, in small letters."""
    return header.partition(";")[0].strip().lower()


def preferred(accept: str | None, offered: Sequence[str]) -> str | None:
    """The type with the highest weight; among equals, the first that is offered. None if the client takes none."""
    if accept is None or not accept.strip():
        return offered[0]
    chosen, weight_best = None, 0.0
    for each in offered:
        weight = weight_of(accept, each)
        if weight > weight_best:
            chosen, weight_best = each, weight
    return chosen


def weight_of(accept: str, offered: str) -> float:
    """The weight of the most specific range that matches. Java's own client sends a bare `*`."""
    best, weight = -1, 0.0
    for part in accept.split(","):
        name, *parameters = [piece.strip().lower() for piece in part.split(";")]
        ranks = {"*": 0, "*/*": 0, f"{offered.partition('/')[0]}/*": 1, offered: 2}
        rank = ranks.get(name, -1)
        if rank > best:
            best, weight = rank, _quality(parameters)
    return weight


def _quality(parameters: list[str]) -> float:
    for parameter in parameters:
        if parameter.startswith("q="):
            try:
                return float(parameter[2:])
            except ValueError:
                return 0.0
    return 1.0
