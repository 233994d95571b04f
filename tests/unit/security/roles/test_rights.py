"""Rights at services, and the records they come from."""

import json
import random

import pytest

from moldau.security.access.model import CLUSTER_NAME, Pattern, ResourceKind
from moldau.security.roles.model import Action, Binding, Role, ServiceKind, make_binding
from moldau.security.roles.records import PRESENT, Member, RecordError, key_of, make_member, parse_record
from moldau.security.roles.rights import Rights

SUBJECT, CONNECTOR, SQL = ServiceKind.SUBJECT, ServiceKind.CONNECTOR, ServiceKind.SQL
READ, WRITE, DELETE, MANAGE, DESCRIBE = (
    Action.READ, Action.WRITE, Action.DELETE, Action.MANAGE, Action.DESCRIBE,
)  # fmt: skip


def rights(*subjects: Binding | Member) -> Rights:
    state = Rights()
    for each in subjects:
        state.apply(key_of(each), PRESENT)
    return state


def reads_orders(principal: str = "User:alice") -> Binding:
    return make_binding(principal, Role.DEVELOPER_READ, SUBJECT, "orders-value")


def test_what_is_not_granted_is_not_allowed() -> None:
    state = rights(reads_orders())
    assert state.may("User:alice", READ, SUBJECT, "orders-value")
    assert state.may("User:alice", DESCRIBE, SUBJECT, "orders-value")
    assert not state.may("User:alice", WRITE, SUBJECT, "orders-value")
    assert not state.may("User:alice", READ, SUBJECT, "orders-value-2")
    assert not state.may("User:alice", READ, CONNECTOR, "orders-value")
    assert not state.may("User:bob", READ, SUBJECT, "orders-value")
    assert not Rights().may("User:alice", DESCRIBE, SUBJECT, "orders-value")


def test_prefixes_and_all_of_a_kind() -> None:
    state = rights(
        make_binding("User:alice", Role.DEVELOPER_WRITE, SUBJECT, "team-", Pattern.PREFIXED),
        make_binding("User:bob", Role.DEVELOPER_MANAGE, SUBJECT, "*"),
    )
    assert state.may("User:alice", WRITE, SUBJECT, "team-a")
    assert not state.may("User:alice", WRITE, SUBJECT, "tea")
    assert not state.may("User:alice", WRITE, SUBJECT, "*")
    assert state.may("User:bob", MANAGE, SUBJECT, "*")
    assert state.may("User:bob", MANAGE, SUBJECT, "team-a")


def test_roles_on_the_cluster_reach_every_service() -> None:
    state = rights(
        make_binding("User:root", Role.CLUSTER_ADMIN, ResourceKind.CLUSTER, CLUSTER_NAME),
        make_binding("User:ops", Role.OPERATOR, ResourceKind.CLUSTER, CLUSTER_NAME),
        make_binding("User:topics", Role.RESOURCE_OWNER, ResourceKind.TOPIC, "*"),
    )
    assert all(state.may("User:root", action, kind, "any") for action in Action for kind in ServiceKind)
    assert state.may("User:ops", MANAGE, CONNECTOR, "*")
    assert not state.may("User:ops", WRITE, CONNECTOR, "pg")
    assert not state.may("User:ops", READ, SUBJECT, "orders-value")
    assert not any(state.may_some("User:topics", action, kind) for action in Action for kind in ServiceKind)


def test_whether_anything_is_allowed_at_all() -> None:
    state = rights(make_binding("Group:shop", Role.DEVELOPER_READ, SQL, "a", Pattern.PREFIXED))
    assert not state.may_some("User:alice", READ, SQL)
    state.apply(key_of(make_member("shop", "User:alice")), PRESENT)
    assert state.may_some("User:alice", READ, SQL)
    assert not state.may_some("User:alice", WRITE, SQL)


def test_members_have_the_roles_of_their_groups_as_long_as_they_are_members() -> None:
    alice = make_member("shop", "User:alice")
    state = rights(reads_orders("Group:shop"), alice, make_member("shop", "User:bob"))
    assert state.groups() == {"shop": {"User:alice", "User:bob"}}
    explained = state.explain("User:alice", READ, SUBJECT, "orders-value")
    assert explained is not None and explained == (reads_orders("Group:shop"), "shop")
    assert state.groups_of("User:alice") == ["shop"]
    state.apply(key_of(alice), None)
    assert not state.may("User:alice", READ, SUBJECT, "orders-value")
    assert state.may("User:bob", READ, SUBJECT, "orders-value")
    assert state.groups_of("User:alice") == []


def test_a_role_for_everybody() -> None:
    assert rights(reads_orders("User:*")).may("User:ANONYMOUS", READ, SUBJECT, "orders-value")


def test_own_bindings_are_named_before_those_of_groups() -> None:
    state = rights(reads_orders("Group:shop"), make_member("shop", "User:alice"), reads_orders())
    explained = state.explain("User:alice", READ, SUBJECT, "orders-value")
    assert explained is not None and explained == (reads_orders(), None)


