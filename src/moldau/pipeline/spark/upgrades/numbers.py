"""Generated names (`KSTREAM-AGGREGATE-STATE-STORE-0000000003`) shift when an operator is added before them.

Finds the nodes that kept their shape and origin, in the order of their numbers, and gives them their old numbers. So
stores, topics and the times of operators keep their names in the checkpoint. Pure.
"""

import dataclasses
import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, Final, TypeVar

from moldau.pipeline.plan.expressions import Expression
from moldau.pipeline.plan.location import Location
from moldau.pipeline.plan.nodes import Source
from moldau.pipeline.plan.topology import Topology
from moldau.pipeline.spark.upgrades.inventory import Inventory, ProcessorFacts, StoreFacts, TopicShape

NUMBER: Final = re.compile(r"(?<=[A-Z]-)\d{10}(?!\d)")

Kept = StoreFacts | TopicShape | ProcessorFacts
K = TypeVar("K", bound=Kept)


@dataclasses.dataclass
class Numbers:
    """New number to old number. `unclear` are generated names that could match several old ones."""

    old_of: dict[str, str]
    unclear: dict[str, str]
    """Name to why."""

    def take(self, new_name: str, old_name: str) -> None:
        new, old = number_in(new_name), number_in(old_name)
        if new and old and new not in self.old_of and old not in self.old_of.values():
            self.old_of[new] = old


def number_in(name: str) -> str | None:
    found = NUMBER.search(name)
    return found[0] if found else None


def old_numbers(before: Inventory, after: Inventory) -> Numbers:
    numbers = Numbers({}, {})
    for new, old in _pairs(
        [one for one in before.stores.values() if one.name not in _named(after)],
        [one for one in after.stores.values() if not one.named],
        numbers,
    ):
        numbers.take(new.name, old.name)
        _take_nodes(numbers, new, old)
    for name in _named(after) & before.stores.keys():
        _take_nodes(numbers, after.stores[name], before.stores[name])
    for topic, old_topic in _pairs(before.topics.values(), after.topics.values(), numbers):
        numbers.take(topic.name, old_topic.name)
    for one, old_one in _pairs(before.processors, after.processors, numbers):
        numbers.take(one.name, old_one.name)
    return numbers


def renumbered(topology: Topology, numbers: Mapping[str, str]) -> Topology:
    """The same topology with the old numbers. A new node whose number was used before gets an unused one."""
    used = sorted({number for node in topology.nodes for number in NUMBER.findall(repr(_names(node)))})
    taken = {*used, *numbers.values()}
    full = dict(numbers)
    following = max((int(number) for number in taken), default=0)
    for number in used:
        if number not in full and number in numbers.values():
            following += 1
            full[number] = f"{following:010d}"
    if all(new == old for new, old in full.items()):
        return topology
    users = {*topology.source_topics, topology.application_id}
    # A generated name that the user has used as a name, and the topics named after it.
    written = [name for name, store in topology.stores.items() if store.queryable and number_in(name)]

    def rename(text: str) -> str:
        if text in users or any(name in text for name in written):
            return text
        return NUMBER.sub(lambda found: full.get(found[0], found[0]), text)

    renamed = _renamed(topology, rename)
    assert isinstance(renamed, Topology)
    return renamed


def _named(inventory: Inventory) -> set[str]:
    return {one.name for one in inventory.stores.values() if one.named or number_in(one.name) is None}


def _take_nodes(numbers: Numbers, new: StoreFacts, old: StoreFacts) -> None:
    if len(new.nodes) == len(old.nodes):
        for node, old_node in zip(new.nodes, old.nodes, strict=True):
            numbers.take(node, old_node)


def _pairs(before: Iterable[K], after: Iterable[K], numbers: Numbers) -> list[tuple[K, K]]:
    """Pairs of new and old that are the same. Matches first by everything that is known, then the rest by kind and
    origin, and by shape, if only one fits."""
    olds = sorted((one for one in before if number_in(one.name)), key=_by_number)
    news = sorted((one for one in after if number_in(one.name)), key=_by_number)
    found: list[tuple[K, K]] = []
    old_groups = _grouped(olds, _exactly)
    for like, group in _grouped(news, _exactly).items():
        others = old_groups.get(like, [])
        if len(group) == len(others):
            found += zip(group, others, strict=True)
        elif others:
            why = f"{len(others)} like it without a name before, {len(group)} now: it is not clear which is which"
            numbers.unclear |= {one.name: why for one in [*group, *others]}
    for likeness in (_by_kind_and_origin, _by_shape):
        settled = {one.name for one, _ in found} | numbers.unclear.keys()
        settled_olds = {one.name for _, one in found} | numbers.unclear.keys()
        old_groups = _grouped((one for one in olds if one.name not in settled_olds), likeness)
        new_groups = _grouped((one for one in news if one.name not in settled), likeness)
        for like in new_groups.keys() & old_groups.keys():
            if len(new_groups[like]) == len(old_groups[like]) == 1:
                found.append((new_groups[like][0], old_groups[like][0]))
    return found


def _by_number(one: Kept) -> str:
    return number_in(one.name) or ""


def _exactly(one: Kept) -> Hashable:
    shape = tuple(sorted(getattr(one, "shape", {}).items()))
    return NUMBER.sub("#", one.name), one.origin, shape


def _by_kind_and_origin(one: Kept) -> Hashable:
    return NUMBER.sub("#", one.name), one.origin


def _by_shape(one: Kept) -> Hashable:
    return NUMBER.sub("#", one.name), tuple(sorted(getattr(one, "shape", {}).items()))


def _grouped(ones: Iterable[K], likeness: Callable[[K], Hashable]) -> dict[Hashable, list[K]]:
    groups: dict[Hashable, list[K]] = {}
    for one in ones:
        groups.setdefault(likeness(one), []).append(one)
    return groups


def _names(node: Any) -> list[str]:
    found = [node.name, *node.parents, *node.store_names(), *(one.name for one in node.stores())]
    return found + (list(node.topics) if isinstance(node, Source) else [])


def _renamed(value: Any, rename: Callable[[str], str]) -> Any:
    """A copy with other names in it. Functions, expressions and serdes are not changed."""
    if type(value) is str:
        return rename(value)
    if type(value) is tuple:
        return tuple(_renamed(one, rename) for one in value)
    if type(value) is dict:
        return {_renamed(key, rename): _renamed(one, rename) for key, one in value.items()}
    if isinstance(value, type | Location | Expression) or not dataclasses.is_dataclass(value):
        return value
    fields = {one.name: getattr(value, one.name) for one in dataclasses.fields(value) if one.init}
    changed = {name: _renamed(field, rename) for name, field in fields.items()}
    if all(changed[name] is fields[name] or changed[name] == fields[name] for name in fields):
        return value
    return dataclasses.replace(value, **changed)  # type: ignore[type-var]
