"""`moldau acls add`."""

from collections.abc import Sequence
from typing import Any

import click

from moldau.cli.client.acl_queries import add_rules
from moldau.cli.client.connection import Cluster
from moldau.cli.commands.acls.key_principals import refuse_keys
from moldau.cli.commands.acls.rule_options import (
    NewPrincipal,
    chosen,
    operation_option,
    resource_options,
    rule_text,
)
from moldau.cli.commands.acls.wanted_rules import operations_of, rules_of
from moldau.cli.options import on_cluster
from moldau.security.access.model import WILDCARD, Operation, Permission


@click.command("add")
@click.argument(
    "principals", metavar="PRINCIPAL...", type=NewPrincipal(takes_groups=False), nargs=-1, required=True
)
@resource_options
@operation_option
@click.option("--producer", is_flag=True, help="All that a producer needs on --topic and --transactional-id.")
@click.option("--consumer", is_flag=True, help="All that a consumer needs on --topic and --group.")
@click.option("--idempotent", is_flag=True, help="With --producer: for brokers before Kafka 2.8.")
@click.option("--deny", is_flag=True, help="Forbid it, whatever other rules allow.")
@click.option(
    "--host",
    "hosts",
    multiple=True,
    metavar="ADDRESS",
    help="Only from this IP address. Repeatable. Default: any.",
)
@on_cluster
def add(
    cluster: Cluster,
    principals: Sequence[str],
    operations: Sequence[Operation],
    producer: bool,
    consumer: bool,
    idempotent: bool,
    deny: bool,
    hosts: Sequence[str],
    **resources: Any,
) -> None:
    """Allow PRINCIPAL an operation on resources, or deny it.

    \b
    PRINCIPAL is User:NAME, or only NAME. 'User:*' is everybody.

    \b
    moldau acls add alice --topic orders --producer
    moldau acls add bob --topic orders --group shop --consumer
    moldau acls add carol --topic team- --prefixed --operation all
    moldau acls add 'User:*' --topic payroll --operation all --deny
    """
    if idempotent and not producer:
        raise click.UsageError("--idempotent is about producers: pass --producer too.")
    wanted = operations_of(
        chosen(resources), operations, producer=producer, consumer=consumer, idempotent=idempotent
    )
    refuse_keys(cluster, principals)
    permission = Permission.DENY if deny else Permission.ALLOW
    rules = rules_of(principals, hosts or [WILDCARD], wanted, permission)
    add_rules(cluster, rules)
    for rule in rules:
        click.echo(f"{rule_text(rule)}.")
