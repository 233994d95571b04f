"""The index of rules answers as a plain loop over all rules does, after whatever changes."""

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from access_kit import SUPER_USERS, World, expected, random_question, random_rule, random_world
from moldau.security.access.kafka_authorizer import KafkaAuthorizer
from moldau.security.access.rules import Rules, entries_by_resource


def answers(authorizer: KafkaAuthorizer, world: World) -> list[bool]:
    return [
        authorizer.allows_some(caller, operation, kind)
        if name is None
        else authorizer.allows(caller, operation, kind, name)
        for caller, operation, kind, name in world.questions
    ]


@settings(deadline=None, max_examples=150)
@given(st.randoms(use_true_random=False), st.integers(0, 25))
def test_decisions_are_those_of_the_plain_model(random: Random, rules: int) -> None:
    world = random_world(random, rules, 30)
    assert answers(world.authorizer(), world) == [expected(world, each) for each in world.questions]


@settings(deadline=None, max_examples=60)
@given(st.randoms(use_true_random=False))
def test_changes_leave_nothing_behind(random: Random) -> None:
    """Rules come and go, resource by resource; decisions of the past are not remembered."""
    rules = Rules()
    authorizer = KafkaAuthorizer(rules, super_users=SUPER_USERS)
    kept: set = set()
    for _ in range(8):
        kept -= set(random.sample(sorted(kept), len(kept) // 3))
        kept |= {random_rule(random) for _ in range(6)}
        entries = entries_by_resource(kept)
        rules.put_all({**{each: () for each in rules.resources()}, **entries})
        world = World(sorted(kept), False, [random_question(random) for _ in range(15)])
        assert answers(authorizer, world) == [expected(world, each) for each in world.questions]
        assert len(rules) == len(kept) and set(rules) == kept
