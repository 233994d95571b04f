"""What every write decides: the facts to write, and the answer once they are written."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from moldau.registry.log.records import Fact

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Decision(Generic[Answer]):
    """Without facts nothing changes, and the answer is valid at once."""

    answer: Answer
    facts: tuple[Fact, ...] = ()
