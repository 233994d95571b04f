"""CreateAcls, DescribeAcls and DeleteAcls: what they accept, refuse and tell."""

import logging
from typing import Any

import pytest
from admin_rig import BROKER_ID, Rig, make_rig

from moldau.broker.configs.config_store import ResourceType
from moldau.broker.handlers.acls import create_acls, delete_acls, describe_acls
from moldau.broker.handlers.configs import incremental_alter_configs
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ConfigError, PeerError
from moldau.protocol.messages.configs.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from moldau.protocol.messages.security.create_acls import AclCreation, CreateAclsRequest
from moldau.protocol.messages.security.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from moldau.protocol.messages.security.describe_acls import DescribeAclsRequest
from moldau.security.access.kafka_authorizer import LOGGER
from moldau.security.access.model import Operation, Pattern, Permission, ResourceKind

GUARDED = "authorizer.class.name=acl\nsuper.users=User:ANONYMOUS;User:admin\n"


def creation(**changes: Any) -> AclCreation:
    values: dict[str, Any] = {
        "resource_type": ResourceKind.TOPIC,
        "resource_name": "orders",
        "resource_pattern_type": Pattern.LITERAL,
        "principal": "User:alice",
        "host": "*",
        "operation": Operation.READ,
        "permission_type": Permission.ALLOW,
    }
    return AclCreation(**{**values, **changes})


def matching(**changes: Any) -> dict[str, Any]:
    values: dict[str, Any] = {
        "resource_type_filter": ResourceKind.ANY,
        "resource_name_filter": None,
        "pattern_type_filter": Pattern.ANY,
        "principal_filter": None,
        "host_filter": None,
        "operation": Operation.ANY,
        "permission_type": Permission.ANY,
    }
    return {**values, **changes}


def create(rig: Rig, *creations: AclCreation) -> list[tuple[int, str | None]]:
    answer = rig.ask(create_acls.API, CreateAclsRequest(creations=creations))
    return [(each.error_code, each.error_message) for each in answer.results]


def described(rig: Rig, **changes: Any) -> list[tuple[str, int, str, int]]:
    answer = rig.ask(describe_acls.API, DescribeAclsRequest(**matching(**changes)))
    assert answer.error_code == ErrorCode.NONE
    return [
        (resource.resource_name, resource.pattern_type, each.principal, each.operation)
        for resource in answer.resources
        for each in resource.acls
    ]


def test_rules_are_created_described_and_deleted() -> None:
    rig = make_rig(GUARDED)
    team = creation(resource_name="team-", resource_pattern_type=Pattern.PREFIXED, principal="User:bob")
    assert create(rig, creation(), team, creation()) == [(0, "")] * 3
    assert described(rig) == [
        ("orders", Pattern.LITERAL, "User:alice", Operation.READ),
        ("team-", Pattern.PREFIXED, "User:bob", Operation.READ),
    ]
    assert [
        name for name, *_ in described(rig, resource_name_filter="team-a", pattern_type_filter=Pattern.MATCH)
    ] == ["team-"]
    gone = rig.ask(
        delete_acls.API,
        DeleteAclsRequest(filters=[DeleteAclsFilter(**matching(principal_filter="User:bob"))]),
    )
    (result,) = gone.filter_results
    assert [each.resource_name for each in result.matching_acls] == ["team-"]
    assert [name for name, *_ in described(rig)] == ["orders"]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"resource_type": 99}, "Invalid resourceType UNKNOWN"),
        ({"resource_pattern_type": 99}, "Invalid patternType UNKNOWN"),
        ({"operation": 99}, "Invalid operation UNKNOWN"),
        ({"permission_type": 99}, "Invalid permissionType UNKNOWN"),
        ({"resource_name": ""}, "Invalid empty resource name"),
        (
            {"resource_type": ResourceKind.CLUSTER},
            "The only valid name for the CLUSTER resource is kafka-cluster",
        ),
        ({"principal": "alice"}, "no colon is present"),
    ],
)
def test_what_makes_no_rule_is_refused_and_the_others_are_created(changes: dict[str, Any], says: str) -> None:
    rig = make_rig(GUARDED)
    (code, message), other = create(rig, creation(**changes), creation())
    assert code == ErrorCode.INVALID_REQUEST and message is not None and says in message
    assert other == (0, "")
    assert len(described(rig)) == 1


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"resource_type": ResourceKind.ANY}, "Invalid resourceType ANY"),
        ({"resource_pattern_type": Pattern.MATCH}, "Invalid patternType MATCH"),
        ({"operation": Operation.ANY}, "Invalid operation ANY"),
        ({"permission_type": Permission.ANY}, "Invalid permissionType ANY"),
    ],
)
def test_a_word_of_filters_fails_the_whole_request(changes: dict[str, Any], says: str) -> None:
    rig = make_rig(GUARDED)
    assert create(rig, creation(**changes), creation()) == [(ErrorCode.UNKNOWN_SERVER_ERROR, says)] * 2
    assert described(rig) == []


