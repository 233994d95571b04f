"""ASSERT TOPIC and ASSERT SCHEMA: whether something exists. What does not hold yet may hold soon: the server waits."""

from typing import Final

from moldau.pipeline.sql.analysis.scope import FunctionLibrary
from moldau.pipeline.sql.engine.answers import Asserted
from moldau.pipeline.sql.engine.catalog import Catalog
from moldau.pipeline.sql.engine.decision import Decision, Wait
from moldau.pipeline.sql.engine.facts import Facts, Needs, SubjectNeed, TopicFacts
from moldau.pipeline.sql.engine.session import Session
from moldau.pipeline.sql.engine.with_properties import OF_TOPIC_ASSERTION, read_properties
from moldau.pipeline.sql.syntax.tree.statements import AssertSchema, AssertTopic

TIMEOUT_MS: Final = 1_000
"""Where neither the statement nor the server says another one."""
_SETTINGS: Final = {
    AssertTopic: "ksql.assert.topic.default.timeout.ms",
    AssertSchema: "ksql.assert.schema.default.timeout.ms",
}


def needs_assertion(statement: AssertTopic | AssertSchema, catalog: Catalog) -> Needs:
    if isinstance(statement, AssertTopic):
        return Needs(topics=(statement.topic,))
    return Needs(subjects=(_subject(statement),))


def decide_assertion(
    statement: AssertTopic | AssertSchema,
    catalog: Catalog,
    session: Session,
    facts: Facts,
    library: FunctionLibrary,
) -> Decision:
    if isinstance(statement, AssertTopic):
        wrong = _wrong_topic(statement, facts.topics.get(statement.topic))
        answer = Asserted("TOPIC", statement.exists, topic=statement.topic)
    else:
        wrong = _wrong_schema(statement, facts)
        answer = Asserted(
            "SCHEMA", statement.exists, subject=statement.subject, schema_id=statement.schema_id
        )
    if not wrong:
        return Decision(answer)
    timeout_ms = _timeout_ms(statement, facts)
    return Decision(wait=Wait(timeout_ms, f"{wrong} (waited {timeout_ms} ms)"))


def _timeout_ms(statement: AssertTopic | AssertSchema, facts: Facts) -> int:
    if statement.timeout is not None:
        return statement.timeout.ms
    return int(facts.settings.get(_SETTINGS[type(statement)], TIMEOUT_MS))


def _wrong_topic(statement: AssertTopic, topic: TopicFacts | None) -> str:
    """Properties count only where the topic should exist. An unknown one is an error in the statement."""
    said = read_properties(statement.properties, OF_TOPIC_ASSERTION)
    name = statement.topic
    if not statement.exists:
        return "" if topic is None else f"topic {name} exists"
    if topic is None:
        return f"topic {name} does not exist"
    actual = {"PARTITIONS": topic.partitions, "REPLICAS": topic.replicas}
    different = [
        f"{prop} is {actual[prop]} and should be {said.get(prop)}"
        for prop in actual
        if prop in said and said.get(prop) != actual[prop]
    ]
    return f"topic {name} exists with other properties: {', '.join(different)}" if different else ""


def _subject(statement: AssertSchema) -> SubjectNeed:
    return SubjectNeed(statement.subject or "", statement.schema_id)


def _wrong_schema(statement: AssertSchema, facts: Facts) -> str:
    is_there = _subject(statement) in facts.schemas
    if is_there == statement.exists:
        return ""
    named = [f"subject {statement.subject}"] if statement.subject is not None else []
    named += [f"id {statement.schema_id}"] if statement.schema_id is not None else []
    return f"a schema with {' and '.join(named)} {'exists' if is_there else 'does not exist'}"
