"""Finds expired offsets, and groups without members and offsets (KIP-211)."""

from moldau.broker.group.call import GroupOutcome
from moldau.broker.group.facts import GroupFact, OffsetRemoved, RemovalNoted
from moldau.broker.group.group_removal import removal
from moldau.broker.group.offsets.removals import removed_by_age
from moldau.broker.group.settings import OFFSETS_PER_SLICE
from moldau.broker.group.state import ShardState
from moldau.broker.group.timers import RetentionTimer
from moldau.core.ids import Millis
from moldau.core.machine import Outcome, SetTimer


def retention_timer(state: ShardState, now_ms: Millis) -> SetTimer:
    interval_ms = state.settings.offsets_retention_check_interval_ms
    return SetTimer(RetentionTimer(), Millis(now_ms + interval_ms))


def decide_retention_timer(state: ShardState, timer: RetentionTimer, now_ms: Millis) -> GroupOutcome:
    """Continues where the last slice ended, until all groups are checked."""
    facts: list[GroupFact] = []
    seen, last = 0, timer.after_group_id
    for group_id in sorted(group_id for group_id in state.groups if last is None or group_id > last):
        if seen >= OFFSETS_PER_SLICE:
            return Outcome(tuple(facts), timers=(SetTimer(RetentionTimer(last), now_ms),))
        offsets = sum(1 for _ in state.offsets.of_group(group_id))
        facts += _looked_at(state, group_id, offsets, now_ms)
        seen += 1 + offsets
        last = group_id
    return Outcome(tuple(facts), timers=(retention_timer(state, now_ms),))


def _looked_at(state: ShardState, group_id: str, offsets: int, now_ms: Millis) -> list[GroupFact]:
    group = state.groups[group_id]
    facts = list(removed_by_age(state, group, now_ms))
    removed = sum(isinstance(fact, OffsetRemoved) for fact in facts)
    if removed == offsets and group.is_forgettable and not state.offsets.has_open_transactions(group_id):
        facts.append(RemovalNoted(group_id, now_ms, "it had neither members nor offsets"))
        facts += removal(group)
    return facts
