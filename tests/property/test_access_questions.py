"""The quick answer of the authorizer is the one of the rule that decides, for any rules and questions."""

from hypothesis import given
from hypothesis import strategies as st

from moldau.security.access.kafka_authorizer import KafkaAuthorizer
from moldau.security.access.model import Caller, Operation, Pattern, Permission, ResourceKind, Rule
from moldau.security.access.rules import Rules, entries_by_resource

KINDS = st.sampled_from([ResourceKind.TOPIC, ResourceKind.GROUP])
NAMES = st.sampled_from(["a", "ab", "abc", "b", "*", ""])
PRINCIPALS = ["User:alice", "User:bob", "User:*", "User:root"]
OPERATIONS = st.sampled_from([each for each in Operation if each > Operation.ALL])
HOSTS = ["*", "*", "10.0.0.1", "::1"]
RULES = st.builds(
    Rule,
    KINDS,
    NAMES,
    st.sampled_from([Pattern.LITERAL, Pattern.PREFIXED]),
    st.sampled_from(PRINCIPALS),
    st.sampled_from(HOSTS),
    st.one_of(st.just(Operation.ALL), OPERATIONS),
    st.sampled_from([Permission.ALLOW, Permission.DENY]),
)
QUESTIONS = st.tuples(
    st.builds(Caller, st.sampled_from(PRINCIPALS), st.sampled_from(["10.0.0.1", "10.0.0.2", "[::1]"])),
    OPERATIONS,
    KINDS,
    NAMES,
)


@given(
    st.lists(RULES, max_size=12), st.lists(RULES, max_size=3), st.lists(QUESTIONS, max_size=12), st.booleans()
)
def test_the_quick_answer_is_that_of_the_deciding_rule(
    rules: list[Rule],
    later: list[Rule],
    questions: list[tuple[Caller, Operation, ResourceKind, str]],
    allows_without_rules: bool,
) -> None:
    known = Rules(rules)
    authorizer = KafkaAuthorizer(
        known, super_users=frozenset({"User:root"}), allows_without_rules=allows_without_rules
    )
    for changed in ([], later):
        known.put_all(entries_by_resource(changed))
        for _ in range(2):
            for question in questions:
                answer = authorizer.allows(*question, is_logged=False)
                assert answer is authorizer.decide(*question).is_allowed
    known.put_all({resource: [] for resource in list(known.resources())})
    assert not any(known.bits("User:alice", kind, "a") for kind in ResourceKind)
