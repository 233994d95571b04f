"""A serde: a named pair of codecs for keys or values.

A codec is bound to a topic once (`encoder`, `decoder`) and then called per record. None stays None: a null key, a
tombstone. A decoder raises ValueError for bytes in another format; an encoder raises TypeError or ValueError for a
value that it cannot write. If a service that a codec needs is unavailable, it raises ServiceAway: the record is not to
blame.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Generic

from moldau.core.errors import MoldauError
from moldau.pipeline.serdes.kinds import V

Encoder = Callable[[Any], bytes | None]
Decoder = Callable[[bytes | None], Any]


class ServiceAway(MoldauError):
    """A service that is needed to read or write a record does not answer. Retry; the record is not to blame."""


class Serde(ABC, Generic[V]):
    """Immutable and picklable: a serde is sent to the workers with the topology."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Identifies the serde in descriptions and hashes."""

    @property
    def gives(self) -> frozenset[type]:
        """The possible types of a decoded value. Empty: any."""
        return frozenset()

    @property
    def takes(self) -> frozenset[type]:
        """The types that it can encode. Empty: any."""
        return frozenset()

    @abstractmethod
    def encoder(self, topic: str, *, is_key: bool) -> Encoder: ...

    @abstractmethod
    def decoder(self, topic: str, *, is_key: bool) -> Decoder: ...

    def __repr__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Serde) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)
