"""What every write decides on: the facts to write, and the answer once they are."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from moldau.registry.log.records import Fact

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Decision(Generic[Answer]):
    """Without facts nothing changes, and the answer holds at once."""

    answer: Answer
    facts: tuple[Fact, ...] = ()
