"""Explains why a group rebalanced and why an offset moved, as data for people.

The texts contain no time of day: every entry has its own time in milliseconds. `asdict` turns everything into
JSON.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from moldau.broker.group.classic.classic_group import ClassicGroup, ClassicState
from moldau.broker.group.consumer.consumer_group import ConsumerGroup, ConsumerState
from moldau.broker.group.consumer.consumer_member import ConsumerMember, MemberState
from moldau.broker.group.history.changes import Change, OffsetChange, OffsetChangeKind
from moldau.broker.group.history.history import Epoch, Event, Loaded, Moved, Rebalance, Removed
from moldau.broker.group.state import ShardState


@dataclass(frozen=True, slots=True)
class Entry:
    at_ms: int
    text: str
    details: tuple[str, ...] = ()
    event: Event | OffsetChange | None = None
    """The event the text describes."""


@dataclass(frozen=True, slots=True)
class GroupExplanation:
    group_id: str
    state: str
    summary: str
    timeline: tuple[Entry, ...]
    """Oldest first."""


@dataclass(frozen=True, slots=True)
class OffsetExplanation:
    group_id: str
    topic: str
    partition: int
    offset: int | None
    committed_at_ms: int | None
    expires_at_ms: int | None
    """When the offset expires if nobody commits it again or reads its topic; None while it does not age."""
    summary: str
    timeline: tuple[Entry, ...]


def explain_group(state: ShardState, group_id: str) -> GroupExplanation:
    group = state.groups.get(group_id)
    summary = f"Group {group_id!r} does not exist: it has no members and no committed offsets."
    if isinstance(group, ClassicGroup):
        summary = _classic_summary(group)
    elif isinstance(group, ConsumerGroup):
        summary = _consumer_summary(group)
    return GroupExplanation(
        group_id=group_id,
        state=ClassicState.DEAD if group is None else str(group.listed().group_state),
        summary=summary,
        timeline=tuple(_entry(event) for event in state.history.events(group_id)),
    )


def explain_offset(state: ShardState, group_id: str, topic: str, partition: int) -> OffsetExplanation:
    committed = state.offsets.get(group_id, topic, partition)
    changes = state.history.offset_changes(group_id, topic, partition)
    group = state.groups.get(group_id)
    retention = None if group is None else group.retention()
    expires_at_ms = None
    if committed is not None and retention is not None:
        expires_at_ms = retention.expires_at_ms(topic, committed, state.settings.offsets_retention_ms)
    loaded = any(isinstance(event, Loaded) for event in state.history.events(group_id))
    return OffsetExplanation(
        group_id=group_id,
        topic=topic,
        partition=partition,
        offset=None if committed is None else committed.offset,
        committed_at_ms=None if committed is None else committed.commit_timestamp_ms,
        expires_at_ms=expires_at_ms,
        summary=" ".join(_offset_summary(state, group_id, topic, partition, changes, loaded)),
        timeline=tuple(_offset_entry(change) for change in changes),
    )


def _classic_summary(group: ClassicGroup) -> str:
    members = _counted(len(group.members), "member")
    match group.state:
        case ClassicState.EMPTY:
            what = (
                "Offsets were committed without membership" if group.protocol_type is None else "No members"
            )
            waiting = len(group.pending_joins)
            return f"{what}." + (f" {_counted(waiting, 'client')} about to join." if waiting else "")
        case ClassicState.PREPARING_REBALANCE:
            return f"Rebalancing: {_waits_for(group)}."
        case ClassicState.COMPLETING_REBALANCE:
            return (
                f"Rebalancing: generation {group.generation_id} has {members};"
                f" the leader {group.leader} has not sent the assignment yet."
            )
    return (
        f"Stable: generation {group.generation_id} with {members},"
        f" assigned by {group.leader} with {group.protocol_name!r}."
    )


def _consumer_summary(group: ConsumerGroup) -> str:
    members = _counted(len(group.members), "member")
    match group.state:
        case ConsumerState.EMPTY:
            return "No members."
        case ConsumerState.ASSIGNING:
            return f"Epoch {group.epoch} with {members}: the next heartbeat computes the assignment."
        case ConsumerState.RECONCILING:
            behind = [
                f"{member.member_id} {_behind(group, member)}"
                for member in group.members.values()
                if not member.is_settled_at(group.target_epoch)
            ]
            return f"Reconciling: epoch {group.epoch} with {members}; {'; '.join(behind)}."
    return f"Stable: epoch {group.epoch} with {members}."


def _behind(group: ConsumerGroup, member: ConsumerMember) -> str:
    if member.is_away:
        return "is away and expected to return"
    if member.state is MemberState.UNREVOKED_PARTITIONS:
        return f"must revoke {_counted(len(member.revoking), 'partition')}"
    if member.state is MemberState.UNRELEASED_PARTITIONS:
        missing = group.target_of(member.member_id) - member.assigned
        return f"waits for {_counted(len(missing), 'partition')} held by others"
    return "has not sent a heartbeat since"


def _waits_for(group: ClassicGroup) -> str:
    if group.initial_delay is not None:
        return f"{_counted(len(group.members), 'member')} so far; the initial delay waits for more to join"
    away = [member.member_id for member in group.members.values() if member.joining is None]
    away += [f"{member_id} (new)" for member_id in sorted(group.pending_joins)]
    return f"waits for {', '.join(away)} to join again" if away else "all members are here"


def _entry(event: Event) -> Entry:
    match event:
        case Rebalance():
            return Entry(event.started_ms, _rebalance_text(event), tuple(_reasons(event)), event)
        case Epoch():
            return Entry(event.started_ms, _epoch_text(event), tuple(_reasons(event)), event)
        case Moved(at_ms, group_type):
            protocol = "consumer protocol" if group_type == "consumer" else "classic protocol"
            return Entry(at_ms, f"The group moved to the {protocol} with its members.", event=event)
        case Loaded(at_ms):
            text = "Loaded from the log when this broker started or took over. Earlier events are unknown."
            return Entry(at_ms, text, event=event)
        case Removed(at_ms, why):
            return Entry(at_ms, f"The group was removed: {why}.", event=event)
        case Change():
            return Entry(event.at_ms, _change_text(event), event=event)


def _rebalance_text(event: Rebalance) -> str:
    if event.formed_ms is None:
        return "Rebalance, still waiting for members."
    took = f"after {event.formed_ms - event.started_ms} ms"
    if event.finished_ms is None:
        return f"Rebalance to generation {event.generation_id}: joined {took}, no assignment received."
    if event.members == 0:
        return f"Rebalance: no members were left {took}."
    took = f"after {event.finished_ms - event.started_ms} ms"
    return (
        f"Rebalance to generation {event.generation_id} with {_counted(event.members, 'member')} {took},"
        f" assigned by {event.leader} with {event.protocol_name!r}."
    )


def _epoch_text(event: Epoch) -> str:
    if event.assigned_ms is None:
        return f"Epoch {event.epoch}: no assignment was computed."
    assigned = f"assigned to {_counted(event.members, 'member')} with {event.assignor!r}"
    if event.settled_ms is None:
        return f"Epoch {event.epoch}: {assigned}, not settled."
    return f"Epoch {event.epoch}: {assigned}, settled after {event.settled_ms - event.started_ms} ms."


def _reasons(event: Rebalance | Epoch) -> Iterator[str]:
    yield from (_change_text(change) for change in event.reasons)
    if event.reasons_left_out:
        yield f"and {event.reasons_left_out} more"


def _change_text(change: Change) -> str:
    static = "" if change.instance_id is None else f", static {change.instance_id!r}"
    detail = f": {change.detail}" if change.detail else ""
    who = f"{change.member_id} (client {change.client_id!r} at {change.client_host}{static})"
    if not change.member_id:
        who = "the group"
    return f"{who} {change.kind}{detail}"


def _offset_summary(
    state: ShardState,
    group_id: str,
    topic: str,
    partition: int,
    changes: tuple[OffsetChange, ...],
    loaded: bool,
) -> Iterator[str]:
    offset = state.offsets.offset(group_id, topic, partition)
    last = changes[-1] if changes else None
    if offset is not None:
        yield f"Committed: the group continues at {offset}."
    elif (
        last is not None
        and last.offset_after is None
        and last.kind is not OffsetChangeKind.TRANSACTION_ABORTED
    ):
        yield f"Missing: {last.kind}. Its consumers start according to auto.offset.reset."
    else:
        since = "since this broker loaded the group" if loaded else "as far as the history goes back"
        yield f"Missing: never committed, {since}. Its consumers start according to auto.offset.reset."
    if state.offsets.is_pending(group_id, topic, partition):
        yield "A transaction that commits it is still open."


def _offset_entry(change: OffsetChange) -> Entry:
    before = "nothing" if change.offset_before is None else change.offset_before
    after = "nothing" if change.offset_after is None else change.offset_after
    who = f" by client {change.client_id!r} at {change.client_host}" if change.client_id else ""
    detail = f" ({change.detail})" if change.detail else ""
    return Entry(change.at_ms, f"{before} -> {after}: {change.kind}{who}{detail}", event=change)


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")
