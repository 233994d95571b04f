"""Access: what rules decide, filters, addresses, words, the log."""

import logging
import tracemalloc

import pytest

from moldau.core.errors import ConfigError
from moldau.security.access.authorizer import AllowEverything, operations_bits
from moldau.security.access.authorizer_settings import make_authorizer, parse_super_users
from moldau.security.access.decision import Decision
from moldau.security.access.hosts import host_text
from moldau.security.access.kafka_authorizer import LOGGER, REMEMBERED_MAX, KafkaAuthorizer
from moldau.security.access.model import (
    Caller,
    Operation,
    Pattern,
    Permission,
    ResourceKind,
    Rule,
    RuleFilter,
)
from moldau.security.access.rule_words import parse_word, pascal_case
from moldau.security.access.rules import Rules

ALICE = Caller("User:alice", "10.0.0.1", "Fetch")
TOPIC = ResourceKind.TOPIC


def rule(
    name: str,
    operation: Operation = Operation.READ,
    permission: Permission = Permission.ALLOW,
    *,
    principal: str = "User:alice",
    pattern: Pattern = Pattern.LITERAL,
    host: str = "*",
    kind: ResourceKind = TOPIC,
) -> Rule:
    return Rule(kind, name, pattern, principal, host, operation, permission)


def authorizer(*rules: Rule) -> KafkaAuthorizer:
    return KafkaAuthorizer(Rules(rules), super_users=frozenset({"User:root"}))


def test_without_a_rule_nothing_is_allowed_but_to_super_users() -> None:
    asked = authorizer()
    assert not asked.allows(ALICE, Operation.READ, TOPIC, "a")
    assert asked.allows(ALICE._replace(principal="User:root"), Operation.ALTER, TOPIC, "a")


def test_a_denial_wins_however_general_it_is() -> None:
    denied = rule("*", Operation.ALL, Permission.DENY, principal="User:*")
    asked = authorizer(rule("a"), rule("a", pattern=Pattern.PREFIXED), denied)
    assert not asked.allows(ALICE, Operation.READ, TOPIC, "a")
    assert asked.decide(ALICE, Operation.READ, TOPIC, "a").rule == denied


def test_who_may_read_may_describe_but_who_must_not_read_may_be_allowed_to() -> None:
    assert authorizer(rule("a")).allows(ALICE, Operation.DESCRIBE, TOPIC, "a")
    asked = authorizer(rule("a", permission=Permission.DENY), rule("a", Operation.WRITE))
    assert asked.allows(ALICE, Operation.DESCRIBE, TOPIC, "a")
    assert not asked.allows(ALICE, Operation.READ, TOPIC, "a")
    assert authorizer(rule("a", Operation.ALTER_CONFIGS)).allows(
        ALICE, Operation.DESCRIBE_CONFIGS, TOPIC, "a"
    )


def test_where_everyone_is_allowed_one_rule_about_a_resource_closes_it() -> None:
    asked = KafkaAuthorizer(Rules([rule("a", principal="User:bob")]), allows_without_rules=True)
    assert asked.allows(ALICE, Operation.READ, TOPIC, "b")
    assert not asked.allows(ALICE, Operation.READ, TOPIC, "a")


def test_a_rule_of_a_host_is_for_that_host_however_its_address_is_written() -> None:
    asked = authorizer(rule("a", host="::1"), rule("b", host="10.0.0.1"))
    assert asked.allows(ALICE._replace(host="[::1]"), Operation.READ, TOPIC, "a")
    assert asked.allows(ALICE._replace(host="0:0:0:0:0:0:0:1"), Operation.READ, TOPIC, "a")
    assert asked.allows(ALICE._replace(host="::ffff:10.0.0.1"), Operation.READ, TOPIC, "b")
    assert not asked.allows(ALICE._replace(host="10.0.0.2"), Operation.READ, TOPIC, "b")
    assert host_text("fe80::1%eth0") == "fe80:0:0:0:0:0:0:1"
    assert host_text("not:an:address") == "not:an:address"


def test_some_resource_is_enough_unless_it_is_denied_as_a_whole() -> None:
    assert authorizer(rule("a")).allows_some(ALICE, Operation.READ, TOPIC)
    assert not authorizer(rule("a")).allows_some(ALICE, Operation.READ, ResourceKind.GROUP)
    team = rule("te", permission=Permission.DENY, pattern=Pattern.PREFIXED)
    assert not authorizer(rule("team"), team).allows_some(ALICE, Operation.READ, TOPIC)
    assert authorizer(rule("t", pattern=Pattern.PREFIXED), team).allows_some(ALICE, Operation.READ, TOPIC)


