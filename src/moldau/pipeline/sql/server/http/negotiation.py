"""Which content types are accepted and produced. Pure."""

from collections.abc import Sequence
from typing import Final

from moldau.pipeline.sql.server.failures import ServiceFailure
from moldau.pipeline.sql.server.http.failures import NOT_ACCEPTABLE, UNSUPPORTED_TYPE
from moldau.services.content_types import base_type, preferred

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
    if header is not None and base_type(header) not in _READ:
        raise ServiceFailure(
            UNSUPPORTED_TYPE, f"Content-Type {header} is not supported; send {KSQL_JSON} or {JSON}."
        )


def choose(accept: str | None, offered: Sequence[str]) -> str:
    chosen = preferred(accept, offered)
    if chosen is None:
        raise ServiceFailure(
            NOT_ACCEPTABLE, f"Accept: {accept} cannot be satisfied here; available: {', '.join(offered)}."
        )
    return chosen
