"""Applies one fact to a classic group and returns the new value. Decides nothing."""

from dataclasses import replace
from functools import singledispatch
from typing import Any

from moldau.broker.group.classic.classic_group import PREVIOUS, ClassicGroup, ClassicState, Member
from moldau.broker.group.classic.subscriptions import GroupProtocol
from moldau.broker.group.facts import (
    GenerationFormed,
    GroupSaved,
    InitialDelayExtended,
    MemberAdded,
    MemberIdGiven,
    MemberIdWithdrawn,
    MemberRemoved,
    MemberReplaced,
    MemberUpdated,
    RebalanceStarted,
    SyncReceived,
)
from moldau.core.ids import NO_TIMESTAMP
from moldau.protocol.stored.classic_groups import MemberMetadata


@singledispatch
def evolve(fact: Any, group: ClassicGroup) -> ClassicGroup:
    raise AssertionError(f"{type(fact).__name__} is not a fact of a classic group")


@evolve.register
def _saved(fact: GroupSaved, group: ClassicGroup) -> ClassicGroup:
    value = fact.value
    state = ClassicState.STABLE if value.members else ClassicState.EMPTY
    since_ms = value.current_state_timestamp
    members = {saved.member_id: _saved_member(saved, value.protocol or "", group) for saved in value.members}
    return replace(
        group,
        state=state,
        generation_id=value.generation,
        protocol_type=value.protocol_type or None,
        protocol_name=value.protocol,
        leader=value.leader,
        state_since_ms=None if since_ms == NO_TIMESTAMP else since_ms,
        members=members,
        pending_syncs=group.pending_syncs & members.keys(),
        initial_delay=None,
    )


def _saved_member(saved: MemberMetadata, protocol: str, group: ClassicGroup) -> Member:
    """A record keeps only the chosen protocol. A known member keeps its others."""
    known = group.members.get(saved.member_id)
    knows_more = known is not None and known.metadata(protocol) == saved.subscription
    return Member(
        member_id=saved.member_id,
        instance_id=saved.group_instance_id,
        client_id=saved.client_id,
        client_host=saved.client_host,
        session_timeout_ms=saved.session_timeout,
        rebalance_timeout_ms=saved.session_timeout
        if saved.rebalance_timeout < 0
        else saved.rebalance_timeout,
        protocols=known.protocols
        if known is not None and knows_more
        else (GroupProtocol(protocol, saved.subscription),),
        assignment=saved.assignment,
    )


@evolve.register
def _id_given(fact: MemberIdGiven, group: ClassicGroup) -> ClassicGroup:
    return replace(group, pending_joins=group.pending_joins | {fact.member_id})


@evolve.register
def _id_withdrawn(fact: MemberIdWithdrawn, group: ClassicGroup) -> ClassicGroup:
    return replace(group, pending_joins=group.pending_joins - {fact.member_id})


@evolve.register
def _added(fact: MemberAdded, group: ClassicGroup) -> ClassicGroup:
    member = fact.member
    delay = group.initial_delay
    return replace(
        group,
        protocol_type=group.protocol_type if group.members else fact.protocol_type,
        members={**group.members, member.member_id: member},
        leader=group.leader or member.member_id,
        pending_joins=group.pending_joins - {member.member_id},
        initial_delay=delay and delay._replace(member_added=True),
    )


@evolve.register
def _updated(fact: MemberUpdated, group: ClassicGroup) -> ClassicGroup:
    assert fact.member.member_id in group.members
    return replace(group, members={**group.members, fact.member.member_id: fact.member})


@evolve.register
def _replaced(fact: MemberReplaced, group: ClassicGroup) -> ClassicGroup:
    before, member = fact.member_id_before, fact.member
    members = {
        (member if known.member_id == before else known).member_id: (
            member if known.member_id == before else known
        )
        for known in group.members.values()
    }
    leader = member.member_id if group.leader == before else group.leader
    return replace(group, members=members, leader=leader, pending_syncs=group.pending_syncs - {before})


@evolve.register
def _removed(fact: MemberRemoved, group: ClassicGroup) -> ClassicGroup:
    members = {
        member_id: member for member_id, member in group.members.items() if member_id != fact.member_id
    }
    leader = next(iter(members), None) if group.leader == fact.member_id else group.leader
    return replace(
        group, members=members, leader=leader, pending_syncs=group.pending_syncs - {fact.member_id}
    )


@evolve.register
def _rebalance_started(fact: RebalanceStarted, group: ClassicGroup) -> ClassicGroup:
    # Waiting SyncGroup requests were answered; an assignment of the old generation is void.
    void = group.state is ClassicState.COMPLETING_REBALANCE
    members = {
        member_id: replace(member, syncing=None, assignment=b"" if void else member.assignment)
        for member_id, member in group.members.items()
    }
    return replace(
        group,
        state=_next(group, ClassicState.PREPARING_REBALANCE),
        state_since_ms=fact.at_ms,
        members=members,
        pending_syncs=frozenset(),
        initial_delay=fact.initial_delay,
    )


@evolve.register
def _delay_extended(fact: InitialDelayExtended, group: ClassicGroup) -> ClassicGroup:
    return replace(group, initial_delay=fact.initial_delay)


@evolve.register
def _generation_formed(fact: GenerationFormed, group: ClassicGroup) -> ClassicGroup:
    members = {
        member_id: replace(member, is_new=False, joining=None) for member_id, member in group.members.items()
    }
    return replace(
        group,
        state=_next(group, ClassicState.COMPLETING_REBALANCE),
        state_since_ms=fact.at_ms,
        generation_id=fact.generation_id,
        protocol_name=fact.protocol_name,
        leader=fact.leader,
        members=members,
        pending_syncs=frozenset(members),
        initial_delay=None,
    )


@evolve.register
def _sync_received(fact: SyncReceived, group: ClassicGroup) -> ClassicGroup:
    member = replace(group.members[fact.member_id], syncing=fact.waiting)
    return replace(
        group,
        members={**group.members, member.member_id: member},
        pending_syncs=group.pending_syncs - {member.member_id},
    )


def _next(group: ClassicGroup, state: ClassicState) -> ClassicState:
    assert group.state in PREVIOUS[state], f"group {group.group_id} may not go from {group.state} to {state}"
    return state
