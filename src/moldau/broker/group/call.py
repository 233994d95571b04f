"""What comes with a request besides its own fields."""

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
    """Text nobody has had before, for a member that comes without an id."""

    def answered(self, reply: Response) -> GroupOutcome:
        return Outcome(answers=(Answer(self.request_id, reply),))
