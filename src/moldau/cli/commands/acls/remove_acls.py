"""`moldau acls remove`."""

from collections.abc import Sequence
from typing import Any

import click

from moldau.cli.client.acl_queries import remove_rules
from moldau.cli.client.connection import Cluster
from moldau.cli.commands.acls.list_acls import rules_about
from moldau.cli.commands.acls.rule_options import (
    Principal,
    chosen,
    operation_option,
    resource_options,
    rule_text,
)
from moldau.cli.commands.acls.wanted_rules import operations_of
from moldau.cli.confirmation import confirm
from moldau.cli.options import on_cluster
from moldau.cli.render.output import counted
from moldau.security.access.model import Operation, Permission, Resource, Rule


@click.command("remove")
@click.argument("principals", metavar="[PRINCIPAL]...", type=Principal(), nargs=-1)
@resource_options
@operation_option
@click.option("--producer", is_flag=True, help="The rules that `add --producer` adds.")
@click.option("--consumer", is_flag=True, help="The rules that `add --consumer` adds.")
@click.option(
    "--deny/--allow", "denies", default=None, help="Only rules that deny, or only those that allow."
)
@click.option(
    "--host", "hosts", multiple=True, metavar="ADDRESS", help="Only rules of this host. Repeatable."
)
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@on_cluster
def remove(
    cluster: Cluster,
    principals: Sequence[str],
    operations: Sequence[Operation],
    producer: bool,
    consumer: bool,
    denies: bool | None,
    hosts: Sequence[str],
    yes: bool,
    **resources: Any,
) -> None:
    """Remove the rules of PRINCIPAL, the rules about resources, or those that are both.

    \b
    moldau acls remove alice --topic orders --producer
    moldau acls remove --topic payroll --deny
    """
    named = chosen(resources)
    if not principals and not named.resources:
        raise click.UsageError("Which rules? Pass a principal or a resource.")
    wanted: set[tuple[Resource, Operation]] | None = None
    if producer or consumer:
        wanted = set(operations_of(named, operations, producer=producer, consumer=consumer, idempotent=False))
    permission = None if denies is None else Permission.DENY if denies else Permission.ALLOW

    def is_meant(rule: Rule) -> bool:
        if permission not in (None, rule.permission) or (hosts and rule.host not in hosts):
            return False
        if wanted is not None:
            return (rule.resource, rule.operation) in wanted
        return not operations or rule.operation in operations

    found = [rule for rule in rules_about(cluster, named, principals) if is_meant(rule)]
    if not found:
        click.echo("No such rules.", err=True)
        return
    for rule in found:
        click.echo(f"{rule_text(rule)}.", err=not yes)
    if not yes:
        confirm(f"Remove {counted(len(found), 'rule')}?", "nothing was removed.")
    remove_rules(cluster, found)
    click.echo(f"{counted(len(found), 'rule')} removed.")
