"""SHOW and LIST."""

from shop_catalog import decided, needed

from moldau.pipeline.sql.engine import Facts, Session, TopicFacts
from moldau.pipeline.sql.engine.answers import (
    FunctionsList,
    PropertiesList,
    QueriesList,
    SourceDescriptions,
    SourcesList,
    TopicsList,
    TypesList,
    VariablesList,
)

TOPICS = Facts(
    topics={
        "users": TopicFacts(2, 1),
        "orders": TopicFacts(3, 2),
        "__consumer_offsets": TopicFacts(50, 1),
        "_confluent-ksql-default_command_topic": TopicFacts(1, 1),
        "app-STORE-changelog": TopicFacts(2, 1),
    }
)


def test_streams_and_tables_by_name() -> None:
    streams, tables = decided("SHOW STREAMS;").answer, decided("LIST TABLES;").answer
    assert isinstance(streams, SourcesList) and isinstance(tables, SourcesList)
    assert [one.name for one in streams.sources] == ["ENRICHED", "ORDERS"]
    assert [one.name for one in tables.sources] == ["PER_REGION", "RATES", "USERS"]
    assert needed("SHOW STREAMS;") == needed("SHOW TYPES;")


def test_extended_lists_describe_each() -> None:
    assert needed("SHOW STREAMS EXTENDED;").topics == ("ENRICHED", "orders")
    answer = decided("SHOW STREAMS EXTENDED;", facts=TOPICS).answer
    assert isinstance(answer, SourceDescriptions)
    assert [(one.source.name, one.partitions) for one in answer.descriptions] == [
        ("ENRICHED", 0),
        ("ORDERS", 3),
    ]
    assert all(one.is_extended for one in answer.descriptions)


def test_topics_without_internal_ones() -> None:
    assert needed("SHOW TOPICS;").all_topics
    answer = decided("SHOW TOPICS;", facts=TOPICS).answer
    assert isinstance(answer, TopicsList)
    assert [(one.name, one.partitions, one.replicas) for one in answer.topics] == [
        ("orders", 3, 2),
        ("users", 2, 1),
    ]
    hidden = Facts(topics=TOPICS.topics, settings={"ksql.hidden.topics": "u.*, _.*"})
    fewer = decided("SHOW TOPICS;", facts=hidden).answer
    assert isinstance(fewer, TopicsList)
    assert [one.name for one in fewer.topics] == ["orders"]
    everything = decided("SHOW ALL TOPICS EXTENDED;", facts=TOPICS).answer
    assert isinstance(everything, TopicsList)
    assert len(everything.topics) == len(TOPICS.topics)
    assert everything.is_extended


def test_queries() -> None:
    plain, extended = decided("SHOW QUERIES;").answer, decided("SHOW QUERIES EXTENDED;").answer
    assert isinstance(plain, QueriesList) and isinstance(extended, QueriesList)
    assert [one.id for one in plain.queries] == ["CSAS_ENRICHED_4", "CTAS_PER_REGION_3"]
    assert not plain.is_extended
    assert [one.query for one in extended.explanations] == list(extended.queries)


def test_functions() -> None:
    answer = decided("SHOW FUNCTIONS;").answer
    assert isinstance(answer, FunctionsList)
    found = {one.name: one.type for one in answer.functions}
    assert found["COUNT"] == "AGGREGATE"
    assert found["EXPLODE"] == "TABLE"
    assert found["ABS"] == "SCALAR"
    assert list(found) == sorted(found)


def test_types_variables_and_properties() -> None:
    session = Session().with_variable("b", "2").with_variable("a", "1")
    session = session.with_property("auto.offset.reset", "earliest")
    assert decided("SHOW TYPES;").answer == TypesList({})
    assert decided("SHOW VARIABLES;", session=session).answer == VariablesList({"a": "1", "b": "2"})
    answer = decided("SHOW PROPERTIES;", session=session).answer
    assert isinstance(answer, PropertiesList)
    assert [(one.name, one.value) for one in answer.properties if one.is_overridden] == [
        ("auto.offset.reset", "earliest")
    ]


def test_connectors_are_another_service() -> None:
    forward = decided("SHOW SOURCE CONNECTORS;").forward
    assert forward is not None
