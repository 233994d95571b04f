"""`moldau roles grant` and `moldau roles revoke`."""

import shlex
from collections.abc import Iterable, Sequence
from typing import Any, Final

import click

from moldau.cli.client.connection import Cluster
from moldau.cli.commands.acls.key_principals import refuse_keys
from moldau.cli.commands.acls.rule_options import NewPrincipal, Principal, rule_text
from moldau.cli.commands.roles.list_roles import bindings_about
from moldau.cli.commands.roles.role_changes import Changed, add, end
from moldau.cli.commands.roles.role_options import (
    RoleName,
    binding_text,
    bindings_of,
    chosen_scopes,
    complete_role,
    scope_of,
    scope_options,
)
from moldau.cli.commands.roles.role_topic import read_roles
from moldau.cli.confirmation import confirm
from moldau.cli.options import given_cluster_options, on_cluster
from moldau.cli.render.output import counted
from moldau.security.access.model import Operation, Pattern, ResourceKind, Rule, RuleFilter
from moldau.security.roles.model import CLUSTER_ROLES, ROLES_TOPIC, Binding, Role
from moldau.security.roles.rules_of_roles import rules_of

OPEN_TEXT: Final = (
    "The brokers have no authorizer and took no access rules: everybody may do everything there. "
    "After setting authorizer.class.name, run `moldau roles sync`."
)
_FORGES: Final = (Operation.WRITE, Operation.ALL, Operation.DELETE)


@click.command("grant")
@click.argument(
    "principals", metavar="PRINCIPAL...", type=NewPrincipal(takes_groups=True), nargs=-1, required=True
)
@click.argument("role", type=RoleName(), shell_complete=complete_role)
@scope_options
@click.option("--dry-run", is_flag=True, help="Print the access rules that stand for it; change nothing.")
@on_cluster
def grant(cluster: Cluster, principals: Sequence[str], role: Role, dry_run: bool, **resources: Any) -> None:
    """Grant ROLE to PRINCIPAL on resources.

    \b
    PRINCIPAL is User:NAME, or only NAME, or Group:NAME for all members of a group.

    \b
    moldau roles grant alice developer-write --topic orders --subject orders-value
    moldau roles grant Group:shop developer-read --topic shop- --prefixed
    moldau roles grant carol resource-owner --connector '*'
    moldau roles grant dave operator
    """
    bindings = bindings_of(principals, role, chosen_scopes(resources))
    refuse_keys(cluster, principals)
    if dry_run:
        _warn_of_forging(role, _print_plan(cluster, bindings))
        return
    done = add(cluster, bindings)
    rights = read_roles(cluster)
    for binding in bindings:
        click.echo(f"{binding_text(binding)}.")
    for group in sorted({binding.group for binding in bindings if binding.group} - set(rights.groups())):
        click.echo(
            f"Group '{group}' has no members yet: moldau roles group add {shlex.quote(group)} --member USER"
            f"{given_cluster_options()}",
            err=True,
        )
    if not done.is_guarded:
        click.echo(OPEN_TEXT, err=True)
    _warn_of_forging(role, done.rules)


@click.command("revoke")
@click.argument("principals", metavar="PRINCIPAL...", type=Principal(), nargs=-1, required=True)
@click.option("--role", type=RoleName(), shell_complete=complete_role, help="Only this role.")
@scope_options
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@on_cluster
def revoke(
    cluster: Cluster, principals: Sequence[str], role: Role | None, yes: bool, **resources: Any
) -> None:
    """Revoke the roles of PRINCIPAL: all, or only one role, or only those on the resources named.

    \b
    moldau roles revoke alice --role developer-write --topic orders
    moldau roles revoke Group:shop
    """
    found = bindings_about(read_roles(cluster), chosen_scopes(resources), principals, role)
    if not found:
        click.echo("No such roles.", err=True)
        return
    for binding in found:
        click.echo(f"{binding_text(binding)}.", err=not yes)
    if not yes:
        confirm(f"Revoke {counted(len(found), 'role')}?", "nothing was revoked.")
    report_end(end(cluster, found), f"{counted(len(found), 'role')} revoked")


def report_end(done: Changed, what: str) -> None:
    """Prints what has ended, and the rules that went with it."""
    if not done.is_guarded:
        click.echo(f"{what}.")
        click.echo(OPEN_TEXT, err=True)
        return
    click.echo(f"{what}, {counted(len(done.rules), 'access rule')} removed.")


def _print_plan(cluster: Cluster, bindings: Iterable[Binding]) -> list[Rule]:
    """Returns the rules that it prints."""
    groups = read_roles(cluster).groups()
    planned = []
    for binding in bindings:
        click.echo(f"Would grant {binding.role} on {scope_of(binding)} to {binding.principal}.")
        rules = rules_of(binding, groups)
        for rule in rules:
            click.echo(f"  {rule_text(rule)}.")
        planned += rules
    return planned


def _warn_of_forging(role: Role, rules: Iterable[Rule]) -> None:
    if role not in CLUSTER_ROLES and _allows_forging(rules):
        click.echo(
            f"This includes the topic {ROLES_TOPIC}: a user who writes to it grants roles at HTTP services.",
            err=True,
        )


def _allows_forging(rules: Iterable[Rule]) -> bool:
    """Whether the rules allow to write to the topic of roles, alone or among others."""
    applying = RuleFilter(ResourceKind.TOPIC, ROLES_TOPIC, Pattern.MATCH)
    return any(rule.operation in _FORGES and applying.takes_resource(rule.resource) for rule in rules)
