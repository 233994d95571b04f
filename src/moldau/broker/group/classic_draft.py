"""One decision about a classic group in the making.

A decider records facts here and sees the group as they will leave it, without the group itself being touched: the
same `evolve` is applied again when the facts are replayed. Timers of members and phases that are over are cancelled
here, for all deciders.
"""

from collections.abc import Hashable
from typing import Final

from moldau.broker.group.changes import Change, ChangeKind
from moldau.broker.group.classic_evolution import evolve
from moldau.broker.group.classic_group import ClassicGroup, ClassicState, Member
from moldau.broker.group.facts import ChangeNoted, ClassicFact, GroupFact
from moldau.broker.group.settings import NEW_MEMBER_JOIN_TIMEOUT_MS, GroupSettings
from moldau.broker.group.timers import JoinTimer, SessionTimer, SyncTimer
from moldau.core.ids import Millis
from moldau.core.machine import Answer, CancelTimer, Outcome, SetTimer
from moldau.protocol.spec import Response

DETAIL_LENGTH_MAX: Final = 1000
"""Clients send reasons of any length; the history keeps this much."""


class ClassicDraft:
    def __init__(self, group: ClassicGroup, settings: GroupSettings, now_ms: Millis) -> None:
        self.group = group
        self.settings = settings
        self.now_ms = now_ms
        self._before = group
        self._facts: list[GroupFact] = []
        self._answers: list[Answer] = []
        self._timers: dict[Hashable, SetTimer | CancelTimer] = {}

    def record(self, fact: ClassicFact) -> None:
        self._facts.append(fact)
        self.group = evolve(fact, self.group)

    def note(self, kind: ChangeKind, member: Member, detail: str | None = None) -> None:
        """Goes into the history of the group, as a reason of the rebalance that is under way or about to start."""
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

    def note_of_group(self, kind: ChangeKind) -> None:
        self._note(Change(kind, self.now_ms))

    def _note(self, change: Change) -> None:
        self._facts.append(ChangeNoted(self.group.group_id, change))

    def answer(self, request_id: int, reply: Response) -> None:
        self._answers.append(Answer(request_id, reply))

    def time(self, key: Hashable, delay_ms: int) -> None:
        self._timers[key] = SetTimer(key, Millis(self.now_ms + max(delay_ms, 0)))

    def expect(self, member: Member) -> None:
        """The member has to be heard of again in time."""
        timeout_ms = NEW_MEMBER_JOIN_TIMEOUT_MS if member.is_new else member.session_timeout_ms
        self.time(SessionTimer(self.group.group_id, member.member_id), timeout_ms)

    def outcome(self) -> Outcome[GroupFact]:
        if self.group is not self._before:
            for key in _timers_over(self._before, self.group):
                self._timers[key] = CancelTimer(key)
        return Outcome(tuple(self._facts), tuple(self._answers), tuple(self._timers.values()))


def _timers_over(before: ClassicGroup, after: ClassicGroup) -> list[Hashable]:
    group_id = before.group_id
    known_before = before.members.keys() | before.pending_joins
    known_after = after.members.keys() | after.pending_joins
    over: list[Hashable] = [
        SessionTimer(group_id, member_id) for member_id in sorted(known_before - known_after)
    ]
    preparing = ClassicState.PREPARING_REBALANCE
    if before.state is preparing and after.state is not preparing:
        over.append(JoinTimer(group_id))
    if before.pending_syncs and not after.pending_syncs:
        over.append(SyncTimer(group_id))
    return over
