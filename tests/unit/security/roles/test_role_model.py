"""Roles: their words, what can be granted, and the rules that stand for a role at brokers."""

from collections.abc import Callable

import pytest

from moldau.security.access.authorizer import OPERATIONS_OF
from moldau.security.access.kafka_authorizer import KafkaAuthorizer
from moldau.security.access.model import CLUSTER_NAME, Caller, Operation, Pattern, ResourceKind
from moldau.security.access.rules import Rules
from moldau.security.roles.model import (
    ACTIONS,
    BROKER_KINDS,
    CLUSTER_OPERATIONS,
    KINDS,
    OPERATIONS,
    Action,
    Binding,
    BindingKind,
    Role,
    ServiceKind,
    kind_word,
    least_role,
    make_binding,
    parse_kind,
    parse_role,
    reaches,
)
from moldau.security.roles.rules_of_roles import rules_of, rules_of_all

TOPIC, GROUP, CLUSTER = ResourceKind.TOPIC, ResourceKind.GROUP, ResourceKind.CLUSTER


def allowed(*bindings: Binding, principal: str = "User:alice") -> Callable[..., set[str]]:
    """The operations that the bindings allow, by kind and name."""
    authorizer = KafkaAuthorizer(Rules(rules_of_all(bindings, {})))

    def ask(kind: ResourceKind, name: str = CLUSTER_NAME) -> set[str]:
        caller = Caller(principal, "10.0.0.1")
        return {
            each.name.lower()
            for each in OPERATIONS_OF[kind]
            if authorizer.decide(caller, each, kind, name).is_allowed
        }

    return ask


@pytest.mark.parametrize("text", ["DeveloperRead", "developer-read", "developer_read", "DEVELOPERREAD"])
def test_a_role_is_written_in_any_of_its_forms(text: str) -> None:
    assert parse_role(text) is Role.DEVELOPER_READ


def test_an_unknown_role_is_rejected_with_the_roles_there_are() -> None:
    with pytest.raises(
        ValueError, match=r"'reader' is not a role: use one of ClusterAdmin, .*DeveloperManage"
    ):
        parse_role("reader")


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_is_read_as_it_is_written(kind: BindingKind) -> None:
    assert parse_kind(kind_word(kind)) is kind
    assert parse_kind(kind_word(kind).upper().replace("-", "_")) is kind


def test_each_role_is_complete() -> None:
    assert {*OPERATIONS, *CLUSTER_OPERATIONS} == set(Role) == set(ACTIONS)
    assert all(set(actions) == set(ServiceKind) for actions in ACTIONS.values())


@pytest.mark.parametrize("kind", ServiceKind)
def test_the_least_role_for_an_action(kind: ServiceKind) -> None:
    assert least_role(Action.DESCRIBE, kind) is least_role(Action.READ, kind) is Role.DEVELOPER_READ
    assert least_role(Action.WRITE, kind) is Role.DEVELOPER_WRITE
    assert least_role(Action.DELETE, kind) is Role.DEVELOPER_MANAGE
    assert least_role(Action.MANAGE, kind) is Role.DEVELOPER_MANAGE


def test_the_developer_roles_on_a_topic() -> None:
    def on_topic(role: Role) -> set[str]:
        return allowed(make_binding("User:alice", role, TOPIC, "orders"))(TOPIC, "orders")

    assert on_topic(Role.DEVELOPER_READ) == {"read", "describe"}
    assert on_topic(Role.DEVELOPER_WRITE) == {"write", "describe"}
    assert on_topic(Role.DEVELOPER_MANAGE) == {
        "create", "delete", "alter", "describe", "alter_configs", "describe_configs",
    }  # fmt: skip
    assert on_topic(Role.RESOURCE_OWNER) == {each.name.lower() for each in OPERATIONS_OF[TOPIC]}


def test_a_role_reaches_its_resource_and_no_other() -> None:
    literal = make_binding("User:alice", Role.RESOURCE_OWNER, TOPIC, "orders")
    assert not allowed(literal)(TOPIC, "orders-eu")
    assert not allowed(literal)(GROUP, "orders")
    assert not allowed(literal, principal="User:bob")(TOPIC, "orders")
    prefixed = make_binding("User:alice", Role.RESOURCE_OWNER, TOPIC, "orders", Pattern.PREFIXED)
    assert allowed(prefixed)(TOPIC, "orders-eu") and not allowed(prefixed)(TOPIC, "order")


