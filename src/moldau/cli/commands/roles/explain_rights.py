"""What roles have to do with a decision: at HTTP services they decide, at brokers a rule may stand for one."""

import shlex
from collections.abc import Sequence
from typing import Final

import click

from moldau.cli.client.connection import Cluster
from moldau.cli.commands.roles.role_options import binding_text, bindings_as_data, scope_text
from moldau.cli.commands.roles.role_topic import read_roles
from moldau.cli.failures import Failure
from moldau.cli.options import given_cluster_options
from moldau.cli.render.output import print_json
from moldau.core.error_codes import ErrorCode
from moldau.security.access.model import Rule
from moldau.security.roles.model import CLUSTER_ROLES, Action, Binding, ServiceKind, least_role
from moldau.security.roles.rights import Explanation, Rights
from moldau.security.roles.rules_of_roles import rules_of

_UNREADABLE: Final = frozenset({ErrorCode.TOPIC_AUTHORIZATION_FAILED, ErrorCode.CLUSTER_AUTHORIZATION_FAILED})


def explain_service_access(
    cluster: Cluster, principal: str, operation: str, kind: ServiceKind, name: str, output: str
) -> None:
    """Prints which role decides at a service, and what to grant if none does."""
    try:
        action = Action(operation.lower())
    except ValueError as error:
        words = ", ".join(Action)
        raise click.UsageError(
            f"There is no operation {operation} on {scope_text(kind, name)}: use one of {words}."
        ) from error
    rights = read_roles(cluster)
    found = rights.explain(principal, action, kind, name)
    remedy = None if found else grant_command(principal, action, kind, name) + given_cluster_options()
    if output == "json":
        print_json(_as_data(rights, principal, found, remedy))
        return
    may = "may" if found else "may not"
    click.echo(f"{principal} {may} {action} {scope_text(kind, name)}.")
    if found:
        click.echo(f"Decided by a role: {_reason(principal, found)}.")
    else:
        click.echo(f"No role allows it. To allow it: {remedy}")
    click.echo(
        "Services with authorization.enabled=true decide so, except about their super.users; others allow everything."
    )


def grant_command(principal: str, action: Action, kind: ServiceKind, name: str) -> str:
    """The command that grants the least role that allows it."""
    return (
        f"moldau roles grant {shlex.quote(principal)} {least_role(action, kind)} --{kind} {shlex.quote(name)}"
    )


def roles_behind(cluster: Cluster, rule: Rule) -> list[Binding]:
    """The grants that a rule stands for. Empty if there are none, or the caller may not see them."""
    try:
        rights = read_roles(cluster)
    except Failure as failure:
        if failure.code not in _UNREADABLE:
            raise
        return []
    groups = rights.groups()
    return [binding for binding in rights.bindings() if rule in rules_of(binding, groups)]


def _reason(principal: str, found: Explanation) -> str:
    text = binding_text(found.binding)
    if found.binding.role in CLUSTER_ROLES:
        text = f"{text}, and so at every service"
    return text if found.group is None else f"{text}, and {principal} is in group '{found.group}'"


def _as_data(
    rights: Rights, principal: str, found: Explanation | None, remedy: str | None
) -> dict[str, object]:
    binding: Sequence[Binding] = [found.binding] if found else []
    return {
        "allowed": found is not None,
        "reason": "Role" if found else "NoRole",
        "binding": next(iter(bindings_as_data(binding)), None),
        "groups": rights.groups_of(principal),
        "remedies": [remedy] if remedy else [],
    }
