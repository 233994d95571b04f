"""Answers of the engine as entities of ksqlDB; each is one that the shell prints."""

from typing import Any

import pytest

from moldau.cli.sql_shell.entities import entity_lines
from moldau.cli.sql_shell.entities.descriptions import DESCRIPTIONS
from moldau.cli.sql_shell.entities.lists import LISTS
from moldau.cli.sql_shell.grid import Style
from moldau.pipeline.sql.definitions import Format, KeyWindow, SourceInfo
from moldau.pipeline.sql.engine import answers
from moldau.pipeline.sql.engine.state import PersistentQuery, QueryState
from moldau.pipeline.sql.server import requests
from moldau.pipeline.sql.server.http.entities import Context, entity
from moldau.pipeline.sql.server.requests import ConnectAnswer, Executed, QueryRuntime, Runtime, TransientQuery
from moldau.pipeline.sql.syntax.tree.statements import Kind
from moldau.pipeline.sql.types import BIGINT, INTEGER, STRING, Array, Column, Schema

USERS = SourceInfo(
    "USERS",
    Kind.TABLE,
    Schema((Column("ID", INTEGER),), (Column("TAGS", Array(STRING)),)),
    "users",
    Format("KAFKA"),
    Format("JSON"),
    statement="CREATE TABLE users ...;",
)
COUNTS = SourceInfo(
    "COUNTS",
    Kind.TABLE,
    Schema((Column("ID", INTEGER),), (Column("N", BIGINT),)),
    "counts",
    Format("KAFKA"),
    Format("AVRO"),
    window=KeyWindow("TUMBLING", 1000),
)
QUERY = PersistentQuery(
    "CTAS_COUNTS_3", "CREATE_AS", "CREATE TABLE counts AS SELECT 1;", ("USERS",), "COUNTS"
)
NO_NEWS = Runtime()
CONTEXT = Context({"USERS": USERS, "COUNTS": COUNTS}, lambda query_id: f"group_{query_id}")


def rendered(
    answer: answers.Answer | ConnectAnswer, runtime: Runtime = NO_NEWS, **facts: Any
) -> dict[str, Any]:
    found = entity(Executed("SAID;", answer, runtime=runtime, **facts), CONTEXT)
    assert found is not None
    assert found["@type"] in {*LISTS, *DESCRIPTIONS}, "the shell does not know it"
    assert entity_lines(found, Style(120))
    return found


def test_what_all_have() -> None:
    found = rendered(answers.TypesList({}), warnings=("be careful",))
    assert list(found)[:2] == ["@type", "statementText"]
    assert found["statementText"] == "SAID;"
    assert found["warnings"] == [{"message": "be careful"}]


def test_insert_values_answers_nothing() -> None:
    assert entity(Executed("INSERT INTO s VALUES (1);", None), CONTEXT) is None


def test_a_command() -> None:
    answer = answers.CurrentStatus(
        "Created query", "table/COUNTS/create", "SUCCESS", query_id="CTAS_COUNTS_3"
    )
    assert rendered(answer, command_sequence_number=3) == {
        "@type": "currentStatus",
        "statementText": "SAID;",
        "commandId": "table/COUNTS/create",
        "commandStatus": {"status": "SUCCESS", "message": "Created query", "queryId": "CTAS_COUNTS_3"},
        "commandSequenceNumber": 3,
        "warnings": [],
    }


def test_a_command_that_wrote_nothing_has_no_number() -> None:
    assert rendered(answers.CurrentStatus("done"))["commandSequenceNumber"] == -1


def test_tables() -> None:
    [users, counts] = rendered(answers.SourcesList("TABLES", (USERS, COUNTS)))["tables"]
    assert users == {
        "type": "TABLE",
        "name": "USERS",
        "topic": "users",
        "keyFormat": "KAFKA",
        "valueFormat": "JSON",
        "isWindowed": False,
    }
    assert counts["isWindowed"]


def test_a_description() -> None:
    answer = answers.SourceDescription(COUNTS, write_queries=(QUERY,), partitions=4, replicas=2)
    found = rendered(answer)["sourceDescription"]
    assert (found["name"], found["windowType"], found["type"]) == ("COUNTS", "TUMBLING", "TABLE")
    assert [query["id"] for query in found["writeQueries"]] == ["CTAS_COUNTS_3"]
    assert (found["partitions"], found["replication"], found["extended"]) == (4, 2, False)


