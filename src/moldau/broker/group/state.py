"""All that one shard of the coordinator knows: its groups of every kind, their offsets, their history.

Deciders read it; `replay` alone changes it.
"""

from collections.abc import Mapping

from moldau.broker.group.classic_evolution import evolve
from moldau.broker.group.classic_group import ClassicGroup
from moldau.broker.group.facts import (
    GroupFact,
    GroupRemoved,
    HistoryFact,
    OffsetCommitted,
    OffsetFact,
)
from moldau.broker.group.group_kind import Group
from moldau.broker.group.history import History
from moldau.broker.group.offsets import Offsets
from moldau.broker.group.settings import GroupSettings


class ShardState:
    def __init__(self, settings: GroupSettings) -> None:
        self.settings = settings
        self.offsets = Offsets()
        self.history = History()
        self._groups: dict[str, Group] = {}

    @property
    def groups(self) -> Mapping[str, Group]:
        return self._groups

    def classic(self, group_id: str) -> ClassicGroup | None:
        group = self._groups.get(group_id)
        return group if isinstance(group, ClassicGroup) else None

    def replay(self, fact: GroupFact) -> None:
        self.history.replay(fact)
        if isinstance(fact, HistoryFact):
            return
        if isinstance(fact, OffsetFact):
            self.offsets.replay(fact)
            if isinstance(fact, OffsetCommitted):
                self._keep_offsets_findable(fact.group_id)
        elif isinstance(fact, GroupRemoved):
            self._groups.pop(fact.group_id, None)
            self._keep_offsets_findable(fact.group_id)
        else:
            group = self.classic(fact.group_id) or ClassicGroup(fact.group_id)
            self._groups[fact.group_id] = evolve(fact, group)

    def _keep_offsets_findable(self, group_id: str) -> None:
        """Offsets without a group belong to a simple one, which nobody writes down."""
        if group_id not in self._groups and self.offsets.has_any(group_id):
            self._groups[group_id] = ClassicGroup(group_id)
