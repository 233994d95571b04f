"""Which rules the options of `add` and `remove` mean."""

from collections.abc import Sequence
from typing import Final

import click

from moldau.cli.commands.acls.rule_options import Chosen, resource_text
from moldau.security.access.authorizer import OPERATIONS_OF
from moldau.security.access.model import (
    CLUSTER_NAME,
    Operation,
    Pattern,
    Permission,
    Resource,
    ResourceKind,
    Rule,
)

PRODUCER: Final = {
    ResourceKind.TOPIC: (Operation.WRITE, Operation.DESCRIBE, Operation.CREATE),
    ResourceKind.TRANSACTIONAL_ID: (Operation.WRITE, Operation.DESCRIBE),
}
"""What a producer needs; the same that `kafka-acls --producer` gives it."""
CONSUMER: Final = {
    ResourceKind.TOPIC: (Operation.READ, Operation.DESCRIBE),
    ResourceKind.GROUP: (Operation.READ,),
}


def operations_of(
    named: Chosen, operations: Sequence[Operation], *, producer: bool, consumer: bool, idempotent: bool
) -> list[tuple[Resource, Operation]]:
    """The operations on each resource, without doubles. UsageError if the options do not go together."""
    wanted: dict[tuple[Resource, Operation], None] = {}
    _check_needs(named, producer=producer, consumer=consumer)
    for resource in named.patterns():
        given = list(operations)
        if producer:
            given += PRODUCER.get(resource.kind, ())
        if consumer:
            given += CONSUMER.get(resource.kind, ())
        if not given:
            raise click.UsageError(
                f"Which operation on {resource_text(*_shown(resource))}? Pass --operation, or --producer or --consumer."
            )
        for operation in given:
            _check_sense(resource, operation)
            wanted[resource, operation] = None
    if idempotent:
        cluster = Resource(ResourceKind.CLUSTER, Pattern.LITERAL, CLUSTER_NAME)
        wanted[cluster, Operation.IDEMPOTENT_WRITE] = None
    if not wanted:
        raise click.UsageError(
            "Which resource? Pass --topic, --group, --cluster, --transactional-id or another."
        )
    return list(wanted)


def _shown(resource: Resource) -> tuple[ResourceKind, str, Pattern]:
    return resource.kind, resource.name, resource.pattern


def _check_needs(named: Chosen, *, producer: bool, consumer: bool) -> None:
    if producer and not named.names(ResourceKind.TOPIC):
        raise click.UsageError("A producer writes to a topic: pass --topic.")
    if consumer and not (named.names(ResourceKind.TOPIC) and named.names(ResourceKind.GROUP)):
        raise click.UsageError("A consumer reads a topic as a member of a group: pass --topic and --group.")


def _check_sense(resource: Resource, operation: Operation) -> None:
    """A rule about an operation that does not exist for a kind would be accepted and never asked."""
    possible = OPERATIONS_OF[resource.kind]
    if operation is not Operation.ALL and operation not in possible:
        words = ", ".join(each.name.lower().replace("_", "-") for each in sorted(possible))
        raise click.UsageError(
            f"There is no operation {operation.name.lower().replace('_', '-')} on "
            f"{resource_text(*_shown(resource))}: use one of {words}, all."
        )


def rules_of(
    principals: Sequence[str],
    hosts: Sequence[str],
    operations: Sequence[tuple[Resource, Operation]],
    permission: Permission,
) -> list[Rule]:
    return [
        Rule(resource.kind, resource.name, resource.pattern, principal, host, operation, permission)
        for principal in principals
        for host in hosts
        for resource, operation in operations
    ]
