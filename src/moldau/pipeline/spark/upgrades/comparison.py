"""What happens to each store and topic of an application whose topology has changed. Pure.

Unchanged stores keep their state. If state or unread records would be lost, or a changed store may not fit its state,
the user decides: `refuse`, `drop` or `keep` (`AppSettings.on_change`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from moldau.core.errors import ConfigError
from moldau.pipeline.plan.topology import Topology
from moldau.pipeline.spark.settings import OnChange
from moldau.pipeline.spark.upgrades.inventory import Inventory, Shape
from moldau.pipeline.spark.upgrades.numbers import number_in, old_numbers, renumbered


class Fate(StrEnum):
    KEPT = "kept"
    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"


@dataclass(frozen=True)
class Change:
    """`asks`: what is lost or may be wrong. Empty if there is nothing to decide."""

    kind: str
    """`store`, `internal topic` or `source topic`."""
    name: str
    fate: Fate
    details: str = ""
    asks: str = ""
    can_be_kept: bool = False

    def is_refused(self, choice: OnChange) -> bool:
        return bool(self.asks) and not (choice == "drop" or (choice == "keep" and self.can_be_kept))

    def outcome(self, choice: OnChange) -> str:
        """What a run with this choice does with it, in words."""
        if not self.asks:
            return self.details
        if self.is_refused(choice):
            return f"refused: {self.asks}"
        if self.fate is Fate.REMOVED:
            return f"dropped: {self.asks}"
        follows = "keeps its content" if choice == "keep" else "starts empty"
        return f"{follows}: {self.asks}"


@dataclass(frozen=True)
class Upgrade:
    topology: Topology
    """The new topology, with the names that the checkpoint uses."""
    before: Inventory
    after: Inventory
    changes: tuple[Change, ...]
    inherits: tuple[tuple[int, ...], ...]
    """For each new sub-topology, the old ones that its state comes from."""

    @property
    def is_needed(self) -> bool:
        """Whether the checkpoint must be changed before the topology can run on it."""
        return self.before != self.after or any(len(olds) > 1 for olds in self.inherits)

    def refused(self, choice: OnChange) -> list[Change]:
        return [change for change in self.changes if change.is_refused(choice)]

    def require(self, application_id: str, choice: OnChange) -> None:
        """Raises ConfigError if the choice does not cover the changes."""
        refused = self.refused(choice)
        if not refused:
            return
        listed = "".join(f"\n  {one.kind} {one.name} is {one.fate}: {one.asks}" for one in refused)
        ways = ["--on-change drop drops it: changed stores start empty"]
        if choice == "refuse" and all(one.can_be_kept for one in refused):
            ways.append("--on-change keep keeps the content: you are responsible for it to fit")
        if any(one.kind == "store" and number_in(one.name) for one in refused):
            ways.append(
                "a store without a name is found by its shape: give it its old name, as in count(store='...')"
            )
        if any(one.kind == "internal topic" for one in refused):
            ways.append("run the old topology until its lag is 0, then nothing is unread")
        ways.append(f"moldau streams reset {application_id} starts over from the inputs")
        raise ConfigError(
            f"the topology of {application_id} has changed, and part of its checkpoint would not be kept:"
            f"{listed}\nWhat you can do (moldau streams plan shows the whole change):"
            + "".join(f"\n  {way}" for way in ways)
        )

    def forgotten(self, choice: OnChange) -> list[str]:
        """Stores whose old state is dropped, and the operators that belonged to them."""
        gone = {
            change.name
            for change in self.changes
            if change.kind == "store" and change.name in self.before.stores and _is_let_go(change, choice)
        }
        stay = {
            node for store in self.before.stores.values() if store.name not in gone for node in store.nodes
        }
        nodes = {node for name in gone for node in self.before.stores[name].nodes}
        return sorted(gone | (nodes - stay))

    def skipped_topics(self, choice: OnChange) -> list[str]:
        """Internal topics whose unread records are dropped, although the topic stays."""
        return [
            change.name
            for change in self.changes
            if change.kind == "internal topic"
            and change.fate is Fate.CHANGED
            and change.asks
            and choice == "drop"
        ]


def compare(before: Inventory, topology: Topology, unread: Mapping[str, int]) -> Upgrade:
    """`unread`: internal topic to its number of unread records."""
    numbers = old_numbers(before, Inventory.of(topology))
    topology = renumbered(topology, numbers.old_of)
    after = Inventory.of(topology)
    changes = (
        *_stores(before, after, numbers.unclear),
        *_internal_topics(before, after, unread),
        *_source_topics(before, after),
    )
    return Upgrade(topology, before, after, changes, _inherits(before, after))


def differences(old: Shape, new: Shape) -> str:
    """The differences in words. Empty if there are none."""
    told = [
        f"{aspect} {new.get(aspect, 'none')}, before {old.get(aspect, 'none')}"
        for aspect in (*new, *(one for one in old if one not in new))
        if new.get(aspect) != old.get(aspect)
    ]
    return "; ".join(told)


def _is_let_go(change: Change, choice: OnChange) -> bool:
    if change.fate is Fate.REMOVED:
        return True
    return change.fate is Fate.CHANGED and choice != "keep"


def _stores(before: Inventory, after: Inventory, unclear: Mapping[str, str]) -> list[Change]:
    changes = []
    for name, store in after.stores.items():
        old = before.stores.get(name)
        if old is None:
            changes.append(Change("store", name, Fate.ADDED, "begins empty"))
            continue
        told = [differences(old.shape, store.shape), _moved(before, after, name)]
        if name in unclear and not store.named:
            told.append(unclear[name])
        reason = "; ".join(one for one in told if one)
        if reason:
            changes.append(Change("store", name, Fate.CHANGED, reason, reason, can_be_kept=True))
        else:
            changes.append(Change("store", name, Fate.KEPT))
    for name in before.stores:
        if name not in after.stores:
            changes.append(Change("store", name, Fate.REMOVED, "", "its state would be lost"))
    return changes


def _moved(before: Inventory, after: Inventory, store: str) -> str:
    """A store whose tasks read entirely different topics may have its keys in other partitions."""
    old, new = before.part_of(store), after.part_of(store)
    assert old is not None and new is not None
    was, now = before.parts[old].topics, after.parts[new].topics
    if set(was) & set(now):
        return ""
    return f"its tasks read {', '.join(now)}, before {', '.join(was)}: equal keys may lie in other partitions now"


def _internal_topics(before: Inventory, after: Inventory, unread: Mapping[str, int]) -> list[Change]:
    changes = []
    for name, topic in after.topics.items():
        old = before.topics.get(name)
        if old is None:
            changes.append(Change("internal topic", name, Fate.ADDED))
            continue
        reason, count = differences(old.shape, topic.shape), unread.get(name, 0)
        if reason:
            asks = f"{count} records of the form before in it are unread ({reason})" if count else ""
            changes.append(Change("internal topic", name, Fate.CHANGED, reason, asks, can_be_kept=True))
        else:
            changes.append(Change("internal topic", name, Fate.KEPT))
    for name in before.topics:
        if name not in after.topics:
            count = unread.get(name, 0)
            asks = f"{count} records in it are unread and would be lost" if count else ""
            changes.append(
                Change("internal topic", name, Fate.REMOVED, asks or "nothing in it is unread", asks)
            )
    return changes


def _source_topics(before: Inventory, after: Inventory) -> list[Change]:
    olds = [topic for topic in before.source_topics if topic not in before.topics]
    news = [topic for topic in after.source_topics if topic not in after.topics]
    changes = [
        Change("source topic", topic, Fate.KEPT)
        if topic in olds
        else Change("source topic", topic, Fate.ADDED, "is read from where its source begins")
        for topic in news
    ]
    return changes + [
        Change("source topic", topic, Fate.REMOVED, "is no longer read; its position is forgotten")
        for topic in olds
        if topic not in news
    ]


def _inherits(before: Inventory, after: Inventory) -> tuple[tuple[int, ...], ...]:
    """Determined by the stores. A sub-topology without stores follows the old one that read its topics, because of its
    stream times."""
    found = []
    for part in after.parts:
        olds = {before.part_of(store) for store in part.stores} - {None}
        if not olds and part.keeps_state:
            olds = {number for number, old in enumerate(before.parts) if set(old.topics) & set(part.topics)}
        found.append(tuple(sorted(number for number in olds if number is not None)))
    return tuple(found)
