"""The facts that remove a group without members, whatever its kind."""

from moldau.broker.group.consumer.consumer_facts import (
    EpochRecorded,
    PartitionMetadataRecorded,
    RegexRecorded,
    TargetEpochRecorded,
)
from moldau.broker.group.consumer.consumer_group import ConsumerGroup
from moldau.broker.group.facts import GroupFact, GroupRemoved
from moldau.broker.group.group_kind import Group


def removal(group: Group) -> list[GroupFact]:
    assert group.is_empty
    if not isinstance(group, ConsumerGroup):
        return [GroupRemoved(group.group_id)]
    facts: list[GroupFact] = [TargetEpochRecorded(group.group_id, None)]
    facts += [RegexRecorded(group.group_id, regex, None) for regex in sorted(group.regexes)]
    if group.has_partition_metadata:
        facts.append(PartitionMetadataRecorded(group.group_id, None))
    return [*facts, EpochRecorded(group.group_id, None)]
