"""ASSERT TOPIC and ASSERT SCHEMA."""

import pytest
from shop_catalog import decided, needed

from moldau.pipeline.sql.engine import Facts, SubjectNeed, TopicFacts
from moldau.pipeline.sql.engine.answers import Asserted
from moldau.pipeline.sql.formats.infer import SubjectSchema
from moldau.pipeline.sql.syntax.errors import SqlError

ORDERS = Facts(topics={"orders": TopicFacts(2, 1)})


def test_what_is_looked_up() -> None:
    assert needed("ASSERT TOPIC orders;").topics == ("orders",)
    assert needed("ASSERT SCHEMA SUBJECT 'orders-value' ID 3;").subjects == (SubjectNeed("orders-value", 3),)


@pytest.mark.parametrize(
    "text",
    [
        "ASSERT TOPIC orders;",
        "ASSERT TOPIC 'orders' WITH (partitions=2, replicas=1);",
        "ASSERT NOT EXISTS TOPIC other;",
    ],
)
def test_a_topic_that_is_as_it_should_be(text: str) -> None:
    decision = decided(text, facts=ORDERS)
    assert isinstance(decision.answer, Asserted)
    assert decision.answer.exists == ("NOT" not in text)
    assert decision.wait is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ASSERT TOPIC other TIMEOUT 3 SECONDS;", "topic other does not exist"),
        (
            "ASSERT TOPIC orders WITH (partitions=3) TIMEOUT 3 SECONDS;",
            "PARTITIONS is 2 and should be 3",
        ),
        ("ASSERT NOT EXISTS TOPIC orders WITH (partitions=3) TIMEOUT 3 SECONDS;", "topic orders exists"),
    ],
)
def test_the_server_waits_for_what_does_not_hold_yet(text: str, message: str) -> None:
    decision = decided(text, facts=ORDERS)
    assert decision.answer is None
    assert decision.wait is not None
    assert decision.wait.timeout_ms == 3_000
    assert message in decision.wait.message


def test_the_server_says_how_long_to_wait_where_the_statement_does_not() -> None:
    settings = {"ksql.assert.topic.default.timeout.ms": "50"}
    waits = [
        decided("ASSERT TOPIC other;").wait,
        decided("ASSERT TOPIC other;", facts=Facts(settings=settings)).wait,
        decided("ASSERT SCHEMA ID 3;", facts=Facts(settings=settings)).wait,
    ]
    assert [wait.timeout_ms for wait in waits if wait] == [1_000, 50, 1_000]


def test_schemas_by_subject_and_id() -> None:
    need = SubjectNeed("orders-value", None)
    facts = Facts(schemas={need: SubjectSchema("{}", "JSON", id=3)})
    exists = decided("ASSERT SCHEMA SUBJECT 'orders-value';", facts=facts)
    assert exists.answer == Asserted("SCHEMA", True, subject="orders-value")
    wait = decided("ASSERT NOT EXISTS SCHEMA SUBJECT 'orders-value';", facts=facts).wait
    assert wait is not None
    assert "a schema with subject orders-value exists" in wait.message
    missing = decided("ASSERT SCHEMA SUBJECT 'orders-value' ID 4;", facts=facts).wait
    assert missing is not None
    assert "subject orders-value and id 4 does not exist" in missing.message


def test_other_properties_are_refused() -> None:
    with pytest.raises(SqlError, match="RETENTION_MS"):
        decided("ASSERT TOPIC orders WITH (retention_ms=3);", facts=ORDERS)
