"""Real-Time Mode: what runs in it gives what micro-batches give; what cannot is refused with the reason."""

import json
from datetime import datetime
from pathlib import Path

import pytest

from e2e.spark.kit import PATIENCE_S, Sent, committed, create_topics, running, send, wait_caught_up, wait_for
from e2e.spark_session import connector_refused
from moldau.core.errors import ConfigError
from moldau.pipeline.lifecycle import PipelineState
from moldau.pipeline.operators.records import Columns
from moldau.pipeline.operators.task import Task
from moldau.pipeline.plan.expressions import Expression
from moldau.pipeline.plan.topology import Guarantee
from moldau.pipeline.streams import (
    JSON,
    LONG,
    STRING,
    StreamsBuilder,
    Topology,
    call,
    col,
    key,
    lit,
    timestamp,
)


@pytest.fixture(autouse=True)
def connector() -> None:
    refused = connector_refused()
    if refused is not None:
        pytest.skip(f"no Kafka connector for Spark: {refused}")


def payments() -> Topology:
    builder = StreamsBuilder("payments", key=STRING, value=JSON)
    large = builder.stream("payments-in").filter(
        (col("amount") > 5) & ~call("is_in", col("by"), "eve", "mallory")
    )
    large.select_key(call("upper", key())).to("payments-large")
    return builder.build(guarantee=Guarantee.AT_LEAST_ONCE)


def paid(by: str, amount: float) -> Sent:
    return Sent("k", json.dumps({"by": by, "amount": amount}))


def test_records_flow_through_and_the_group_follows(servers: str, tmp_path: Path) -> None:
    create_topics(servers, payments_in=1, payments_large=2)
    send(servers, "payments-in", [paid("ann", 7), Sent("k", "no json"), paid("bob", 3), paid("eve", 9)])
    with running(payments(), servers, tmp_path, latency="real_time") as app:
        wait_for(lambda: len(committed(servers, "payments-large")) >= 1, "the first comes through")
        send(servers, "payments-in", [paid("cyd", 5.5), Sent("k", None)])
        wait_caught_up(app)
        wait_for(lambda: app.metrics.records_in == 6, "the batches are counted")
    assert app.state is PipelineState.STOPPED

    # The next run continues from the group's offsets: the batch was committed, so nothing is written again.
    send(servers, "payments-in", [paid("dan", 8)])
    with running(payments(), servers, tmp_path, latency="real_time") as app:
        wait_caught_up(app)
    found = [(one.key, json.loads(one.value or b"")["by"]) for one in committed(servers, "payments-large")]
    assert found == [(b"K", "ann"), (b"K", "cyd"), (b"K", "dan")]
    (dead,) = committed(servers, "payments-dlq")
    assert dead.value == b"no json"
    assert dead.headers["__streams.errors.offset"] == b"1"
    assert dead.headers["__streams.errors.topic"] == b"payments-in"


VALUES: list[object] = [
    {"a": 7, "b": "plum"},
    {"a": 3.5, "b": "Žluťoučký"},
    {"a": -2, "b": ""},
    {"a": None, "b": None},
    {"deep": {"c": True}, "b": "pear"},
    {},
    None,
]


def test_columns_give_what_the_operators_give() -> None:
    from pyspark.sql import SparkSession

    from moldau.pipeline.spark.real_time.real_time_plan import real_time_plan

    session = SparkSession.getActiveSession()
    assert session is not None
    data = [None if value is None else json.dumps(value).encode() for value in VALUES]
    rows = [
        (b"Key-%d" % at, value, "in", 0, at, datetime.fromtimestamp(1), None) for at, value in enumerate(data)
    ]
    types = "key binary, value binary, topic string, partition int, offset long, timestamp timestamp, "
    records = session.createDataFrame(rows, types + "headers array<struct<key:string,value:binary>>")
    columns = Columns("refused-in", 0, range(len(data)), [1000] * len(data), [row[0] for row in rows], data)
    for operators in (
        {"filter": col("a") > 3},
        {"filter_not": (col("a") <= 3) | (col("b") == "plum")},
        {"filter": (col("a") * 2 - 1) / 2 >= 3},
        {"filter": col("a") / 0 > 1},
        {"filter": call("is_null", col("a")) & call("is_not_null", col("b"))},
        {"filter": col("deep.c") == True},  # noqa: E712 an expression
        {"filter": call("contains", call("lower", col("b")), "ž")},
        {"filter": call("length", col("b")) == 9},
        {"filter": call("is_in", col("b"), "plum", "pear")},
        {"filter": call("coalesce", col("a"), lit(100)) > 50},
        {"filter": timestamp() == 1000, "select_key": call("upper", col("b"))},
        {"select_key": key() + "/" + call("coalesce", col("b"), lit("none"))},
    ):
        topology = chain(**operators).build(guarantee=Guarantee.AT_LEAST_ONCE)
        expected = Task(topology, topology.whole, 0).apply([columns], 0).records
        found = real_time_plan(topology).rows(records, "dlq").collect()
        assert [
            (row.topic, row.key and bytes(row.key), row.value and json.loads(bytes(row.value)))
            for row in found
        ] == [(one.topic, one.key, one.value and json.loads(one.value)) for one in expected], operators


def chain(**more: Expression) -> StreamsBuilder:
    builder = StreamsBuilder("refused", key=STRING, value=JSON)
    stream = builder.stream("refused-in")
    for operator, expression in more.items():
        stream = getattr(stream, operator)(expression)
    stream.to("refused-out")
    return builder


def test_what_cannot_run_is_refused_with_the_reason(servers: str, tmp_path: Path) -> None:
    from moldau.pipeline.spark.real_time.real_time_plan import real_time_plan

    at_least_once = Guarantee.AT_LEAST_ONCE
    with pytest.raises(ConfigError, match="promises exactly-once"):
        real_time_plan(chain().build())
    builder = StreamsBuilder("refused", key=STRING, value=STRING)
    builder.stream("refused-in").map_values(str.upper).to("refused-out")
    with pytest.raises(ConfigError, match=r"map-values at .*test_real_time.py:\d+ is a Python function"):
        real_time_plan(builder.build(guarantee=at_least_once))
    builder = StreamsBuilder("refused", key=STRING, value=STRING)
    builder.stream("refused-in").group_by_key().count().to_stream().to("refused-out", value=LONG)
    with pytest.raises(ConfigError, match="none of filter, map_values and select_key"):
        real_time_plan(builder.build(guarantee=at_least_once))
    for expressions, why in (
        ({"filter": col("a") == col("b")}, "the type of its parts is not known"),
        ({"filter": call("round", col("a")) == 1}, "the function round runs only in Python"),
        ({"map_values": call("upper", col("a"))}, "the value for refused-out is text, which json"),
        ({"select_key": col("a") > 1}, "the key for refused-out is truth"),
    ):
        with pytest.raises(ConfigError, match=why):
            real_time_plan(chain(**expressions).build(guarantee=at_least_once))

    # The application says it too, and ends.
    create_topics(servers, refused_in=3, refused_out=1)
    with running(chain().build(guarantee=at_least_once), servers, tmp_path, latency="real_time") as app:
        assert app.wait(timeout_s=PATIENCE_S) is PipelineState.FAILED
        assert "local[3]" in (app.metrics.last_error or "")
