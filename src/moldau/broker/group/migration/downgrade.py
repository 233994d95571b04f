"""Turns a consumer group back into a classic one when its last member of the consumer protocol leaves
(KIP-848).
"""

from dataclasses import replace

from moldau.broker.group.classic.classic_draft import ClassicDraft
from moldau.broker.group.classic.classic_group import ClassicGroup, ClassicState, Member
from moldau.broker.group.classic.rebalance import saved
from moldau.broker.group.consumer.consumer_draft import ConsumerDraft
from moldau.broker.group.consumer.consumer_member import ConsumerMember
from moldau.broker.group.facts import ProtocolChanged
from moldau.broker.group.group_removal import removal
from moldau.broker.group.migration.embedded import assignment_bytes
from moldau.protocol.stored.consumer_protocol import CONSUMER_PROTOCOL_TYPE


def downgraded(draft: ConsumerDraft) -> ClassicDraft | None:
    """The classic group to continue with, if it is one now: stable, with the partitions members hold, not
    with their targets. Members may read more than their targets until they have rejoined, and the group may
    be upgraded again before that."""
    members = draft.group.members.values()
    only_classic = bool(members) and all(member.is_classic for member in members)
    allowed = draft.settings.migration.allows_downgrade
    if not only_classic or not allowed or len(members) > draft.classic_settings.group_size_max:
        return None
    group = _classic_group(draft)
    for member_id in list(draft.group.members):
        draft.remove(member_id)
    for fact in removal(draft.group):
        draft.add(fact)
    draft.add(ProtocolChanged(draft.group_id, draft.now_ms, "classic"))
    classic = ClassicDraft(ClassicGroup(draft.group_id), draft.classic_settings, draft.now_ms)
    classic.record(saved(group))
    for member in classic.group.members.values():
        classic.expect(member)
    return classic


def _classic_group(draft: ConsumerDraft) -> ClassicGroup:
    members = {member_id: _classic_member(member) for member_id, member in draft.group.members.items()}
    group = ClassicGroup(
        draft.group_id,
        ClassicState.STABLE,
        draft.group.epoch,
        CONSUMER_PROTOCOL_TYPE,
        leader=next(iter(members)),
        state_since_ms=draft.now_ms,
        members=members,
    )
    protocol = group.chosen_protocol()
    assigned = {
        member_id: replace(
            member,
            assignment=assignment_bytes(
                draft.group.members[member_id].held, draft.topics, member.metadata(protocol) or b""
            ),
        )
        for member_id, member in members.items()
    }
    return replace(group, protocol_name=protocol, members=assigned)


def _classic_member(member: ConsumerMember) -> Member:
    profile = member.profile
    assert profile.classic is not None
    return Member(
        member_id=member.member_id,
        instance_id=profile.instance_id,
        client_id=profile.client_id,
        client_host=profile.client_host,
        session_timeout_ms=profile.classic.session_timeout_ms,
        rebalance_timeout_ms=profile.rebalance_timeout_ms,
        protocols=profile.classic.protocols,
    )
