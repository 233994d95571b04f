"""The draft of one decision about a consumer group.

As with classic groups, deciders record facts here and see the group as it will be after them.
"""

from collections.abc import Callable

from moldau.broker.group.consumer.consumer_evolution import evolve_consumer
from moldau.broker.group.consumer.consumer_facts import (
    ConsumerFact,
    CurrentRecorded,
    ProfileRecorded,
    TargetRecorded,
)
from moldau.broker.group.consumer.consumer_group import ConsumerGroup, ConsumerState
from moldau.broker.group.consumer.consumer_member import ConsumerMember, MemberState
from moldau.broker.group.consumer.topic_view import TopicView
from moldau.broker.group.draft import Draft
from moldau.broker.group.facts import EpochSettled, GroupFact
from moldau.broker.group.settings import ConsumerSettings, GroupSettings
from moldau.broker.group.state import ShardState
from moldau.broker.group.timers import RebalanceTimer, SessionTimer
from moldau.core.ids import Millis
from moldau.core.machine import Outcome


class ConsumerDraft(Draft):
    def __init__(self, group: ConsumerGroup, state: ShardState, now_ms: Millis) -> None:
        super().__init__(group.group_id, now_ms)
        self.group = group
        self.settings: ConsumerSettings = state.consumer_settings(group.group_id)
        self.classic_settings: GroupSettings = state.settings
        self.topics: TopicView = state.topics
        self.sees: Callable[[str], bool] | None = None
        """Whether the member that is heard may know of a topic; None: it may know of all, or none is heard."""
        self._before = group
        self._next: Outcome[GroupFact] = Outcome()

    @property
    def can_resolve(self) -> bool:
        """Whether it is known which topics a pattern may find."""
        return self.sees is not None or not self.classic_settings.hides_topics

    def record(self, fact: ConsumerFact) -> None:
        self.add(fact)
        self.group = evolve_consumer(fact, self.group)

    def remove(self, member_id: str) -> None:
        """Removes every record of the member, in the order Kafka requires, and its timers."""
        self.record(CurrentRecorded(self.group_id, member_id, None))
        self.record(TargetRecorded(self.group_id, member_id, None))
        self.record(ProfileRecorded(self.group_id, member_id, None))
        self.cancel(SessionTimer(self.group_id, member_id))
        self.cancel(RebalanceTimer(self.group_id, member_id))

    def expect(self, member: ConsumerMember) -> None:
        """Starts the member's session timer."""
        classic = member.profile.classic
        timeout_ms = self.settings.session_timeout_ms if classic is None else classic.session_timeout_ms
        self.time(SessionTimer(self.group_id, member.member_id), timeout_ms)

    def expect_revocation(self, member: ConsumerMember) -> None:
        """Starts the rebalance timer of a member that must give up partitions. Members of the classic
        protocol have timers of their own steps; a static member that is away has already given up
        everything."""
        revokes = member.state is MemberState.UNREVOKED_PARTITIONS and not member.is_away
        if revokes and not member.is_classic:
            key = RebalanceTimer(self.group_id, member.member_id)
            self.time(key, member.profile.rebalance_timeout_ms)

    def add_outcome(self, outcome: Outcome[GroupFact]) -> None:
        """Appends the outcome of a decision about a group that is no longer a consumer group."""
        self._next = outcome

    def outcome(self) -> Outcome[GroupFact]:
        if self._has_settled():
            self.add(EpochSettled(self.group_id, self.group.epoch, self.now_ms))
        own = super().outcome()
        return Outcome(
            own.facts + self._next.facts, own.answers + self._next.answers, own.timers + self._next.timers
        )

    def _has_settled(self) -> bool:
        if self.group is self._before or self.group.state is not ConsumerState.STABLE:
            return False
        return self.group.epoch != self._before.epoch or self._before.state is not ConsumerState.STABLE