def test_only_new_rules_count_against_the_limit_of_a_request() -> None:
    rig = make_rig(GUARDED)
    creations = [
        creation(principal=f"User:{number}", resource_name=f"{number % 50}")
        for number in range(create_acls.NEW_RULES_MAX + 1)
    ]
    (outcome,) = set(create(rig, *creations))
    assert outcome == (
        ErrorCode.POLICY_VIOLATION,
        "Unable to perform excessively large batch operation.",
    )
    assert create(rig, creations[0]) == [(0, "")]
    assert set(create(rig, *creations)) == {(0, "")}
    assert len(described(rig)) == len(creations)


def test_the_code_of_unknown_itself_breaks_the_wire() -> None:
    rig = make_rig(GUARDED)
    with pytest.raises(PeerError, match="UNKNOWN"):
        create(rig, creation(operation=0))
    with pytest.raises(PeerError, match="UNKNOWN"):
        described(rig, permission_type=0)


def test_a_filter_with_an_unknown_code_deletes_nothing() -> None:
    rig = make_rig(GUARDED)
    create(rig, creation())
    filters = [
        DeleteAclsFilter(**matching(operation=99)),
        DeleteAclsFilter(**matching(resource_type_filter=99)),
    ]
    results = rig.ask(delete_acls.API, DeleteAclsRequest(filters=filters)).filter_results
    assert [(each.error_code, each.error_message) for each in results] == [
        (ErrorCode.INVALID_REQUEST, "Unknown entryFilter."),
        (ErrorCode.INVALID_REQUEST, "Unknown patternFilter."),
    ]
    assert len(described(rig)) == 1


def test_without_an_authorizer_there_are_no_rules() -> None:
    rig = make_rig()
    disabled = (ErrorCode.SECURITY_DISABLED, "No Authorizer is configured.")
    assert create(rig, creation()) == [disabled]
    answer = rig.ask(describe_acls.API, DescribeAclsRequest(**matching()))
    assert (answer.error_code, answer.error_message) == disabled
    (result,) = rig.ask(
        delete_acls.API, DeleteAclsRequest(filters=[DeleteAclsFilter(**matching())])
    ).filter_results
    assert (result.error_code, result.error_message) == disabled


def test_who_may_not_alter_the_cluster_changes_no_rules() -> None:
    rig = make_rig(GUARDED)
    rule = {
        "resource_type": ResourceKind.CLUSTER,
        "resource_name": "kafka-cluster",
        "principal": "User:carol",
    }
    create(rig, creation(**rule, operation=Operation.DESCRIBE))
    rig.client.principal = "User:carol"
    assert create(rig, creation())[0][0] == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    filters = [DeleteAclsFilter(**matching())]
    (result,) = rig.ask(delete_acls.API, DeleteAclsRequest(filters=filters)).filter_results
    assert result.error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    assert len(described(rig)) == 1, "she may see them"
    rig.client.principal = "User:dave"
    answer = rig.ask(describe_acls.API, DescribeAclsRequest(**matching()))
    assert answer.error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED and not answer.resources
    rig.client.principal = "User:admin"
    create(rig, creation(**rule, operation=Operation.ALTER))
    rig.client.principal = "User:carol"
    assert create(rig, creation())[0] == (0, ""), "a rule is in force at once"


@pytest.mark.parametrize(
    ("properties", "says"),
    [
        ("authorizer.class.name=com.example.Mine", "there is no such authorizer here"),
        ("authorizer.class.name=acl\nsuper.users=admin", "write it as User:admin"),
    ],
)
def test_wrong_settings_are_refused_at_the_start(properties: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        make_rig(properties)


@pytest.mark.parametrize(
    "name",
    [
        "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "kafka.security.authorizer.AclAuthorizer",
        "acl",
    ],
)
def test_kafkas_class_names_are_known(name: str) -> None:
    rig = make_rig(f"authorizer.class.name={name}\nsuper.users=User:ANONYMOUS")
    assert create(rig, creation()) == [(0, "")]


def test_the_level_of_the_log_of_the_authorizer_can_be_changed() -> None:
    rig = make_rig(GUARDED)
    changed = AlterConfigsResource(
        resource_type=ResourceType.BROKER_LOGGER,
        resource_name=str(BROKER_ID),
        configs=[AlterableConfig(name=LOGGER, config_operation=0, value="WARN")],
    )
    try:
        answer = rig.ask(incremental_alter_configs.API, IncrementalAlterConfigsRequest(resources=[changed]))
        assert answer.responses[0].error_code == ErrorCode.NONE
        assert logging.getLogger(LOGGER).level == logging.WARNING
    finally:
        logging.getLogger(LOGGER).setLevel(logging.NOTSET)
