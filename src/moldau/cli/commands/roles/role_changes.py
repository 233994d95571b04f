"""What granting, revoking and membership do: records in `_moldau_roles`, and the access rules that stand for them.

Two administrators may do this at once. Records do not collide, since each grant is a record of its own. A rule may
be needed by several grants, and a grant to a group depends on its members: so every command reads the records again
after it has changed rules, until they have not changed meanwhile. The last one sees everything.
"""

from collections.abc import Callable, Collection, Iterable
from typing import Final, NamedTuple

from moldau.cli.client.acl_queries import add_rules, find_rules, remove_rules
from moldau.cli.client.connection import Cluster
from moldau.cli.commands.roles.role_topic import prepare_topic, read_roles, write_roles
from moldau.cli.failures import Failure
from moldau.core.error_codes import ErrorCode
from moldau.security.access.model import Rule, RuleFilter
from moldau.security.roles.model import Binding
from moldau.security.roles.records import Member
from moldau.security.roles.rights import Rights
from moldau.security.roles.rules_of_roles import rules_of_all

ROUNDS_MAX: Final = 20
Subjects = Collection[Binding | Member]


class Changed(NamedTuple):
    """What has been done."""

    rules: tuple[Rule, ...]
    """The rules that are there now, or that are gone."""
    is_guarded: bool = True
    """False: the brokers have no authorizer, and took no rules."""


def add(cluster: Cluster, subjects: Subjects) -> Changed:
    """Grants roles, or adds members. Leaves no record behind if the rules are refused."""
    before = read_roles(cluster)
    new = [each for each in subjects if not is_there(before, each)]
    prepare_topic(cluster)
    write_roles(cluster, new, are_present=True)
    try:
        return _settle(cluster, subjects, frozenset()).added
    except Failure:
        write_roles(cluster, new, are_present=False)
        raise


def end(cluster: Cluster, subjects: Subjects) -> Changed:
    """Revokes roles, or removes members. The rules go first: what is still on record can be revoked again."""
    before = read_roles(cluster)
    affected = rules_about(subjects, before)
    _remove_rules(cluster, affected - all_rules(changed(before, subjects, are_present=False)))
    write_roles(cluster, subjects, are_present=False)
    return _settle(cluster, subjects, affected).removed


class _Settled(NamedTuple):
    added: Changed
    removed: Changed


def _settle(cluster: Cluster, subjects: Subjects, affected: frozenset[Rule]) -> _Settled:
    """Adds the rules about the subjects that are needed, removes the others, until nobody has changed a record
    meanwhile."""
    rights = read_roles(cluster)
    for _ in range(ROUNDS_MAX):
        affected |= rules_about(subjects, rights)
        needed = affected & all_rules(rights)
        is_guarded = _add_rules(cluster, needed) and _remove_rules(cluster, affected - needed)
        now = read_roles(cluster)
        if now.bindings() == rights.bindings() and now.groups() == rights.groups():
            return _Settled(
                Changed(tuple(sorted(needed)), is_guarded),
                Changed(tuple(sorted(affected - needed)), is_guarded),
            )
        rights = now
    raise Failure(
        "others keep changing roles at the same time, so it is not known whether all access rules are right.",
        "Run the command again when they have finished.",
    )


def missing_rules(cluster: Cluster) -> list[Rule]:
    """The rules of roles that the brokers do not have. Sorted."""
    needed = all_rules(read_roles(cluster, reports_odd=True))
    return sorted(needed - set(find_rules(cluster, RuleFilter())))


def all_rules(rights: Rights) -> frozenset[Rule]:
    """The rules of all roles."""
    return rules_of_all(rights.bindings(), rights.groups())


def rules_about(subjects: Subjects, rights: Rights) -> frozenset[Rule]:
    """The rules of these grants; of members, those that they have by their groups."""
    members: dict[str, set[str]] = {}
    bindings = [each for each in subjects if isinstance(each, Binding)]
    for each in subjects:
        if isinstance(each, Member):
            members.setdefault(each.group, set()).add(each.principal)
    of_groups = [binding for binding in rights.bindings() if binding.group in members]
    return rules_of_all(bindings, rights.groups()) | rules_of_all(of_groups, members)


def changed(rights: Rights, subjects: Subjects, *, are_present: bool) -> Rights:
    """The grants and groups as they will be."""
    after = Rights()
    for binding in rights.bindings():
        after.put(binding, is_present=True)
    for group, principals in rights.groups().items():
        for principal in principals:
            after.put(Member(group, principal), is_present=True)
    for subject in subjects:
        after.put(subject, is_present=are_present)
    return after


def is_there(rights: Rights, subject: Binding | Member) -> bool:
    """Whether it is granted, or a member."""
    if isinstance(subject, Member):
        return subject.principal in rights.groups().get(subject.group, ())
    return subject in rights.bindings()


def _add_rules(cluster: Cluster, rules: Iterable[Rule]) -> bool:
    """False: the brokers have no authorizer."""
    return _unless_open(lambda wanted: add_rules(cluster, wanted), rules)


def _remove_rules(cluster: Cluster, rules: Iterable[Rule]) -> bool:
    return _unless_open(lambda wanted: remove_rules(cluster, wanted), rules)


def _unless_open(change: Callable[[list[Rule]], None], rules: Iterable[Rule]) -> bool:
    wanted = sorted(rules)
    try:
        if wanted:
            change(wanted)
    except Failure as failure:
        if failure.code != ErrorCode.SECURITY_DISABLED:
            raise
        return False
    return True
