"""Worlds of rules and the questions asked in them, and a plain model of what Kafka answers: no index, one loop."""

from collections.abc import Iterable, Sequence
from random import Random
from typing import NamedTuple

from moldau.security.access.authorizer import OPERATIONS_OF
from moldau.security.access.kafka_authorizer import KafkaAuthorizer
from moldau.security.access.model import Caller, Operation, Pattern, Permission, ResourceKind, Rule
from moldau.security.access.rules import Rules

NAMES = ("a", "ab", "abc", "abd", "b", "ba", "team-a", "team-b", "orders", "x")
RULE_NAMES = (*NAMES, "*", "te", "team-")
PRINCIPALS = ("User:alice", "User:bob", "User:*", "Group:alice", "User:CN=a,O=b")
CALLERS = ("User:alice", "User:bob", "User:root", "Group:alice", "User:CN=a,O=b", "User:ANONYMOUS")
HOSTS = ("10.0.0.1", "10.0.0.2", "0:0:0:0:0:0:0:1")
KINDS = (ResourceKind.TOPIC, ResourceKind.GROUP, ResourceKind.TRANSACTIONAL_ID)
SUPER_USERS = frozenset({"User:root"})


class Question(NamedTuple):
    caller: Caller
    operation: Operation
    kind: ResourceKind
    name: str | None
    """None: whether it may be done with some resource of the kind."""


class World(NamedTuple):
    rules: Sequence[Rule]
    allows_without_rules: bool
    questions: Sequence[Question]

    def authorizer(self) -> KafkaAuthorizer:
        return KafkaAuthorizer(
            Rules(self.rules), super_users=SUPER_USERS, allows_without_rules=self.allows_without_rules
        )


def random_world(random: Random, rules: int, questions: int) -> World:
    return World(
        sorted({random_rule(random) for _ in range(rules)}),
        random.random() < 0.3,
        [random_question(random) for _ in range(questions)],
    )


def random_rule(random: Random) -> Rule:
    kind = random.choice(KINDS)
    return Rule(
        kind,
        random.choice(RULE_NAMES),
        random.choice((Pattern.LITERAL, Pattern.LITERAL, Pattern.PREFIXED)),
        random.choice(PRINCIPALS),
        random.choice(("*", "*", *HOSTS)),
        random.choice((Operation.ALL, *OPERATIONS_OF[kind])),
        random.choice((Permission.ALLOW, Permission.ALLOW, Permission.DENY)),
    )


def random_question(random: Random) -> Question:
    kind = random.choice(KINDS)
    name = None if random.random() < 0.2 else random.choice(NAMES)
    caller = Caller(random.choice(CALLERS), random.choice(HOSTS), "Fetch")
    return Question(caller, random.choice(OPERATIONS_OF[kind]), kind, name)


def applying(rules: Iterable[Rule], kind: ResourceKind, name: str) -> list[Rule]:
    """The rules about a resource, for whomever they are."""
    return [
        rule
        for rule in rules
        if rule.kind == kind
        and (name.startswith(rule.name) if rule.pattern is Pattern.PREFIXED else rule.name in (name, "*"))
    ]


def deciding(rules: Iterable[Rule], question: Question, name: str) -> list[Rule]:
    """Those that say something about the question."""
    caller, operation, kind, _ = question
    describing = {Operation.READ, Operation.WRITE, Operation.DELETE, Operation.ALTER, Operation.DESCRIBE}
    found = []
    for rule in applying(rules, kind, name):
        answers = rule.operation in (operation, Operation.ALL)
        if rule.permission is Permission.ALLOW:
            answers |= operation is Operation.DESCRIBE and rule.operation in describing
            answers |= operation is Operation.DESCRIBE_CONFIGS and rule.operation is Operation.ALTER_CONFIGS
        if answers and rule.principal in (caller.principal, "User:*") and rule.host in (caller.host, "*"):
            found.append(rule)
    return found


def expected(world: World, question: Question) -> bool:
    if question.caller.principal in SUPER_USERS:
        return True
    if question.name is None:
        return expected_for_some(world, question)
    found = deciding(world.rules, question, question.name)
    if found:
        return all(rule.permission is Permission.ALLOW for rule in found)
    return world.allows_without_rules and not applying(world.rules, question.kind, question.name)


def expected_for_some(world: World, question: Question) -> bool:
    caller, operation, kind, _ = question
    if expected(world, question._replace(name="hardcode")):
        return True
    relevant = [
        rule
        for rule in world.rules
        if rule.kind == kind
        and rule.operation in (operation, Operation.ALL)
        and rule.principal in (caller.principal, "User:*")
        and rule.host in (caller.host, "*")
    ]
    denied = {(rule.pattern, rule.name) for rule in relevant if rule.permission is Permission.DENY}
    allowed = {(rule.pattern, rule.name) for rule in relevant if rule.permission is Permission.ALLOW}
    if (Pattern.LITERAL, "*") in denied:
        return False
    if (Pattern.LITERAL, "*") in allowed:
        return True
    return any(
        (pattern is Pattern.PREFIXED or (pattern, name) not in denied)
        and not any(pattern_ is Pattern.PREFIXED and name.startswith(prefix) for pattern_, prefix in denied)
        for pattern, name in allowed
    )