def test_an_operator_keeps_everything_running_and_reads_nothing() -> None:
    ask = allowed(make_binding("User:alice", Role.OPERATOR, CLUSTER, CLUSTER_NAME))
    assert ask(TOPIC, "orders") == {"alter", "describe", "alter_configs", "describe_configs"}
    assert ask(GROUP, "shop") == {"describe", "describe_configs"}
    assert ask(CLUSTER) == {"describe", "describe_configs"}


def test_a_security_admin_changes_rules_and_roles_and_sees_no_data() -> None:
    ask = allowed(make_binding("User:alice", Role.SECURITY_ADMIN, CLUSTER, CLUSTER_NAME))
    assert ask(CLUSTER) >= {"alter", "describe"}
    assert ask(TOPIC, "_moldau_roles") >= {"read", "write"}
    assert ask(TOPIC, "_moldau_api_keys") == {"create", "read", "write", "describe"}
    assert ask(TOPIC, "_moldau_audit") == {"read", "describe"}
    assert not ask(TOPIC, "orders")


def test_a_cluster_admin_is_not_a_broker() -> None:
    ask = allowed(make_binding("User:alice", Role.CLUSTER_ADMIN, CLUSTER, CLUSTER_NAME))
    assert ask(TOPIC, "orders") == {each.name.lower() for each in OPERATIONS_OF[TOPIC]}
    assert "cluster_action" not in ask(CLUSTER)


def test_the_role_of_a_group_is_that_of_its_members() -> None:
    binding = make_binding("Group:shop", Role.DEVELOPER_READ, TOPIC, "orders")
    members = {"shop": {"User:alice", "User:carol"}}
    assert {rule.principal for rule in rules_of(binding, members)} == members["shop"]
    assert rules_of(binding, {}) == []


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("kind", ServiceKind)
def test_brokers_are_not_told_of_resources_of_services(role: Role, kind: ServiceKind) -> None:
    if reaches(role, kind):
        assert rules_of(make_binding("User:alice", role, kind, "orders"), {}) == []


def test_every_rule_of_a_role_is_about_an_operation_that_exists() -> None:
    for role in Role:
        for kind in filter(lambda each: reaches(role, each), BROKER_KINDS):
            name = CLUSTER_NAME if kind is CLUSTER else "a"
            rules = rules_of(make_binding("User:alice", role, kind, name), {})
            assert rules
            assert all(
                rule.operation is Operation.ALL or rule.operation in OPERATIONS_OF[rule.kind]
                for rule in rules
            )


@pytest.mark.parametrize(
    ("principal", "role", "kind", "name", "pattern", "reason"),
    [
        ("alice", Role.DEVELOPER_READ, TOPIC, "a", Pattern.LITERAL, "'alice' is not a principal"),
        ("User:", Role.DEVELOPER_READ, TOPIC, "a", Pattern.LITERAL, "'User:' is not a principal"),
        (
            "User:a",
            Role.DEVELOPER_WRITE,
            GROUP,
            "a",
            Pattern.LITERAL,
            "DeveloperWrite means nothing on a group",
        ),
        ("User:a", Role.OPERATOR, TOPIC, "a", Pattern.LITERAL, "Operator is granted on the cluster"),
        ("User:a", Role.DEVELOPER_READ, TOPIC, "", Pattern.LITERAL, "the name of the topic is empty"),
        ("User:a", Role.DEVELOPER_READ, TOPIC, "*", Pattern.PREFIXED, "is not a prefix"),
        (
            "User:a",
            Role.OPERATOR,
            CLUSTER,
            "mine",
            Pattern.LITERAL,
            "the cluster has the name 'kafka-cluster'",
        ),
        ("User:a", Role.DEVELOPER_READ, ResourceKind.USER, "a", Pattern.LITERAL, "means nothing on a user"),
        ("User:a", Role.DEVELOPER_READ, TOPIC, "a", Pattern.MATCH, "not on the pattern MATCH"),
    ],
)
def test_what_makes_no_sense_is_not_granted(
    principal: str, role: Role, kind: BindingKind, name: str, pattern: Pattern, reason: str
) -> None:
    with pytest.raises(ValueError, match=reason):
        make_binding(principal, role, kind, name, pattern)