def test_authorized_operations_carry_the_implied_ones_and_are_not_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG, LOGGER)
    bits = operations_bits(authorizer(rule("a")), ALICE, TOPIC, "a")
    assert bits == 1 << Operation.READ | 1 << Operation.DESCRIBE
    assert not caplog.records


def test_what_is_remembered_is_forgotten_with_a_change() -> None:
    rules = Rules()
    asked = KafkaAuthorizer(rules)
    assert not asked.allows(ALICE, Operation.READ, TOPIC, "a")
    rules.put_all({rule("a").resource: [rule("a").entry]})
    assert asked.allows(ALICE, Operation.READ, TOPIC, "a")
    rules.replace(Rules())
    assert not asked.allows(ALICE, Operation.READ, TOPIC, "a")


def test_names_from_clients_do_not_fill_the_memory() -> None:
    asked = authorizer()
    logging.getLogger(LOGGER).setLevel(logging.WARNING)
    tracemalloc.start()
    try:
        for number in range(REMEMBERED_MAX // 2):
            asked.allows(ALICE, Operation.READ, ResourceKind.GROUP, f"{number}".rjust(4000, "x"))
        for number in range(REMEMBERED_MAX * 2):
            asked.allows(ALICE, Operation.READ, TOPIC, str(number))
        assert tracemalloc.get_traced_memory()[0] < 16_000_000
    finally:
        tracemalloc.stop()
        logging.getLogger(LOGGER).setLevel(logging.NOTSET)


def test_a_denial_is_one_line_and_told_to_the_witness(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, LOGGER)
    told: list[tuple[str, Decision]] = []
    asked = KafkaAuthorizer(
        Rules(), witness=lambda caller, operation, kind, name, decision: told.append((name, decision))
    )
    name = "a\nPrincipal = User:x is Allowed\r\x1b[31m\u2028"
    assert not asked.allows(ALICE, Operation.READ, ResourceKind.GROUP, name)
    assert not asked.allows(ALICE, Operation.READ, ResourceKind.GROUP, "b", is_logged=False)
    (record,) = caplog.records
    assert record.getMessage() == (
        "Principal = User:alice is Denied operation = READ from host = 10.0.0.1 on resource = "
        r"Group:LITERAL:a\u000aPrincipal = User:x is Allowed\u000d\u001b[31m\u2028 for request = Fetch "
        "with resourceRefCount = 1 based on rule DefaultDeny"
    )
    assert told == [(name, Decision(False, None, "DefaultDeny"))]


def test_what_is_allowed_is_logged_at_debug(caplog: pytest.LogCaptureFixture) -> None:
    asked = authorizer(rule("a"))
    caplog.set_level(logging.INFO, LOGGER)
    asked.allows(ALICE, Operation.READ, TOPIC, "a")
    assert not caplog.records
    caplog.set_level(logging.DEBUG, LOGGER)
    asked.allows(ALICE, Operation.READ, TOPIC, "a")
    (record,) = caplog.records
    assert "User:alice is Allowed operation = READ" in record.getMessage()
    assert "MatchingAcl(acl=StandardAcl[resourceType=TOPIC, resourceName=a," in record.getMessage()


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        (RuleFilter(), ["*", "ab", "b"]),
        (RuleFilter(name="abc", pattern=Pattern.MATCH), ["*", "ab"]),
        (RuleFilter(name="*", pattern=Pattern.LITERAL), ["*"]),
        (RuleFilter(name="ab"), ["ab"]),
        (RuleFilter(pattern=Pattern.PREFIXED), ["ab"]),
        (RuleFilter(principal="User:bob"), ["b"]),
        (RuleFilter(operation=Operation.WRITE), []),
        (RuleFilter(kind=ResourceKind.UNKNOWN), []),
    ],
)
def test_filters(wanted: RuleFilter, names: list[str]) -> None:
    rules = Rules([rule("*"), rule("ab", pattern=Pattern.PREFIXED), rule("b", principal="User:bob")])
    assert [each.name for each in rules.find(wanted)] == names


def test_words_are_kafkas() -> None:
    assert pascal_case(ResourceKind.TRANSACTIONAL_ID) == "TransactionalId"
    for text in ("DescribeConfigs", "describe_configs", "describe-configs", "DESCRIBECONFIGS"):
        assert parse_word(Operation, text) is Operation.DESCRIBE_CONFIGS
    with pytest.raises(ValueError, match="'reed' is none of All, Read, Write"):
        parse_word(Operation, "reed")


def test_super_users_are_a_list_of_principals() -> None:
    assert parse_super_users(" User:a; User:CN=x,O=y ;;") == {"User:a", "User:CN=x,O=y"}
    with pytest.raises(ConfigError, match="write it as User:root"):
        parse_super_users("root")
    assert isinstance(make_authorizer(" ", "", Rules(), allows_without_rules=False), AllowEverything)
