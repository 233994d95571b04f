"""Why groups rebalanced and offsets moved, kept as long as this coordinator has the group.

Filled by `replay` like other state, in memory only, and bounded everywhere.
"""

from collections import deque
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from moldau.broker.group.facts import (
    ChangeNoted,
    EpochAssigned,
    EpochSettled,
    EpochStarted,
    GenerationFormed,
    GroupFact,
    GroupLoaded,
    GroupSaved,
    OffsetChangeNoted,
    ProtocolChanged,
    RebalanceStarted,
    RemovalNoted,
)
from moldau.broker.group.history.changes import Change, ChangeKind, OffsetChange

GROUPS_MAX: Final = 10_000
"""Groups with a history; the one without events for the longest time is dropped first."""
EVENTS_MAX: Final = 50
"""Rebalances and other events of one group."""
REASONS_MAX: Final = 100
"""Reasons of one rebalance kept in full; further ones are counted."""
OFFSET_CHANGES_MAX: Final = 200
"""Changes of one group's offsets, all partitions together."""


@dataclass(frozen=True, slots=True)
class Rebalance:
    started_ms: int
    reasons: tuple[Change, ...]
    reasons_left_out: int = 0
    generation_id: int | None = None
    """The generation it led to; None while members are still joining."""
    formed_ms: int | None = None
    """When all members had joined, or the timeout ended the phase."""
    finished_ms: int | None = None
    """When the leader's assignment was stored, or the group was found empty."""
    members: int = 0
    leader: str | None = None
    protocol_name: str | None = None


@dataclass(frozen=True, slots=True)
class Epoch:
    """For a consumer group what a rebalance is for a classic one."""

    epoch: int
    started_ms: int
    reasons: tuple[Change, ...] = ()
    reasons_left_out: int = 0
    assigned_ms: int | None = None
    """When the target assignment was computed."""
    assignor: str | None = None
    members: int = 0
    settled_ms: int | None = None
    """When all members had reached it; None if the next epoch came first."""


@dataclass(frozen=True, slots=True)
class Moved:
    """The group moved to another protocol with its members."""

    at_ms: int
    group_type: str


@dataclass(frozen=True, slots=True)
class Loaded:
    """Loaded from the log: the broker started, or took over from another. Earlier events are unknown."""

    at_ms: int


@dataclass(frozen=True, slots=True)
class Removed:
    at_ms: int
    why: str


Event = Rebalance | Epoch | Moved | Loaded | Removed | Change
_NOT_A_REASON: Final = (ChangeKind.STATIC_MEMBER_RETURNED, ChangeKind.STATIC_MEMBER_AWAY)
"""These happen without a rebalance, so they are events of their own."""
_WithReasons = TypeVar("_WithReasons", Rebalance, Epoch)


@dataclass(slots=True)
class _GroupHistory:
    events: deque[Event] = field(default_factory=lambda: deque(maxlen=EVENTS_MAX))
    offset_changes: deque[OffsetChange] = field(default_factory=lambda: deque(maxlen=OFFSET_CHANGES_MAX))
    reasons: list[Change] = field(default_factory=list)
    """Of the rebalance about to start; deciders note its reasons first."""

    def rebalance(self) -> Rebalance | None:
        """The rebalance under way."""
        last = self.events[-1] if self.events else None
        return last if isinstance(last, Rebalance) and last.finished_ms is None else None