def test_an_extended_description_has_statistics_and_offsets() -> None:
    offsets = requests.QueryOffsets(
        "Q", "group_Q", (requests.TopicOffsets("users", (requests.PartitionOffsets(0, 1, 9, 4),)),)
    )
    told = requests.SourceStatistics(messages=12, offsets=(offsets,))
    found = rendered(answers.SourceDescription(USERS, is_extended=True), Runtime(sources={"USERS": told}))[
        "sourceDescription"
    ]
    assert "total-messages:        12" in found["statistics"]
    [summary] = found["queryOffsetSummaries"]
    assert summary["groupId"] == "group_Q"
    [partition] = summary["topicSummaries"][0]["offsets"]
    assert partition == {"partition": 0, "logStartOffset": 1, "logEndOffset": 9, "consumerOffset": 4}


def test_queries_have_the_state_that_the_server_knows() -> None:
    runtime = Runtime(
        {QUERY.id: QueryRuntime(QUERY.id, "ERROR")}, (TransientQuery("transient_S_1", "SELECT 1;"),)
    )
    persistent, transient = rendered(answers.QueriesList((QUERY,)), runtime)["queries"]
    assert persistent["statusCount"] == {"ERROR": 1}
    assert persistent["sinkKafkaTopics"] == ["counts"]
    assert (transient["queryType"], transient["id"]) == ("PUSH", "transient_S_1")


def test_without_news_a_query_has_the_state_that_was_asked_for() -> None:
    paused = PersistentQuery("Q", "INSERT", "INSERT ...;", ("USERS",), "GONE", state=QueryState.PAUSED)
    [query] = rendered(answers.QueriesList((paused,)))["queries"]
    assert (query["state"], query["sinkKafkaTopics"]) == ("PAUSED", [])


def test_an_explained_query() -> None:
    answer = answers.Explanation(
        QUERY.statement, COUNTS.schema, ("USERS",), "> PROJECT", "Topologies:", QUERY, COUNTS
    )
    runtime = Runtime(
        {
            QUERY.id: QueryRuntime(
                QUERY.id, "RUNNING", "sql:8088", (requests.QueryError(5, "no topic", "USER"),)
            )
        }
    )
    found = rendered(answer, runtime)["queryDescription"]
    assert (found["id"], found["queryType"], found["sinks"]) == (QUERY.id, "PERSISTENT", ["COUNTS"])
    assert found["ksqlHostQueryStatus"] == {"sql:8088": "RUNNING"}
    assert found["queryErrors"] == [{"timestamp": 5, "errorMessage": "no topic", "type": "USER"}]
    assert found["consumerGroupId"] == "group_CTAS_COUNTS_3"


def test_an_explained_statement_runs_nowhere() -> None:
    answer = answers.Explanation("SELECT 1;", COUNTS.schema, ("USERS",), "", "")
    found = rendered(answer)["queryDescription"]
    assert (found["id"], found["queryType"], found["ksqlHostQueryStatus"]) == ("", "PUSH", {})


def test_properties_say_who_set_them() -> None:
    properties = (
        answers.ServerProperty("auto.offset.reset", "earliest", is_overridden=True, is_default=False),
        answers.ServerProperty("ksql.service.id", "default_"),
    )
    found = rendered(answers.PropertiesList(properties))
    assert found["overwrittenProperties"] == ["auto.offset.reset"]
    assert found["defaultProperties"] == ["ksql.service.id"]
    assert found["properties"][0]["scope"] == "KSQL"


@pytest.mark.parametrize("extended", [False, True])
def test_topics(extended: bool) -> None:
    answer = answers.TopicsList((answers.TopicSummary("users", 2, 3),), extended)
    [topic] = rendered(answer, Runtime(topics={"users": requests.TopicConsumers(4, 1)}))["topics"]
    assert topic["replicaInfo"] == [3, 3]
    assert topic.get("consumerCount") == (4 if extended else None)


def test_other_lists() -> None:
    assert rendered(answers.VariablesList({"a": "1"}))["variables"] == [{"name": "a", "value": "1"}]
    assert rendered(answers.TypesList({"T": STRING}))["types"]["T"]["type"] == "STRING"
    summary = answers.FunctionSummary("ABS", "SCALAR", "MATHEMATICAL")
    [function] = rendered(answers.FunctionsList((summary,)))["functions"]
    assert function == {"name": "ABS", "type": "SCALAR", "category": "MATHEMATICAL"}
    assert rendered(answers.Warned("Nothing done"))["message"] == "Nothing done"


def test_assertions() -> None:
    topic = rendered(answers.Asserted("TOPIC", exists=True, topic="users"))
    assert (topic["@type"], topic["topicName"], topic["exists"]) == ("assert_topic", "users", True)
    schema = rendered(answers.Asserted("SCHEMA", exists=False, subject="s-value", schema_id=7))
    assert (schema["@type"], schema["subject"], schema["id"]) == ("assert_schema", "s-value", 7)