def test_a_grant_ends_with_an_empty_value_and_twice_is_once() -> None:
    state = rights(reads_orders(), reads_orders())
    assert state.bindings() == [reads_orders()]
    state.apply(key_of(reads_orders()), None)
    state.apply(key_of(reads_orders()), b"")
    assert state.bindings() == []
    assert not state.may("User:alice", READ, SUBJECT, "orders-value")


def test_grants_and_revocations_in_any_order_leave_what_the_last_record_of_each_says() -> None:
    """As after compaction. The index must agree with a search through all bindings."""
    dice = random.Random(7)
    names = ["a", "ab", "abc", "*"]
    roles = [Role.DEVELOPER_READ, Role.DEVELOPER_WRITE, Role.RESOURCE_OWNER]
    everything: list[Binding | Member] = [
        make_binding(principal, role, SUBJECT, name, pattern)
        for principal in ("User:alice", "Group:g", "Group:h")
        for role in roles
        for name in names
        for pattern in (Pattern.LITERAL, Pattern.PREFIXED)
        if (name, pattern) != ("*", Pattern.PREFIXED)
    ]
    everything += [make_member("g", "User:alice"), make_member("h", "User:alice")]
    last: dict[bytes, bytes | None] = {}
    state = Rights()
    for _ in range(600):
        key, value = key_of(dice.choice(everything)), dice.choice([PRESENT, None])
        last.pop(key, None)
        last[key] = value
        state.apply(key, value)
    compacted = Rights()
    for key, value in last.items():
        compacted.apply(key, value)
    assert state.bindings() == compacted.bindings()
    assert state.groups() == compacted.groups()
    for name in ("a", "ab", "abcd", "b", "*"):
        for action in Action:
            answer = state.explain("User:alice", action, SUBJECT, name)
            assert answer == compacted.explain("User:alice", action, SUBJECT, name)
            assert (answer is not None) == _by_search(state, action, name)


def _by_search(state: Rights, action: Action, name: str) -> bool:
    mine = {"User:alice", *(f"Group:{group}" for group in state.groups_of("User:alice"))}
    alone = [rights(each) for each in state.bindings() if each.principal in mine]
    return any(one.may(each, action, SUBJECT, name) for one in alone for each in mine)


def test_keys_say_everything_and_are_read_back() -> None:
    binding = make_binding(
        "User:Jörg", Role.RESOURCE_OWNER, ResourceKind.TRANSACTIONAL_ID, "tx", Pattern.PREFIXED
    )
    assert json.loads(key_of(binding)) == {
        "type": "binding",
        "principal": "User:Jörg",
        "role": "ResourceOwner",
        "resource_type": "TRANSACTIONAL_ID",
        "resource_name": "tx",
        "pattern_type": "PREFIXED",
    }
    for subject in (binding, reads_orders(), make_member("shop", "User:alice")):
        assert parse_record(key_of(subject), PRESENT) == (subject, True)
        assert parse_record(key_of(subject), None) == (subject, False)


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        (None, PRESENT, "not a JSON object"),
        (b"\xff", PRESENT, "is not JSON"),
        (b"[" * 100_000, PRESENT, "is not JSON"),
        (b"[1]", PRESENT, "not a JSON object"),
        (b"{}", PRESENT, "cannot be used"),
        (b'{"type":"rule"}', PRESENT, "type is 'rule'"),
        (b'{"type":"member","group":"g","principal":"Group:h"}', PRESENT, "groups contain users"),
        (b'{"type":"member","group":"g","principal":"User:*"}', PRESENT, "cannot be a member"),
        (b'{"type":"member","group":"","principal":"User:a"}', PRESENT, "name of a group"),
        (b'{"type":"member","group":7,"principal":"User:a"}', PRESENT, "group is not a text"),
        (
            key_of(reads_orders()).replace(b"DeveloperRead", b"Reader"),
            PRESENT,
            "'Reader' is not a valid Role",
        ),
        (key_of(reads_orders()).replace(b"SUBJECT", b"TABLE"), PRESENT, "roles are not granted on 'TABLE'"),
        (key_of(reads_orders()).replace(b"LITERAL", b"MATCH"), PRESENT, "not on the pattern MATCH"),
        (key_of(reads_orders()).replace(b"LITERAL", b"Literal"), PRESENT, "'Literal'"),
        (key_of(reads_orders()), b'{"version":2}', "this program reads version 1"),
        (key_of(reads_orders()), b"no", "is not JSON"),
    ],
)
def test_a_record_that_cannot_be_read_grants_nothing(key: bytes | None, value: bytes, reason: str) -> None:
    state = Rights()
    with pytest.raises(RecordError, match=reason):
        state.apply(key, value)
    assert state.bindings() == [] and state.groups() == {} and state.epoch == 0
