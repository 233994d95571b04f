"""Which content types are accepted and produced: those of Confluent's registry, and plain JSON."""

from typing import Final

from moldau.registry.failures import RegistryFailure
from moldau.services.content_types import base_type, preferred

V1: Final = "application/vnd.schemaregistry.v1+json"
PRODUCED: Final = (V1, "application/vnd.schemaregistry+json", "application/json")
CONSUMED: Final = frozenset({*PRODUCED, "application/octet-stream"})


def check_content_type(header: str | None) -> None:
    """Without a Content-Type the body may be anything, as in a servlet container."""
    if header is not None and base_type(header) not in CONSUMED:
        raise RegistryFailure(
            415, f"HTTP 415 Unsupported Media Type: {header}. Send Content-Type: {V1} or application/json"
        )


def choose_content_type(accept: str | None) -> str:
    chosen = preferred(accept, PRODUCED)
    if chosen is None:
        raise RegistryFailure(406, f"HTTP 406 Not Acceptable: {accept}. Available: {', '.join(PRODUCED)}")
    return chosen
