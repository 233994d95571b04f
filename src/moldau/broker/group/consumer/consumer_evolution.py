"""Applies one fact to a consumer group and returns the new value. Decides nothing.

Compaction keeps the last fact of each kind, in the order of their last writes: any fact may come before any
other.
"""

from dataclasses import replace
from functools import singledispatch
from typing import Any

from moldau.broker.group.consumer.consumer_facts import (
    CurrentRecorded,
    EpochRecorded,
    PartitionMetadataRecorded,
    ProfileRecorded,
    RegexRecorded,
    StepAwaited,
    TargetEpochRecorded,
    TargetRecorded,
    TopicsSeen,
)
from moldau.broker.group.consumer.consumer_group import ConsumerGroup, ResolvedRegex
from moldau.broker.group.consumer.consumer_member import LEAVE_EPOCH, ConsumerMember, MemberState
from moldau.broker.group.consumer.member_values import profile_of
from moldau.broker.group.consumer.topic_id_partitions import partitions_of


@singledispatch
def evolve_consumer(fact: Any, group: ConsumerGroup) -> ConsumerGroup:
    raise AssertionError(f"{type(fact).__name__} is not a fact of a consumer group")


@evolve_consumer.register
def _epoch(fact: EpochRecorded, group: ConsumerGroup) -> ConsumerGroup:
    if fact.value is None:
        return ConsumerGroup(group.group_id)
    return replace(group, epoch=fact.value.epoch, metadata_hash=fact.value.metadata_hash)


@evolve_consumer.register
def _partition_metadata(fact: PartitionMetadataRecorded, group: ConsumerGroup) -> ConsumerGroup:
    return replace(group, has_partition_metadata=fact.value is not None)


@evolve_consumer.register
def _profile(fact: ProfileRecorded, group: ConsumerGroup) -> ConsumerGroup:
    if fact.value is None:
        return replace(
            group,
            members=_without(group.members, fact.member_id),
            targets=_without(group.targets, fact.member_id),
        )
    return _with_member(group, replace(_member(group, fact.member_id), profile=profile_of(fact.value)))


@evolve_consumer.register
def _target_epoch(fact: TargetEpochRecorded, group: ConsumerGroup) -> ConsumerGroup:
    return replace(group, target_epoch=0 if fact.value is None else fact.value.assignment_epoch)


@evolve_consumer.register
def _target(fact: TargetRecorded, group: ConsumerGroup) -> ConsumerGroup:
    if fact.value is None:
        return replace(group, targets=_without(group.targets, fact.member_id))
    target = partitions_of(fact.value.topic_partitions)
    return replace(group, targets={**group.targets, fact.member_id: target})


@evolve_consumer.register
def _current(fact: CurrentRecorded, group: ConsumerGroup) -> ConsumerGroup:
    value = fact.value
    if value is None:
        if fact.member_id not in group.members:
            return group
        member = group.members[fact.member_id]
        nothing = ConsumerMember(
            member.member_id, member.profile, epoch=LEAVE_EPOCH, previous_epoch=LEAVE_EPOCH
        )
        return _with_member(group, nothing)
    return _with_member(
        group,
        replace(
            _member(group, fact.member_id),
            epoch=value.member_epoch,
            previous_epoch=value.previous_member_epoch,
            state=_state(value.state),
            assigned=partitions_of(value.assigned_partitions),
            revoking=partitions_of(value.partitions_pending_revocation),
        ),
    )


@evolve_consumer.register
def _regex(fact: RegexRecorded, group: ConsumerGroup) -> ConsumerGroup:
    if fact.value is None:
        return replace(group, regexes=_without(group.regexes, fact.regular_expression))
    resolved = ResolvedRegex(frozenset(fact.value.topics), fact.value.version, fact.value.timestamp)
    return replace(group, regexes={**group.regexes, fact.regular_expression: resolved})


@evolve_consumer.register
def _topics_seen(fact: TopicsSeen, group: ConsumerGroup) -> ConsumerGroup:
    return replace(group, topics_version=fact.version, topics_seen=fact.topics, topics_seen_ms=fact.at_ms)


@evolve_consumer.register
def _step_awaited(fact: StepAwaited, group: ConsumerGroup) -> ConsumerGroup:
    return _with_member(group, replace(group.members[fact.member_id], awaited=fact.step))


def _member(group: ConsumerGroup, member_id: str) -> ConsumerMember:
    return group.members.get(member_id) or ConsumerMember(member_id)


def _with_member(group: ConsumerGroup, member: ConsumerMember) -> ConsumerGroup:
    return replace(group, members={**group.members, member.member_id: member})


def _without(mapping: Any, key: str) -> Any:
    return {known: value for known, value in mapping.items() if known != key}


def _state(stored: int) -> MemberState:
    """A newer coordinator may know more states."""
    try:
        return MemberState(stored)
    except ValueError:
        return MemberState.UNKNOWN
