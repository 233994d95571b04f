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

OPERATION_BITS: Final = 16
_EVERY_OPERATION: Final = (1 << OPERATION_BITS) - 1
IMPLIED: Final[Mapping[Operation, Operation]] = {
    Operation.READ: Operation.DESCRIBE,
    Operation.WRITE: Operation.DESCRIBE,
    Operation.DELETE: Operation.DESCRIBE,
    Operation.ALTER: Operation.DESCRIBE,
    Operation.ALTER_CONFIGS: Operation.DESCRIBE_CONFIGS,
}
"""Who may read may describe too. Who must not read may still be allowed to describe."""


HAS_HOSTS: Final = 1 << 2 * OPERATION_BITS
"""Among the bits of a name: a rule of it is for one host only."""


class Clause(NamedTuple):
    """A rule in the form in which it is asked."""

    operations: int
    """A bit for each operation that it decides."""
    host: str | None
    """None: every host."""
    is_denial: bool
    rule: Rule


class Clauses(NamedTuple):
    """The rules of one principal about one name or prefix."""

    bits: int
    """A bit for each operation that is allowed, above them one for each that is denied, above them HAS_HOSTS."""
    clauses: tuple[Clause, ...]


class Rules:
    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        self._entries: dict[Resource, frozenset[Entry]] = {}
        self._clauses: dict[ResourceKind, dict[str, ByName[Clauses]]] = {}
        """By kind, then by principal."""
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
        self._covered = rules._covered
        self._count = rules._count
        self.epoch += 1

    def _index(self, resource: Resource, before: frozenset[Entry], after: frozenset[Entry]) -> None:
        clauses: dict[str, list[Clause]] = {entry.principal: [] for entry in before}
        for entry in sorted(after) if len(after) > 1 else after:
            clauses.setdefault(entry.principal, []).append(_clause(resource, entry))
        by_principal = self._clauses.setdefault(resource.kind, {})
        for principal, kept in clauses.items():
            by_name = by_principal.get(principal)
            if by_name is None:
                by_name = by_principal[principal] = ByName()
            if kept:
                by_name.put(resource.pattern, resource.name, Clauses(_bits(kept), tuple(kept)))
                continue
            by_name.remove(resource.pattern, resource.name)
            if not by_name:
                del by_principal[principal]

    def bits(self, principal: str, kind: ResourceKind, name: str) -> int:
        """What rules of all hosts say about the principal and the name: `Clauses.bits` of all that apply. With
        HAS_HOSTS among them they do not tell everything; ask `deciding`."""
        by_principal = self._clauses.get(kind)
        if by_principal is None:
            return 0
        own, anyones = by_principal.get(principal), by_principal.get(ANYONE)
        bits = 0 if anyones is None else _bits_about(anyones, name)
        if own is None:
            return bits
        # `_bits_about` once more: a call costs as much as what it does.
        literal = own.literal
        if (found := literal.get(name)) is not None:
            bits |= found[0]
        for length in own.lengths:
            if (found := own.prefixed.get(name[:length])) is not None:
                bits |= found[0]
        if (found := literal.get(WILDCARD)) is not None:
            bits |= found[0]
        return bits

    def deciding(self, caller: Caller, operation: Operation, kind: ResourceKind, name: str) -> Rule | None:
        """A rule that denies wins over all that allow. Among equals the most specific one is named."""
        allowing: Rule | None = None
        host = host_text(caller.host)
        for by_name in self._of(caller, kind):
            for _, clauses in by_name.matching(name):
                for operations, only_host, is_denial, rule in clauses:
                    if not operations >> operation & 1 or only_host not in (None, host):
                        continue
                    if is_denial:
                        return rule
                    if allowing is None:
                        allowing = rule
        return allowing

    def _of(self, caller: Caller, kind: ResourceKind) -> Iterator[ByName[Clauses]]:
        by_principal = self._clauses.get(kind, {})
        for principal in dict.fromkeys((caller.principal, ANYONE)):
            if (by_name := by_principal.get(principal)) is not None:
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
                for name, (_, clauses) in names.items():
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


def _bits_about(by_name: ByName[Clauses], name: str) -> int:
    """Of all that `ByName.matching` finds."""
    bits = 0
    for found, _ in by_name.matching(name):
        bits |= found
    return bits


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
