"""`moldau roles list`."""

from collections.abc import Collection, Sequence
from typing import Any

import click

from moldau.cli.client.connection import Cluster
from moldau.cli.commands.acls.rule_options import Principal
from moldau.cli.commands.roles.role_options import (
    HEADINGS,
    RoleName,
    Scope,
    binding_cells,
    bindings_as_data,
    chosen_scopes,
    complete_role,
    scope_options,
)
from moldau.cli.commands.roles.role_topic import read_roles
from moldau.cli.options import on_cluster
from moldau.cli.render.output import columns, output_option, print_data
from moldau.security.roles.model import GROUP_PREFIX, Binding, Role
from moldau.security.roles.rights import Rights


@click.command("list")
@click.argument("principals", metavar="[PRINCIPAL]...", type=Principal(), nargs=-1)
@click.option("--role", type=RoleName(), shell_complete=complete_role, help="Only this role.")
@scope_options
@output_option
@on_cluster
def list_roles(
    cluster: Cluster, principals: Sequence[str], role: Role | None, output: str, **resources: Any
) -> None:
    """List the roles that are granted: all, or those of PRINCIPAL, or those on resources.

    The roles of a user include those of the groups it is in.

    \b
    moldau roles list alice
    moldau roles list --subject orders-value
    """
    rights = read_roles(cluster, reports_odd=True)
    holders = [
        each
        for principal in principals
        for each in (principal, *(GROUP_PREFIX + group for group in rights.groups_of(principal)))
    ]
    scopes = chosen_scopes(resources)
    found = bindings_about(rights, scopes, holders, role)
    if output != "table":
        print_data(output, bindings_as_data(found))
    elif found:
        click.echo(columns(HEADINGS, [binding_cells(binding) for binding in found]))
    else:
        click.echo("No such roles." if principals or scopes or role else "No roles are granted.", err=True)


def bindings_about(
    rights: Rights, scopes: Collection[Scope], principals: Collection[str], role: Role | None
) -> list[Binding]:
    """The grants to any of the principals and on any of the resources; none named means all. Sorted."""
    return [
        binding
        for binding in rights.bindings()
        if (not principals or binding.principal in principals)
        and (not scopes or (binding.kind, binding.name, binding.pattern) in scopes)
        and role in (None, binding.role)
    ]
