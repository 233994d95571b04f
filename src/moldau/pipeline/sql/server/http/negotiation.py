"""Which content types are accepted and produced. Pure."""

from collections.abc import Sequence
from typing import Final

from moldau.pipeline.sql.server.failures import ServiceFailure
from moldau.pipeline.sql.server.http.failures import NOT_ACCEPTABLE, UNSUPPORTED_TYPE

KSQL_JSON: Final = "application/vnd.ksql.v1+json"
JSON: Final = "application/json"
DELIMITED: Final = "application/vnd.ksqlapi.delimited.v1"

OBJECTS: Final = (JSON, KSQL_JSON)
"""Of answers that are one document. The first one is for clients that take anything."""
QUERY: Final = (KSQL_JSON, JSON, DELIMITED)
QUERY_STREAM: Final = (DELIMITED, JSON, KSQL_JSON)
INSERTS: Final = (DELIMITED, JSON)

_READ: Final = frozenset(
    {
        *QUERY,
        "application/octet-stream",
        # What curl sends with -d, and what the documents' examples therefore send.
        "application/x-www-form-urlencoded",
        "text/plain",
    }
)


def check_content_type(header: str | None) -> None:
    if header is not None and header.partition(";")[0].strip().lower() not in _READ:
        raise ServiceFailure(
            UNSUPPORTED_TYPE, f"Content-Type {header} is not supported; send {KSQL_JSON} or {JSON}."
        )


def choose(accept: str | None, offered: Sequence[str]) -> str:
    """The type with the highest weight (RFC 9110, 12.5.1); among equals the first that is offered."""
    if accept is None or not accept.strip():
        return offered[0]
    ranges = [_range(part) for part in accept.split(",")]
    weights = [_weight(kind, ranges) for kind in offered]
    best = max(weights)
    if best <= 0:
        raise ServiceFailure(
            NOT_ACCEPTABLE, f"Accept: {accept} cannot be satisfied here; available: {', '.join(offered)}."
        )
    return offered[weights.index(best)]


def _range(part: str) -> tuple[str, float]:
    name, *parameters = (piece.strip().lower() for piece in part.split(";"))
    for parameter in parameters:
        if parameter.startswith("q="):
            try:
                return name, float(parameter[2:])
            except ValueError:
                return name, 0.0
    return name, 1.0


def _weight(kind: str, ranges: Sequence[tuple[str, float]]) -> float:
    """The weight of the most specific range that fits."""
    for wanted in ((kind,), (f"{kind.partition('/')[0]}/*",), ("*/*", "*")):
        for name, weight in ranges:
            if name in wanted:
                return weight
    return 0.0
