"""The target assignment of a consumer group, computed once for each group epoch."""

from moldau.broker.group.consumer.assignors import ASSIGNORS
from moldau.broker.group.consumer.assignors.subscriber import Subscriber
from moldau.broker.group.consumer.consumer_draft import ConsumerDraft
from moldau.broker.group.consumer.consumer_facts import TargetEpochRecorded
from moldau.broker.group.consumer.consumer_member import ConsumerMember
from moldau.broker.group.consumer.member_values import target_recorded
from moldau.broker.group.facts import EpochAssigned
from moldau.core.ids import TopicId
from moldau.protocol.stored.consumer_groups import ConsumerGroupTargetAssignmentMetadataValue


def assign_if_due(draft: ConsumerDraft) -> None:
    group = draft.group
    if group.epoch <= group.target_epoch:
        return
    name = group.preferred_assignor(draft.settings.assignors)
    subscribers = [_subscriber(draft, member) for member in group.members.values()]
    infos = filter(None, map(draft.topics.find, group.subscribed_topics()))
    shares = ASSIGNORS[name](subscribers, {info.topic_id: info.partition_count for info in infos})
    for member_id in sorted(shares):
        if group.targets.get(member_id) != shares[member_id]:
            draft.record(target_recorded(group.group_id, member_id, shares[member_id]))
    value = ConsumerGroupTargetAssignmentMetadataValue(assignment_epoch=group.epoch)
    draft.record(TargetEpochRecorded(group.group_id, value))
    draft.add(EpochAssigned(group.group_id, group.epoch, draft.now_ms, name, len(group.members)))


def topic_ids_of(draft: ConsumerDraft, member: ConsumerMember) -> frozenset[TopicId]:
    infos = map(draft.topics.find, draft.group.topics_of(member))
    return frozenset(info.topic_id for info in infos if info is not None)


def _subscriber(draft: ConsumerDraft, member: ConsumerMember) -> Subscriber:
    return Subscriber(
        member.member_id,
        topic_ids_of(draft, member),
        member.instance_id,
        draft.group.target_of(member.member_id),
    )
