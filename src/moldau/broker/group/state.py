"""The state of one shard of the coordinator: its groups of every kind, their offsets, their history.

Deciders read it; only `replay` changes it.
"""

from collections.abc import Callable, Mapping

from moldau.broker.group.classic.classic_evolution import evolve
from moldau.broker.group.classic.classic_group import ClassicGroup
from moldau.broker.group.consumer.consumer_evolution import evolve_consumer
from moldau.broker.group.consumer.consumer_facts import ConsumerFact, DurableConsumerFact, EpochRecorded
from moldau.broker.group.consumer.consumer_group import ConsumerGroup
from moldau.broker.group.consumer.topic_view import TopicView
from moldau.broker.group.facts import (
    GroupFact,
    GroupRemoved,
    HistoryFact,
    OffsetCommitted,
    OffsetFact,
)
from moldau.broker.group.group_kind import Group
from moldau.broker.group.history.history import History
from moldau.broker.group.offsets.offsets import Offsets
from moldau.broker.group.settings import ConsumerSettings, GroupSettings


class ShardState:
    def __init__(
        self,
        settings: GroupSettings,
        topics: TopicView,
        consumer_settings: Callable[[str], ConsumerSettings],
    ) -> None:
        """Topics and the settings of consumer groups are looked up when needed, because others change
        them."""
        self.settings = settings
        self.topics = topics
        self.consumer_settings = consumer_settings
        self.offsets = Offsets()
        self.history = History()
        self._groups: dict[str, Group] = {}

    @property
    def groups(self) -> Mapping[str, Group]:
        return self._groups

    def classic(self, group_id: str) -> ClassicGroup | None:
        group = self._groups.get(group_id)
        return group if isinstance(group, ClassicGroup) else None

    def consumer(self, group_id: str) -> ConsumerGroup | None:
        group = self._groups.get(group_id)
        return group if isinstance(group, ConsumerGroup) else None

    def replay(self, fact: GroupFact) -> None:
        self.history.replay(fact)
        if isinstance(fact, HistoryFact):
            return
        if isinstance(fact, OffsetFact):
            self.offsets.replay(fact)
            if isinstance(fact, OffsetCommitted):
                self._add_simple_group(fact.group_id)
        elif isinstance(fact, GroupRemoved):
            if self.classic(fact.group_id) is not None:
                self._remove(fact.group_id)
        elif isinstance(fact, ConsumerFact):
            self._replay_consumer(fact)
        else:
            group = self.classic(fact.group_id) or ClassicGroup(fact.group_id)
            self._groups[fact.group_id] = evolve(fact, group)

    def _replay_consumer(self, fact: ConsumerFact) -> None:
        group = self.consumer(fact.group_id)
        makes_one = isinstance(fact, DurableConsumerFact) and fact.value is not None
        if group is None and not makes_one:
            return
        if isinstance(fact, EpochRecorded) and fact.value is None:
            self._remove(fact.group_id)
        else:
            self._groups[fact.group_id] = evolve_consumer(fact, group or ConsumerGroup(fact.group_id))

    def _remove(self, group_id: str) -> None:
        del self._groups[group_id]
        self._add_simple_group(group_id)

    def _add_simple_group(self, group_id: str) -> None:
        """Offsets without a group belong to a simple group, which has no record."""
        if group_id not in self._groups and self.offsets.has_any(group_id):
            self._groups[group_id] = ClassicGroup(group_id)
