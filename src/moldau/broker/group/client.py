"""What a coordinator remembers of the client behind a request."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ClientFacts:
    client_id: str
    host: str
    """As Kafka shows it: the address after a slash."""
