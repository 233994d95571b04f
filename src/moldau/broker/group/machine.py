"""The coordinator of the groups in one partition of `__consumer_offsets`.

The runner passes requests and timers to `decide*`, writes the durable facts (`records.to_record`), replays
all facts in order, sets the timers, and sends the answers once the writes are committed. After a restart it
replays what `records.from_record` reads and then calls `decide_loaded`. A request for several groups is split
by shard beforehand.
"""

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from typing import Any, Final

from moldau.broker.group.call import Call, GroupOutcome
from moldau.broker.group.classic.classic_draft import ClassicDraft
from moldau.broker.group.classic.classic_group import ClassicGroup
from moldau.broker.group.classic.join_replies import join_refused, sync_refused
from moldau.broker.group.classic.rebalance import decide_join_timer, start_rebalance
from moldau.broker.group.classic.requests import heartbeat, join_group, leave_group, sync_group
from moldau.broker.group.classic.sessions import decide_session_timer
from moldau.broker.group.classic.sync import decide_sync_timer
from moldau.broker.group.client import ClientFacts
from moldau.broker.group.consumer.consumer_draft import ConsumerDraft
from moldau.broker.group.consumer.consumer_group import ConsumerGroup
from moldau.broker.group.consumer.consumer_heartbeat import consumer_group_heartbeat
from moldau.broker.group.consumer.departures import decide_consumer_session_timer, decide_rebalance_timer
from moldau.broker.group.consumer.describe import consumer_group_describe
from moldau.broker.group.consumer.topic_view import NoTopics, TopicView
from moldau.broker.group.consumer.topics import has_seen_all_topics, renew_epoch
from moldau.broker.group.facts import GroupFact, GroupLoaded
from moldau.broker.group.group_requests import delete_groups, describe_groups, list_groups
from moldau.broker.group.history.changes import ChangeKind
from moldau.broker.group.history.explanations import (
    GroupExplanation,
    OffsetExplanation,
    explain_group,
    explain_offset,
)
from moldau.broker.group.offsets.commits import offset_commit, txn_offset_commit
from moldau.broker.group.offsets.queries import offset_fetch
from moldau.broker.group.offsets.removals import offset_delete, removed_with_topics, transaction_ended
from moldau.broker.group.offsets.retention import decide_retention_timer, retention_timer
from moldau.broker.group.settings import TOPICS_CHANGED_DELAY_MS, ConsumerSettings, GroupSettings
from moldau.broker.group.state import ShardState
from moldau.broker.group.timers import (
    JoinTimer,
    RebalanceTimer,
    RetentionTimer,
    SessionTimer,
    SyncTimer,
    TopicsTimer,
)
from moldau.core.error_codes import ErrorCode
from moldau.core.ids import Millis, ProducerId
from moldau.core.machine import Answer, CancelTimer, Outcome, SetTimer
from moldau.protocol.messages.groups.consumer_group_describe import ConsumerGroupDescribeRequest
from moldau.protocol.messages.groups.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from moldau.protocol.messages.groups.delete_groups import DeleteGroupsRequest
from moldau.protocol.messages.groups.describe_groups import DescribeGroupsRequest
from moldau.protocol.messages.groups.heartbeat import HeartbeatRequest
from moldau.protocol.messages.groups.join_group import JoinGroupRequest
from moldau.protocol.messages.groups.leave_group import LeaveGroupRequest
from moldau.protocol.messages.groups.list_groups import ListGroupsRequest
from moldau.protocol.messages.groups.offset_commit import OffsetCommitRequest
from moldau.protocol.messages.groups.offset_delete import OffsetDeleteRequest
from moldau.protocol.messages.groups.offset_fetch import OffsetFetchRequest
from moldau.protocol.messages.groups.sync_group import SyncGroupRequest
from moldau.protocol.messages.transactions.txn_offset_commit import TxnOffsetCommitRequest
from moldau.protocol.spec import Request

DECIDERS: Final[Mapping[type[Request], Callable[[ShardState, Call, Any], GroupOutcome]]] = {
    JoinGroupRequest: join_group,
    SyncGroupRequest: sync_group,
    HeartbeatRequest: heartbeat,
    LeaveGroupRequest: leave_group,
    ConsumerGroupHeartbeatRequest: consumer_group_heartbeat,
    ConsumerGroupDescribeRequest: consumer_group_describe,
    OffsetCommitRequest: offset_commit,
    TxnOffsetCommitRequest: txn_offset_commit,
    OffsetFetchRequest: offset_fetch,
    OffsetDeleteRequest: offset_delete,
    DescribeGroupsRequest: describe_groups,
    ListGroupsRequest: list_groups,
    DeleteGroupsRequest: delete_groups,
}