class History:
    def __init__(self) -> None:
        self._groups: dict[str, _GroupHistory] = {}

    def events(self, group_id: str) -> tuple[Event, ...]:
        """Oldest first."""
        group = self._groups.get(group_id)
        return tuple(group.events) if group is not None else ()

    def offset_changes(self, group_id: str, topic: str, partition: int) -> tuple[OffsetChange, ...]:
        """Oldest first."""
        group = self._groups.get(group_id)
        changes = group.offset_changes if group is not None else ()
        return tuple(change for change in changes if (change.topic, change.partition) == (topic, partition))

    def replay(self, fact: GroupFact) -> None:
        match fact:
            case ChangeNoted(group_id, change):
                _note(self._of(group_id), change)
            case OffsetChangeNoted(group_id, offset_change):
                self._of(group_id).offset_changes.append(offset_change)
            case RebalanceStarted(group_id, at_ms):
                _start(self._of(group_id), at_ms)
            case GenerationFormed():
                _form(self._of(fact.group_id), fact)
            case GroupSaved(group_id) if group_id in self._groups:
                _finish(self._of(group_id), fact)
            case EpochStarted(group_id, epoch, at_ms):
                _start_epoch(self._of(group_id), Epoch(epoch, at_ms))
            case EpochAssigned() | EpochSettled():
                _continue_epoch(self._of(fact.group_id), fact)
            case ProtocolChanged(group_id, at_ms, group_type):
                self._of(group_id).events.append(Moved(at_ms, group_type))
            case GroupLoaded(group_id, at_ms):
                self._of(group_id).events.append(Loaded(at_ms))
            case RemovalNoted(group_id, at_ms, why):
                self._of(group_id).events.append(Removed(at_ms, why))

    def _of(self, group_id: str) -> _GroupHistory:
        group = self._groups.pop(group_id, None) or _GroupHistory()
        self._groups[group_id] = group
        if len(self._groups) > GROUPS_MAX:
            del self._groups[next(iter(self._groups))]
        return group


def _note(group: _GroupHistory, change: Change) -> None:
    under_way = group.rebalance()
    if change.kind in _NOT_A_REASON:
        group.events.append(change)
    elif under_way is None or under_way.formed_ms is not None:
        group.reasons.append(change)
    else:
        group.events[-1] = _with_reasons(under_way, [change])


def _with_reasons(event: _WithReasons, reasons: list[Change]) -> _WithReasons:
    kept = (*event.reasons, *reasons)
    left_out = max(len(kept) - REASONS_MAX, 0)
    return replace(event, reasons=kept[:REASONS_MAX], reasons_left_out=event.reasons_left_out + left_out)


def _start(group: _GroupHistory, at_ms: int) -> None:
    reasons, group.reasons = group.reasons, []
    group.events.append(_with_reasons(Rebalance(at_ms, ()), reasons))


def _start_epoch(group: _GroupHistory, epoch: Epoch) -> None:
    reasons, group.reasons = group.reasons, []
    group.events.append(_with_reasons(epoch, reasons))


def _continue_epoch(group: _GroupHistory, fact: EpochAssigned | EpochSettled) -> None:
    for at in range(len(group.events) - 1, -1, -1):
        event = group.events[at]
        if isinstance(event, Epoch):
            if event.epoch == fact.epoch:
                group.events[at] = _continued(event, fact)
            return


def _continued(event: Epoch, fact: EpochAssigned | EpochSettled) -> Epoch:
    if isinstance(fact, EpochSettled):
        return replace(event, settled_ms=fact.at_ms)
    return replace(event, assigned_ms=fact.at_ms, assignor=fact.assignor, members=fact.members)


def _form(group: _GroupHistory, fact: GenerationFormed) -> None:
    under_way = group.rebalance()
    if under_way is not None:
        group.events[-1] = replace(
            under_way,
            generation_id=fact.generation_id,
            formed_ms=fact.at_ms,
            leader=fact.leader,
            protocol_name=fact.protocol_name,
        )


def _finish(group: _GroupHistory, fact: GroupSaved) -> None:
    under_way = group.rebalance()
    if under_way is not None:
        value = fact.value
        group.events[-1] = replace(
            under_way,
            generation_id=value.generation,
            finished_ms=value.current_state_timestamp,
            members=len(value.members),
            formed_ms=value.current_state_timestamp if under_way.formed_ms is None else under_way.formed_ms,
        )
