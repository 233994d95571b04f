"""The context of a request: what a decider needs besides the request's own fields."""

from collections.abc import Callable
from dataclasses import dataclass

from moldau.broker.group.client import ClientFacts
from moldau.broker.group.facts import GroupFact
from moldau.core.ids import Millis
from moldau.core.machine import Answer, Outcome
from moldau.protocol.spec import Response

GroupOutcome = Outcome[GroupFact]


@dataclass(frozen=True, slots=True)
class Call:
    request_id: int
    version: int
    client: ClientFacts
    now_ms: Millis
    new_id: str
    """A unique text, for a member that joins without an id."""
    sees: Callable[[str], bool] | None = None
    """Whether the client may know of a topic; None: it may know of all."""

    def answered(self, reply: Response) -> GroupOutcome:
        return Outcome(answers=(Answer(self.request_id, reply),))
