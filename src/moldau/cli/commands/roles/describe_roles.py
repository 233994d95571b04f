"""`moldau roles describe`: what each role allows."""

import click

from moldau.cli.commands.acls.rule_options import OPTION_OF, word_of
from moldau.cli.commands.roles.role_options import RoleName, complete_role
from moldau.cli.render.output import columns, output_option, print_data
from moldau.security.access.model import WILDCARD, Operation, ResourceKind
from moldau.security.roles.model import (
    ACTIONS,
    CLUSTER_OPERATIONS,
    CLUSTER_ROLES,
    OPERATIONS,
    Action,
    Role,
    ServiceKind,
)

Row = tuple[str, str, str]


@click.command("describe")
@click.argument("role", type=RoleName(), shell_complete=complete_role, required=False)
@output_option
def describe(role: Role | None, output: str) -> None:
    """Show what ROLE allows on each kind of resource; without ROLE, what each role allows.

    Describing is part of reading, writing, deleting and altering.
    """
    rows = [row for each in ([role] if role else Role) for row in rows_of(each)]
    if output != "table":
        names = ("role", "resource", "allows")
        print_data(output, [dict(zip(names, row, strict=True)) for row in rows])
        return
    click.echo(columns(("ROLE", "RESOURCE", "ALLOWS"), rows))


def rows_of(role: Role) -> list[Row]:
    """Role, resource, and what is allowed there."""
    rows: list[Row] = []
    if role in CLUSTER_ROLES:
        for (kind, name), operations in CLUSTER_OPERATIONS[role].items():
            rows.append((role.value, _resource(kind, name), _words(operations)))
    else:
        for kind, operations in OPERATIONS[role].items():
            rows.append((role.value, OPTION_OF[kind], _words(operations)))
    every = "every " if role in CLUSTER_ROLES else ""
    for service in ServiceKind:
        actions = [action.value for action in Action if action in ACTIONS[role].get(service, ())]
        rows.append(
            (role.value, every + service.value, "all" if len(actions) == len(Action) else ", ".join(actions))
        )
    return rows


def _resource(kind: ResourceKind, name: str) -> str:
    if kind is ResourceKind.CLUSTER:
        return "cluster"
    return f"every {OPTION_OF[kind]}" if name == WILDCARD else f"{OPTION_OF[kind]} {name}"


def _words(operations: tuple[Operation, ...]) -> str:
    return ", ".join(word_of(each) for each in operations)
