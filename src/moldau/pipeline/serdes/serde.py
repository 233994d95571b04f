"""What a serde is: a named pair of codecs for keys or values.

A codec is bound to a topic once (`encoder`, `decoder`) and then called per record. None stays None: a null key, a
tombstone. A decoder raises ValueError on bytes that are not its format; an encoder raises TypeError or ValueError on
a value it cannot write. What a codec needs and cannot reach now is no fault of the record: ServiceAway.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Generic

from moldau.core.errors import MoldauError
from moldau.pipeline.serdes.kinds import V

Encoder = Callable[[Any], bytes | None]
Decoder = Callable[[bytes | None], Any]


class ServiceAway(MoldauError):
    """What a record needs to be read or written does not answer: it must be tried again, not given up."""


class Serde(ABC, Generic[V]):
    """Of values of one type. Immutable and picklable: a serde travels with the topology to the workers."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What the serde is, for descriptions and hashes."""

    @property
    def gives(self) -> frozenset[type]:
        """The types a decoded value may have; empty: any."""
        return frozenset()

    @property
    def takes(self) -> frozenset[type]:
        """The types it can write; empty: any."""
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
