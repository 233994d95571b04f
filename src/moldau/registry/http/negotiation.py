"""Which content types are accepted and produced: those of Confluent's registry, and plain JSON."""

from typing import Final

from moldau.registry.failures import RegistryFailure

V1: Final = "application/vnd.schemaregistry.v1+json"
PRODUCED: Final = (V1, "application/vnd.schemaregistry+json", "application/json")
CONSUMED: Final = frozenset({*PRODUCED, "application/octet-stream"})


def check_content_type(header: str | None) -> None:
    """Without a Content-Type the body may be anything, as in a servlet container."""
    if header is not None and header.partition(";")[0].strip().lower() not in CONSUMED:
        raise RegistryFailure(
            415, f"HTTP 415 Unsupported Media Type: {header}. Send Content-Type: {V1} or application/json"
        )


def choose_content_type(accept: str | None) -> str:
    """Picks the type with the highest weight; among equals, the first in the server's order."""
    if accept is None or not accept.strip():
        return V1
    chosen, weight_best = None, 0.0
    for offered in PRODUCED:
        weight = _weight(accept, offered)
        if weight > weight_best:
            chosen, weight_best = offered, weight
    if chosen is None:
        raise RegistryFailure(406, f"HTTP 406 Not Acceptable: {accept}. Available: {', '.join(PRODUCED)}")
    return chosen


def _weight(accept: str, offered: str) -> float:
    """The weight of the most specific range that matches (RFC 9110, 12.5.1). Java's own client sends a bare `*`."""
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
