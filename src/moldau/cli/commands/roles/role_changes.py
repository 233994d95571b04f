"""What granting, revoking and membership do: records in `_moldau_roles`, and the access rules that stand for them.

Two administrators may do this at once. Records do not collide, since each grant is a record of its own. Rules may be
shared by several grants: a command that has removed rules reads the records again and puts back what is needed meanwhile.
"""

from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

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

Subjects = Collection[Binding] | Collection[Member]


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
    needed = rules_about(subjects, changed(before, subjects, are_present=True))
    prepare_topic(cluster)
    write_roles(cluster, new, are_present=True)
    try:
        is_guarded = _add_rules(cluster, needed)
    except Failure:
        write_roles(cluster, new, are_present=False)
        raise
    return Changed(tuple(sorted(needed)), is_guarded)


def end(cluster: Cluster, subjects: Subjects) -> Changed:
    """Revokes roles, or removes members. The rules go first: what is still on record can be revoked again."""
    before = read_roles(cluster)
    after = changed(before, subjects, are_present=False)
    gone = rules_about(subjects, before) - all_rules(after)
    is_guarded = _remove_rules(cluster, gone)
    write_roles(cluster, subjects, are_present=False)
    granted_meanwhile = gone & all_rules(read_roles(cluster))
    _add_rules(cluster, granted_meanwhile)
    return Changed(tuple(sorted(gone - granted_meanwhile)), is_guarded)


def missing_rules(cluster: Cluster) -> list[Rule]:
    """The rules of roles that the brokers do not have. Sorted."""
    needed = all_rules(read_roles(cluster))
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
