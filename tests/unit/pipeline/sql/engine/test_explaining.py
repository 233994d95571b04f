"""EXPLAIN: steps in words, the lane, what is moved and kept."""

import pytest
from shop_catalog import decided, shop

from moldau.pipeline.sql.engine import Session
from moldau.pipeline.sql.engine.answers import Explanation
from moldau.pipeline.sql.engine.showing.plan_words import duration_text
from moldau.pipeline.sql.syntax.errors import SqlError


def explained(text: str, session: Session | None = None) -> Explanation:
    answer = decided(text, session=session).answer
    assert isinstance(answer, Explanation)
    return answer


def test_a_running_query_step_by_step() -> None:
    answer = explained("EXPLAIN CTAS_PER_REGION_3;")
    steps = answer.plan.splitlines()
    assert steps[:8] == [
        "1. Read stream ORDERS from topic orders, key KAFKA, value JSON.",
        "2. Keep the rows where AMOUNT > 0.",
        "3. Group by REGION; the records have another key, so they are moved to the partition of the new one.",
        "4. Divide each group into hopping windows of 30 SECONDS, one every 10 SECONDS; late records count for "
        "1 MINUTE after the end, state is kept for 1 MINUTE 30 SECONDS.",
        "5. Aggregate with COUNT, SUM.",
        "6. Keep the groups where COUNT(*) > 1.",
        "7. Compute REGION, N = COUNT(*), TOTAL = SUM(AMOUNT).",
        "8. Write table PER_REGION to topic PER_REGION, key KAFKA, value JSON.",
    ]
    assert steps[8].startswith("Lane: Python.")
    assert any(step.startswith("Internal topic: ") and "repartition" in step for step in steps)
    assert any(step.startswith("State store: ") and "kept for 1 MINUTE 30 SECONDS" in step for step in steps)
    assert "Sub-topology: 1" in answer.topology
    assert answer.query is not None and answer.query.id == "CTAS_PER_REGION_3"
    assert answer.sink is not None and answer.sink.name == "PER_REGION"
    assert answer.window_type == "HOPPING"
    assert answer.sources == ("ORDERS",)


def test_a_join_by_the_records_key_moves_nothing() -> None:
    plan = explained("EXPLAIN CSAS_ENRICHED_4;").plan
    assert "Join (LEFT) where O.ID = U.ID; both sides have this key, so no record is moved." in plan
    assert "Internal topic" not in plan


@pytest.mark.parametrize(
    ("query", "words"),
    [
        (
            "CREATE STREAM j AS SELECT o.id, p.region FROM orders o JOIN orders p WITHIN 1 HOUR "
            "ON o.id = p.id;",
            "at most 1 HOUR before and 1 HOUR after",
        ),
        (
            "CREATE STREAM j AS SELECT u.id, o.region FROM orders o JOIN users u "
            "ON CAST(o.region AS INT) = u.id;",
            "the left side does not have this key",
        ),
        (
            "CREATE STREAM p AS SELECT * FROM orders PARTITION BY region;",
            "Give each record a new key: REGION.",
        ),
        ("CREATE STREAM e AS SELECT id, EXPLODE(tags) AS tag FROM orders;", "each element of EXPLODE(TAGS)"),
        (
            "CREATE TABLE s AS SELECT id, COUNT(*) AS n FROM orders WINDOW SESSION (5 MINUTES) "
            "GROUP BY id EMIT FINAL;",
            "sessions that end after 5 MINUTES without a record",
        ),
        (
            "CREATE TABLE s AS SELECT id, COUNT(*) AS n FROM orders WINDOW TUMBLING (SIZE 5 MINUTES) "
            "GROUP BY id EMIT FINAL;",
            "Hold each window back until it has closed",
        ),
        ("CREATE TABLE c AS SELECT id, COUNT(*) AS n FROM orders GROUP BY id;", "have this key already"),
    ],
)
def test_the_words_for_each_kind_of_step(query: str, words: str) -> None:
    answer = explained(f"EXPLAIN {query}")
    assert words in answer.plan
    assert answer.statement == query
    assert answer.query is None


def test_nothing_is_created() -> None:
    catalog = shop()
    before = catalog.definitions
    decided("EXPLAIN CREATE STREAM x AS SELECT * FROM orders;", catalog)
    assert catalog.definitions == before


def test_push_and_pull_queries_run_in_the_server() -> None:
    push = explained("EXPLAIN SELECT region FROM orders EMIT CHANGES LIMIT 3;")
    assert "Lane: this server. A push query" in push.plan
    assert "End after 3 rows." in push.plan
    assert "Send the rows to the client." in push.plan
    assert [column.name for column in push.schema] == ["REGION"]
    pull = explained("EXPLAIN SELECT * FROM per_region WHERE region = 'eu';")
    assert "Lane: this server. A pull query" in pull.plan
    assert pull.topology == ""


def test_the_session_is_shown() -> None:
    session = Session(properties={"auto.offset.reset": "earliest"})
    answer = explained("EXPLAIN SELECT * FROM orders EMIT CHANGES;", session)
    assert answer.overridden == {"auto.offset.reset": "earliest"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("EXPLAIN CTAS_PER_REGION_9;", "Did you mean CTAS_PER_REGION_3?"),
        ("EXPLAIN SHOW STREAMS;", "this statement has none"),
        ("EXPLAIN SELECT * FROM nothing EMIT CHANGES;", "NOTHING does not exist"),
        ("EXPLAIN CREATE STREAM orders AS SELECT * FROM orders;", "exists already"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(SqlError) as failure:
        decided(text)
    assert message in str(failure.value)


def test_durations_in_words() -> None:
    assert duration_text(0) == "0 MILLISECONDS"
    assert duration_text(90_061_001) == "1 DAY 1 HOUR 1 MINUTE 1 SECOND 1 MILLISECOND"
    assert duration_text(172_800_000) == "2 DAYS"
