"""The draft of one decision: its facts, answers and timers. Subclasses add the view of their kind of
group."""

from collections.abc import Hashable
from typing import Final, Protocol

from moldau.broker.group.facts import ChangeNoted, GroupFact
from moldau.broker.group.history.changes import Change, ChangeKind
from moldau.core.ids import Millis
from moldau.core.machine import Answer, CancelTimer, Outcome, SetTimer
from moldau.protocol.spec import Response

DETAIL_LENGTH_MAX: Final = 1000
"""Clients send reasons of any length; the history keeps this much."""


class Named(Protocol):
    """A member as the history names it."""

    @property
    def member_id(self) -> str: ...

    @property
    def instance_id(self) -> str | None: ...

    @property
    def client_id(self) -> str: ...

    @property
    def client_host(self) -> str: ...


class Draft:
    def __init__(self, group_id: str, now_ms: Millis) -> None:
        self.group_id = group_id
        self.now_ms = now_ms
        self._facts: list[GroupFact] = []
        self._answers: list[Answer] = []
        self._timers: dict[Hashable, SetTimer | CancelTimer] = {}

    def add(self, fact: GroupFact) -> None:
        """Adds a fact that does not change this draft's view of the group."""
        self._facts.append(fact)

    def note(self, kind: ChangeKind, member: Named, detail: str | None = None) -> None:
        """Adds to the group's history a reason for the rebalance that is under way or about to start."""
        self._note(
            Change(
                kind=kind,
                at_ms=self.now_ms,
                member_id=member.member_id,
                instance_id=member.instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                detail=(detail or "")[:DETAIL_LENGTH_MAX],
            )
        )

    def note_of_group(self, kind: ChangeKind, detail: str = "") -> None:
        self._note(Change(kind, self.now_ms, detail=detail[:DETAIL_LENGTH_MAX]))

    def _note(self, change: Change) -> None:
        self.add(ChangeNoted(self.group_id, change))

    def answer(self, request_id: int, reply: Response) -> None:
        self._answers.append(Answer(request_id, reply))

    def time(self, key: Hashable, delay_ms: int) -> None:
        self._timers[key] = SetTimer(key, Millis(self.now_ms + max(delay_ms, 0)))

    def cancel(self, key: Hashable) -> None:
        self._timers[key] = CancelTimer(key)

    def outcome(self) -> Outcome[GroupFact]:
        return Outcome(tuple(self._facts), tuple(self._answers), tuple(self._timers.values()))
