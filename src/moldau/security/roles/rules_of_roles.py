"""What a role means for brokers: the access rules that stand for it."""

from collections.abc import Collection, Iterable, Mapping

from moldau.security.access.model import WILDCARD, Operation, Pattern, Permission, ResourceKind, Rule
from moldau.security.roles.model import CLUSTER_OPERATIONS, CLUSTER_ROLES, OPERATIONS, Binding, ServiceKind

Members = Mapping[str, Collection[str]]
"""The principals in each group."""


def rules_of(binding: Binding, members: Members) -> list[Rule]:
    """Sorted. Brokers know no groups: the rules are those of the members. Empty for resources of services."""
    group = binding.group
    principals = (binding.principal,) if group is None else members.get(group, ())
    return sorted(
        Rule(kind, name, pattern, principal, WILDCARD, operation, Permission.ALLOW)
        for kind, name, pattern, operation in _allowed(binding)
        for principal in principals
    )


def rules_of_all(bindings: Iterable[Binding], members: Members) -> frozenset[Rule]:
    """The rules of all of them together."""
    return frozenset(rule for binding in bindings for rule in rules_of(binding, members))


def _allowed(binding: Binding) -> Iterable[tuple[ResourceKind, str, Pattern, Operation]]:
    if binding.role in CLUSTER_ROLES:
        for (kind, name), operations in CLUSTER_OPERATIONS[binding.role].items():
            for operation in operations:
                yield kind, name, Pattern.LITERAL, operation
    elif not isinstance(binding.kind, ServiceKind):
        for operation in OPERATIONS[binding.role][binding.kind]:
            yield binding.kind, binding.name, binding.pattern, operation
