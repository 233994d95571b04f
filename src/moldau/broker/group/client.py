"""What a coordinator remembers about the client of a request."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ClientFacts:
    client_id: str
    host: str
    """The address after a slash, as Kafka shows it."""
