"""The draft of one decision about a classic group.

A decider records facts here and sees the group as it will be after them. The group itself does not change:
the same `evolve` is applied again when the facts are replayed. The draft also cancels the timers of removed
members and finished phases, for all deciders.
"""

from collections.abc import Hashable

from moldau.broker.group.classic.classic_evolution import evolve
from moldau.broker.group.classic.classic_group import ClassicGroup, ClassicState, Member
from moldau.broker.group.draft import Draft
from moldau.broker.group.facts import ClassicFact, GroupFact
from moldau.broker.group.settings import NEW_MEMBER_JOIN_TIMEOUT_MS, GroupSettings
from moldau.broker.group.timers import JoinTimer, SessionTimer, SyncTimer
from moldau.core.ids import Millis
from moldau.core.machine import Outcome


class ClassicDraft(Draft):
    def __init__(self, group: ClassicGroup, settings: GroupSettings, now_ms: Millis) -> None:
        super().__init__(group.group_id, now_ms)
        self.group = group
        self.settings = settings
        self._before = group

    def record(self, fact: ClassicFact) -> None:
        self.add(fact)
        self.group = evolve(fact, self.group)

    def expect(self, member: Member) -> None:
        """Starts the member's session timer."""
        timeout_ms = NEW_MEMBER_JOIN_TIMEOUT_MS if member.is_new else member.session_timeout_ms
        self.time(SessionTimer(self.group_id, member.member_id), timeout_ms)

    def outcome(self) -> Outcome[GroupFact]:
        if self.group is not self._before:
            for key in _timers_over(self._before, self.group):
                self.cancel(key)
        return super().outcome()


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