class GroupMachine:
    def __init__(
        self,
        settings: GroupSettings,
        topics: TopicView | None = None,
        consumer_settings: Callable[[str], ConsumerSettings] = lambda _: ConsumerSettings(),
    ) -> None:
        """`consumer_settings` returns the current settings of a consumer group."""
        self.state = ShardState(settings, NoTopics() if topics is None else topics, consumer_settings)

    def replay(self, fact: GroupFact) -> None:
        self.state.replay(fact)

    def decide(
        self,
        request_id: int,
        request: Request,
        version: int,
        client: ClientFacts,
        now_ms: Millis,
        new_id: str,
        sees: Callable[[str], bool] | None = None,
    ) -> GroupOutcome:
        """Decides any request of `DECIDERS`. A JoinGroup or SyncGroup may have to wait: then its answer is in
        the outcome of a later request or timer."""
        call = Call(request_id, version, client, now_ms, new_id, sees)
        return DECIDERS[type(request)](self.state, call, request)

    def decide_timer(self, key: Hashable, now_ms: Millis) -> GroupOutcome:
        match key:
            case SessionTimer(group_id, member_id):
                return self._session_timer(group_id, member_id, now_ms)
            case RebalanceTimer(group_id, member_id):
                return self._of_consumer(
                    group_id, now_ms, lambda draft: decide_rebalance_timer(draft, member_id)
                )
            case JoinTimer(group_id):
                return self._of_classic(group_id, now_ms, decide_join_timer)
            case SyncTimer(group_id):
                return self._of_classic(group_id, now_ms, decide_sync_timer)
            case TopicsTimer():
                return self._look_at_topics(now_ms)
            case RetentionTimer():
                return decide_retention_timer(self.state, key, now_ms)
        raise AssertionError(f"{key!r} is no timer of the group coordinator")

    def decide_loaded(self, now_ms: Millis) -> GroupOutcome:
        """Call after the log is replayed. Starts the session timers of all known members."""
        facts: list[GroupFact] = []
        timers: list[SetTimer | CancelTimer] = [retention_timer(self.state, now_ms)]
        for group in self.state.groups.values():
            if isinstance(group, ClassicGroup):
                loaded = self._of_classic(group.group_id, now_ms, _restart_sessions)
                facts += (GroupLoaded(group.group_id, now_ms), *loaded.facts)
                timers += loaded.timers
            elif isinstance(group, ConsumerGroup):
                facts.append(GroupLoaded(group.group_id, now_ms))
                timers += self._of_consumer(group.group_id, now_ms, _restart_consumer_sessions).timers
        return Outcome(tuple(facts), timers=tuple(timers))

    def decide_unloaded(self) -> GroupOutcome:
        """The shard is about to stop: waiting clients are sent to look for the new coordinator."""
        answers = []
        for group in self.state.groups.values():
            for member in group.members.values() if isinstance(group, ClassicGroup) else ():
                if member.joining is not None:
                    refused = join_refused(ErrorCode.NOT_COORDINATOR, member.member_id)
                    answers.append(Answer(member.joining, refused))
                if member.syncing is not None:
                    answers.append(Answer(member.syncing, sync_refused(ErrorCode.NOT_COORDINATOR)))
        return Outcome(answers=tuple(answers))

    def decide_topics_deleted(self, topics: Collection[str], now_ms: Millis) -> GroupOutcome:
        return Outcome(tuple(removed_with_topics(self.state, topics, now_ms)))

    def decide_topics_changed(self, now_ms: Millis) -> GroupOutcome:
        """Topics were created, deleted or given partitions. Consumer groups would notice with their next
        heartbeat. This tells classic members, and clients that describe the group, sooner."""
        if not self.state.groups:
            return Outcome()
        return Outcome(timers=(SetTimer(TopicsTimer(), Millis(now_ms + TOPICS_CHANGED_DELAY_MS)),))

    def decide_transaction_ended(
        self, producer_id: ProducerId, committed: bool, now_ms: Millis
    ) -> GroupOutcome:
        """To be replayed once the marker is in the log."""
        return Outcome(tuple(transaction_ended(self.state, producer_id, committed, now_ms)))

    def explain_group(self, group_id: str) -> GroupExplanation:
        return explain_group(self.state, group_id)

    def explain_offset(self, group_id: str, topic: str, partition: int) -> OffsetExplanation:
        return explain_offset(self.state, group_id, topic, partition)

    def _look_at_topics(self, now_ms: Millis) -> GroupOutcome:
        facts: list[GroupFact] = []
        for group in self._consumer_groups():
            facts += self._of_consumer(group.group_id, now_ms, _look_at_topics).facts
        return Outcome(tuple(facts))

    def _consumer_groups(self) -> Iterator[ConsumerGroup]:
        return (group for group in self.state.groups.values() if isinstance(group, ConsumerGroup))

    def _session_timer(self, group_id: str, member_id: str, now_ms: Millis) -> GroupOutcome:
        if self.state.consumer(group_id) is not None:
            return self._of_consumer(
                group_id, now_ms, lambda draft: decide_consumer_session_timer(draft, member_id)
            )
        return self._of_classic(group_id, now_ms, lambda draft: decide_session_timer(draft, member_id))

    def _of_consumer(
        self, group_id: str, now_ms: Millis, decide: Callable[[ConsumerDraft], None]
    ) -> GroupOutcome:
        group = self.state.consumer(group_id)
        if group is None:
            return Outcome()
        draft = ConsumerDraft(group, self.state, now_ms)
        decide(draft)
        return draft.outcome()

    def _of_classic(
        self, group_id: str, now_ms: Millis, decide: Callable[[ClassicDraft], None]
    ) -> GroupOutcome:
        """A timer of a removed group does nothing."""
        group = self.state.classic(group_id)
        if group is None:
            return Outcome()
        draft = ClassicDraft(group, self.state.settings, now_ms)
        decide(draft)
        return draft.outcome()


def _restart_sessions(draft: ClassicDraft) -> None:
    for member in draft.group.members.values():
        draft.expect(member)
    if len(draft.group.members) > draft.settings.group_size_max:
        # The first members to rejoin may stay.
        draft.note_of_group(ChangeKind.LIMIT_LOWERED)
        start_rebalance(draft)


def _restart_consumer_sessions(draft: ConsumerDraft) -> None:
    for member in draft.group.members.values():
        draft.expect(member)
        draft.expect_revocation(member)


def _look_at_topics(draft: ConsumerDraft) -> None:
    if draft.group.members and not has_seen_all_topics(draft):
        renew_epoch(draft, members_changed=False)
