"""Starts the epochs of a consumer group: when members join, leave or change subscriptions, or topics
change."""

from collections.abc import Iterator, Mapping
from typing import Final

from moldau.broker.group.consumer.consumer_draft import ConsumerDraft
from moldau.broker.group.consumer.consumer_facts import (
    EpochRecorded,
    PartitionMetadataRecorded,
    RegexRecorded,
    TopicsSeen,
)
from moldau.broker.group.consumer.topic_hash import topics_hash
from moldau.broker.group.consumer.topic_view import TopicInfo
from moldau.broker.group.facts import EpochStarted
from moldau.broker.group.history.changes import ChangeKind
from moldau.broker.group.regex import pattern
from moldau.protocol.stored.consumer_groups import (
    ConsumerGroupMetadataValue,
    ConsumerGroupRegularExpressionValue,
)

NEVER_SEEN: Final = -1


def has_seen_all_topics(draft: ConsumerDraft) -> bool:
    """Patterns are resolved again after a while in any case, because authorization can change too."""
    group = draft.group
    if group.topics_version != draft.topics.version:
        return False
    return not group.regexes or draft.now_ms < group.topics_seen_ms + draft.settings.regex_refresh_interval_ms


def renew_epoch(draft: ConsumerDraft, *, members_changed: bool) -> None:
    """Checks the topics and starts a new epoch if needed."""
    patterns_changed = _resolve_regexes(draft)
    group_id, topics = draft.group_id, _known_topics(draft)
    metadata_hash = topics_hash(topics)
    topics_changed = patterns_changed or metadata_hash != draft.group.metadata_hash
    if topics_changed and not members_changed:
        draft.note_of_group(
            ChangeKind.TOPICS_CHANGED, "; ".join(_differences(draft.group.topics_seen, topics))
        )
    if topics_changed or members_changed:
        epoch = draft.group.epoch + 1
        value = ConsumerGroupMetadataValue(epoch=epoch, metadata_hash=metadata_hash)
        draft.record(EpochRecorded(group_id, value))
        draft.add(EpochStarted(group_id, epoch, draft.now_ms))
    if draft.group.has_partition_metadata:
        draft.record(PartitionMetadataRecorded(group_id, None))
    # Where no member is heard, patterns are left to the next heartbeat.
    version = draft.topics.version if draft.can_resolve else (draft.group.topics_version or NEVER_SEEN)
    draft.record(TopicsSeen(group_id, version, topics, draft.now_ms))


def _known_topics(draft: ConsumerDraft) -> dict[str, TopicInfo]:
    found = {name: draft.topics.find(name) for name in sorted(draft.group.subscribed_topics())}
    return {name: topic for name, topic in found.items() if topic is not None}


def _resolve_regexes(draft: ConsumerDraft) -> bool:
    """Returns whether any pattern matches other topics than before."""
    group, changed = draft.group, False
    wanted = group.subscribed_regexes()
    for regex in sorted(group.regexes.keys() - wanted):
        draft.record(RegexRecorded(group.group_id, regex, None))
    for regex in sorted(wanted):
        before = group.regexes.get(regex)
        if not draft.can_resolve or (before is not None and has_seen_all_topics(draft)):
            continue
        names = draft.topics.names()
        topics = pattern(regex).chosen_from(names if draft.sees is None else filter(draft.sees, names))
        if before is None or before.topics != topics:
            changed |= before is not None or bool(topics)
            value = ConsumerGroupRegularExpressionValue(
                topics=sorted(topics), version=draft.topics.version, timestamp=draft.now_ms
            )
            draft.record(RegexRecorded(group.group_id, regex, value))
    return changed


def _differences(before: Mapping[str, TopicInfo], after: Mapping[str, TopicInfo]) -> Iterator[str]:
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name), after.get(name)
        if old is None or new is None:
            yield f"{name} is there now" if old is None else f"{name} is gone"
        elif old.topic_id != new.topic_id:
            yield f"{name} was deleted and made again"
        elif old.partition_count != new.partition_count:
            yield f"{name} has {new.partition_count} partitions instead of {old.partition_count}"
