"""The rules of a cluster in memory, indexed by whom they are for, so that the one that decides is found at once.

A mutable value: its owner changes it, everybody may ask. Kafka's StandardAuthorizer is the reference for what decides.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from moldau.security.access.hosts import host_text
from moldau.security.access.model import (
    ANYONE,
    WILDCARD,
    Caller,
    Entry,
    Operation,
    Pattern,
    Permission,
    Resource,
    ResourceKind,
    Rule,
    RuleFilter,
)
from moldau.security.access.names import ByName
from moldau.security.access.rule_bits import HAS_HOSTS, OPERATION_BITS, RuleBits

_EVERY_OPERATION: Final = (1 << OPERATION_BITS) - 1
IMPLIED: Final[Mapping[Operation, Operation]] = {
    Operation.READ: Operation.DESCRIBE,
    Operation.WRITE: Operation.DESCRIBE,
    Operation.DELETE: Operation.DESCRIBE,
    Operation.ALTER: Operation.DESCRIBE,
    Operation.ALTER_CONFIGS: Operation.DESCRIBE_CONFIGS,
}
"""Who may read may describe too. Who must not read may still be allowed to describe."""


class Clause(NamedTuple):
    """A rule in the form in which it is asked."""

    operations: int
    """A bit for each operation that it decides."""
    host: str | None
    """None: every host."""
    is_denial: bool
    rule: Rule


class Rules:
    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        self._entries: dict[Resource, frozenset[Entry]] = {}
        self._clauses: dict[tuple[str, ResourceKind], ByName[tuple[Clause, ...]]] = {}
        self._bits: dict[ResourceKind, RuleBits] = {}
        self._covered: dict[ResourceKind, ByName[bool]] = {}
        self._count = 0
        self.epoch = 0
        """Grows with every change."""
        self.put_all(entries_by_resource(rules))

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Rule]:
        return (rule_of(resource, entry) for resource, entries in self._entries.items() for entry in entries)

    def resources(self) -> Iterable[Resource]:
        return self._entries.keys()

    def of_resource(self, resource: Resource) -> frozenset[Entry]:
        return self._entries.get(resource, frozenset())

    def entries(self) -> Mapping[Resource, frozenset[Entry]]:
        """A copy, for a search on another thread."""
        return dict(self._entries)

    def find(self, wanted: RuleFilter) -> list[Rule]:
        """Sorted."""
        return find_rules(self._entries, wanted)

    def put_all(self, entries: Mapping[Resource, Iterable[Entry]]) -> None:
        """Replaces the rules of each of these resources."""
        for resource, now in entries.items():
            before = self._entries.get(resource, frozenset())
            after = frozenset(now)
            if after == before:
                continue
            self._count += len(after) - len(before)
            covered = self._covered.setdefault(resource.kind, ByName())
            if after:
                self._entries[resource] = after
                covered.put(resource.pattern, resource.name, True)
            else:
                del self._entries[resource]
                covered.remove(resource.pattern, resource.name)
            self._index(resource, before, after)
        self.epoch += 1

    def replace(self, rules: "Rules") -> None:
        """Takes over the content of another index, which must not be used any more."""
        self._entries = rules._entries
        self._clauses = rules._clauses
        self._bits = rules._bits
        self._covered = rules._covered
        self._count = rules._count
        self.epoch += 1

    def _index(self, resource: Resource, before: frozenset[Entry], after: frozenset[Entry]) -> None:
        clauses: dict[str, list[Clause]] = {entry.principal: [] for entry in before}
        for entry in sorted(after) if len(after) > 1 else after:
            clauses.setdefault(entry.principal, []).append(_clause(resource, entry))
        kind, pattern, name = resource
        bits = self._bits.setdefault(kind, RuleBits())
        for principal, kept in clauses.items():
            bits.put(principal, pattern, name, _bits(kept))
            key = (principal, kind)
            by_name = self._clauses.get(key)
            if by_name is None:
                by_name = self._clauses[key] = ByName()
            if kept:
                by_name.put(pattern, name, tuple(kept))
                continue
            by_name.remove(pattern, name)
            if not by_name:
                del self._clauses[key]

    def bits(self, principal: str, kind: ResourceKind, name: str) -> int:
        """What the rules say about the principal and the name: see `rule_bits`."""
        bits = self._bits.get(kind)
        return 0 if bits is None else bits.of(principal, name)

    def deciding(self, caller: Caller, operation: Operation, kind: ResourceKind, name: str) -> Rule | None:
        """A rule that denies wins over all that allow. Among equals the most specific one is named."""
        allowing: Rule | None = None
        host = host_text(caller.host)
        for by_name in self._of(caller, kind):
            for clauses in by_name.matching(name):
                for operations, only_host, is_denial, rule in clauses:
                    if not operations >> operation & 1 or only_host not in (None, host):
                        continue
                    if is_denial:
                        return rule
                    if allowing is None:
                        allowing = rule
        return allowing

    def _of(self, caller: Caller, kind: ResourceKind) -> Iterator[ByName[tuple[Clause, ...]]]:
        for principal in dict.fromkeys((caller.principal, ANYONE)):
            if (by_name := self._clauses.get((principal, kind))) is not None:
                yield by_name

    def cover(self, kind: ResourceKind, name: str) -> bool:
        """Whether the resource has any rule at all, for whomever."""
        covered = self._covered.get(kind)
        return covered is not None and bool(covered.matching(name))

    def clauses_of(
        self, caller: Caller, operation: Operation, kind: ResourceKind
    ) -> Iterator[tuple[Resource, Clause]]:
        """The rules of one kind that name this operation or all of them, whatever the resource's name."""
        host = host_text(caller.host)
        for by_name in self._of(caller, kind):
            for pattern, names in ((Pattern.LITERAL, by_name.literal), (Pattern.PREFIXED, by_name.prefixed)):
                for name, clauses in names.items():
                    for clause in clauses:
                        named = clause.rule.operation in (operation, Operation.ALL)
                        if named and clause.host in (None, host):
                            yield Resource(kind, pattern, name), clause


def find_rules(entries: Mapping[Resource, Iterable[Entry]], wanted: RuleFilter) -> list[Rule]:
    """Sorted."""
    return sorted(
        rule_of(resource, entry)
        for resource, those in entries.items()
        if wanted.takes_resource(resource)
        for entry in those
        if wanted.takes_entry(entry)
    )


def entries_by_resource(rules: Iterable[Rule]) -> dict[Resource, set[Entry]]:
    entries: dict[Resource, set[Entry]] = {}
    for rule in rules:
        entries.setdefault(rule.resource, set()).add(rule.entry)
    return entries


def rule_of(resource: Resource, entry: Entry) -> Rule:
    kind, pattern, name = resource
    return Rule(kind, name, pattern, *entry)


def _clause(resource: Resource, entry: Entry) -> Clause:
    is_denial = entry.permission is Permission.DENY
    operations = _EVERY_OPERATION if entry.operation is Operation.ALL else 1 << entry.operation
    if not is_denial and entry.operation in IMPLIED:
        operations |= 1 << IMPLIED[entry.operation]
    host = None if entry.host == WILDCARD else host_text(entry.host)
    return Clause(operations, host, is_denial, rule_of(resource, entry))


def _bits(clauses: Iterable[Clause]) -> int:
    bits = 0
    for operations, host, is_denial, _ in clauses:
        if host is not None:
            bits |= HAS_HOSTS
        elif is_denial:
            bits |= operations << OPERATION_BITS
        else:
            bits |= operations
    return bits
