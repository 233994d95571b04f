"""Access rules (ACLs) of a cluster, requested with Kafka's protocol.

The client library does not know all kinds of resources and operations.
"""

from collections.abc import Iterable, Sequence

from confluent_kafka import KafkaError

from moldau.cli.client.connection import Cluster
from moldau.cli.failures import Failure, refused
from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.security.create_acls import (
    AclCreation,
    CreateAclsRequest,
    CreateAclsResponse,
)
from moldau.protocol.messages.security.delete_acls import (
    DeleteAclsFilter,
    DeleteAclsRequest,
    DeleteAclsResponse,
)
from moldau.protocol.messages.security.describe_acls import DescribeAclsRequest, DescribeAclsResponse
from moldau.security.access.model import Operation, Pattern, Permission, ResourceKind, Rule, RuleFilter

_NO_AUTHORIZER_HINT = (
    "Set authorizer.class.name and super.users on the brokers; nothing is forbidden until then."
)


def find_rules(cluster: Cluster, wanted: RuleFilter) -> Sequence[Rule]:
    """Sorted."""
    doing = "list access rules"
    request = DescribeAclsRequest(
        resource_type_filter=wanted.kind,
        resource_name_filter=wanted.name,
        pattern_type_filter=wanted.pattern,
        principal_filter=wanted.principal,
        host_filter=wanted.host,
        operation=wanted.operation,
        permission_type=wanted.permission,
    )
    answer = cluster.wire.ask(cluster.wire.any_broker(), request, DescribeAclsResponse, doing)
    _check(answer.error_code, answer.error_message, doing)
    return sorted(
        Rule(
            ResourceKind(resource.resource_type),
            resource.resource_name,
            Pattern(resource.pattern_type),
            each.principal,
            each.host,
            Operation(each.operation),
            Permission(each.permission_type),
        )
        for resource in answer.resources
        for each in resource.acls
    )


def add_rules(cluster: Cluster, rules: Iterable[Rule]) -> None:
    doing = "add access rules"
    creations = [
        AclCreation(
            resource_type=rule.kind,
            resource_name=rule.name,
            resource_pattern_type=rule.pattern,
            principal=rule.principal,
            host=rule.host,
            operation=rule.operation,
            permission_type=rule.permission,
        )
        for rule in rules
    ]
    request = CreateAclsRequest(creations=creations)
    answer = cluster.wire.ask(cluster.wire.any_broker(), request, CreateAclsResponse, doing)
    for result in answer.results:
        _check(result.error_code, result.error_message, doing)


def remove_rules(cluster: Cluster, rules: Iterable[Rule]) -> None:
    """Exactly these."""
    doing = "remove access rules"
    filters = [
        DeleteAclsFilter(
            resource_type_filter=rule.kind,
            resource_name_filter=rule.name,
            pattern_type_filter=rule.pattern,
            principal_filter=rule.principal,
            host_filter=rule.host,
            operation=rule.operation,
            permission_type=rule.permission,
        )
        for rule in rules
    ]
    request = DeleteAclsRequest(filters=filters)
    answer = cluster.wire.ask(cluster.wire.any_broker(), request, DeleteAclsResponse, doing)
    for result in answer.filter_results:
        _check(result.error_code, result.error_message, doing)


def _check(code: int, message: str | None, doing: str) -> None:
    if code == ErrorCode.SECURITY_DISABLED:
        raise Failure(f"cannot {doing}: the brokers have no authorizer.", _NO_AUTHORIZER_HINT, code)
    if code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED:
        raise refused(KafkaError(code), doing)
    if code:
        raise refused(KafkaError(code, message) if message else KafkaError(code), doing)
