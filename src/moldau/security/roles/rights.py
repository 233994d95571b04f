"""Who may do what at HTTP services, from the records of roles.

A mutable value: its owner feeds it the records of `_moldau_roles` in order, everybody may ask. What no binding allows
is not allowed. Super users are the service's business.
"""

from collections.abc import Mapping
from typing import NamedTuple

from moldau.security.access.model import ANYONE, WILDCARD, Pattern
from moldau.security.access.names import ByName
from moldau.security.roles.model import (
    ACTIONS,
    CLUSTER_ROLES,
    GROUP_PREFIX,
    Action,
    Binding,
    ServiceKind,
    kind_word,
)
from moldau.security.roles.records import Member, parse_record


class Explanation(NamedTuple):
    """Why something is allowed."""

    binding: Binding
    group: str | None
    """The group by which the caller has the role; None: it is granted to the caller, or to everybody."""


class Rights:
    def __init__(self) -> None:
        self._bindings: set[Binding] = set()
        self._members: dict[str, set[str]] = {}
        """Principals by the name of the group."""
        self._groups: dict[str, tuple[str, ...]] = {}
        """Principals of groups, `Group:payments`, by the principal of the member."""
        self._granted: dict[tuple[str, ServiceKind], ByName[tuple[Binding, ...]]] = {}
        self.epoch = 0
        """Grows with every change."""

    def apply(self, key: bytes | None, value: bytes | None) -> None:
        """Takes over one record. RecordError if it cannot be read; then nothing has changed."""
        change = parse_record(key, value)
        self.put(change.subject, is_present=change.is_present)

    def put(self, subject: Binding | Member, *, is_present: bool) -> None:
        """Grants a role or adds a member; or ends it, if it is there."""
        if isinstance(subject, Member):
            self._set_member(subject, is_present)
        elif is_present:
            self._grant(subject)
        else:
            self._revoke(subject)
        self.epoch += 1

    def may(self, principal: str, action: Action, kind: ServiceKind, name: str) -> bool:
        """`name` is `*` if the question is about all resources of the kind."""
        return self.explain(principal, action, kind, name) is not None

    def may_some(self, principal: str, action: Action, kind: ServiceKind) -> bool:
        """Whether it is allowed with at least one resource of the kind, whatever its name."""
        return any(
            action in ACTIONS[binding.role][kind]
            for holder in self._holders(principal)
            if (by_name := self._granted.get((holder, kind))) is not None
            for bindings in (*by_name.literal.values(), *by_name.prefixed.values())
            for binding in bindings
        )

    def explain(self, principal: str, action: Action, kind: ServiceKind, name: str) -> Explanation | None:
        """What allows it; None: nothing does. A binding of the caller is named before those of groups."""
        for holder in self._holders(principal):
            by_name = self._granted.get((holder, kind))
            if by_name is None:
                continue
            for bindings in by_name.matching(name):
                for binding in bindings:
                    if action in ACTIONS[binding.role][kind]:
                        return Explanation(binding, binding.group)
        return None

    def bindings(self) -> list[Binding]:
        """All of them, those for brokers too, sorted."""
        return sorted(self._bindings, key=sort_key)

    def groups(self) -> Mapping[str, frozenset[str]]:
        """The members of each group that has any."""
        return {group: frozenset(members) for group, members in sorted(self._members.items())}

    def groups_of(self, principal: str) -> list[str]:
        """The names of the groups that the principal is a member of, sorted."""
        return [group.removeprefix(GROUP_PREFIX) for group in self._groups.get(principal, ())]

    def _holders(self, principal: str) -> tuple[str, ...]:
        """The principals whose bindings count for this one."""
        return (principal, *self._groups.get(principal, ()), ANYONE)

    def _set_member(self, member: Member, is_present: bool) -> None:
        members = self._members.setdefault(member.group, set())
        if is_present:
            members.add(member.principal)
        else:
            members.discard(member.principal)
        if not members:
            del self._members[member.group]
        groups = {*self._groups.get(member.principal, ())} - {GROUP_PREFIX + member.group}
        if is_present:
            groups.add(GROUP_PREFIX + member.group)
        if groups:
            self._groups[member.principal] = tuple(sorted(groups))
        else:
            self._groups.pop(member.principal, None)

    def _grant(self, binding: Binding) -> None:
        if binding in self._bindings:
            return
        self._bindings.add(binding)
        for kind in _service_kinds(binding):
            by_name = self._granted.setdefault((binding.principal, kind), ByName())
            pattern, name = _place(binding)
            there = _at(by_name, pattern, name)
            both = tuple(sorted((*there, binding), key=sort_key)) if there else (binding,)
            by_name.put(pattern, name, both)

    def _revoke(self, binding: Binding) -> None:
        if binding not in self._bindings:
            return
        self._bindings.remove(binding)
        for kind in _service_kinds(binding):
            by_name = self._granted[binding.principal, kind]
            pattern, name = _place(binding)
            rest = tuple(each for each in _at(by_name, pattern, name) if each != binding)
            if rest:
                by_name.put(pattern, name, rest)
                continue
            by_name.remove(pattern, name)
            if not by_name:
                del self._granted[binding.principal, kind]


def sort_key(binding: Binding) -> tuple[str, str, str, str, int]:
    """By principal, role, kind and name, as lists show them."""
    return binding.principal, binding.role.value, kind_word(binding.kind), binding.name, binding.pattern


def _service_kinds(binding: Binding) -> tuple[ServiceKind, ...]:
    """The kinds of services that the binding is about."""
    if binding.role in CLUSTER_ROLES:
        return tuple(ServiceKind)
    return (binding.kind,) if isinstance(binding.kind, ServiceKind) else ()


def _place(binding: Binding) -> tuple[Pattern, str]:
    """Which names at services it is about: a role on the cluster is about all."""
    if binding.role in CLUSTER_ROLES:
        return Pattern.LITERAL, WILDCARD
    return binding.pattern, binding.name


def _at(by_name: ByName[tuple[Binding, ...]], pattern: Pattern, name: str) -> tuple[Binding, ...]:
    return (by_name.prefixed if pattern is Pattern.PREFIXED else by_name.literal).get(name, ())
