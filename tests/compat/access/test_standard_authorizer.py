"""Decisions and log lines are those of Kafka's StandardAuthorizer, on generated rules."""

from random import Random

import pytest

from access_kit import SUPER_USERS, World, deciding, expected, random_world
from compat.access.access_oracle import Told, ask_kafka
from kafka_jars import KafkaJarsUnavailable
from moldau.security.access.decision import log_line

pytestmark = pytest.mark.java

WORLDS = 300
QUESTIONS = 60


@pytest.fixture(scope="module")
def worlds() -> list[World]:
    random = Random(20260131)
    return [random_world(random, random.randrange(25), QUESTIONS) for _ in range(WORLDS)]


@pytest.fixture(scope="module")
def kafka_says(worlds: list[World]) -> Told:
    try:
        return ask_kafka(worlds)
    except KafkaJarsUnavailable as reason:
        pytest.skip(str(reason))


def test_decisions(worlds: list[World], kafka_says: Told) -> None:
    for world, answers in zip(worlds, kafka_says.answers, strict=True):
        authorizer = world.authorizer()
        for question, theirs in zip(world.questions, answers, strict=True):
            caller, operation, kind, name = question
            if name is None:
                ours = authorizer.allows_some(caller, operation, kind)
            else:
                ours = authorizer.allows(caller, operation, kind, name)
            assert ours == theirs, (question, world.rules)
            assert expected(world, question) == theirs, "the plain model of the property test is Kafka's"


def test_log_lines(worlds: list[World], kafka_says: Told) -> None:
    """Where several rules would decide the same, each names one of them."""
    lines = iter(kafka_says.log)
    compared = 0
    for world in worlds:
        authorizer = world.authorizer()
        for question in world.questions:
            caller, operation, kind, name = question
            theirs = next(lines)
            ours = log_line(
                caller,
                operation,
                kind,
                name or "hardcode",
                authorizer.decide(caller, operation, kind, name or "hardcode"),
            )
            if name is None:
                ours = ours.replace("resourceRefCount = 1", "resourceRefCount = 0")
            is_only = len(deciding(world.rules, question, name or "hardcode")) <= 1
            if is_only or caller.principal in SUPER_USERS:
                assert ours == theirs
                compared += 1
            else:
                assert ours.split("acl=")[0] == theirs.split("acl=")[0]
    assert compared > WORLDS and next(lines, None) is None
