"""`transform`: a function of DataFrames inside a topology."""

import json
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pyspark.sql import DataFrame
from pyspark.sql import functions as fn

from e2e.spark.kit import (
    PATIENCE_S,
    Sent,
    committed,
    create_topics,
    last_values,
    running,
    send,
    wait_caught_up,
    wait_for,
)
from e2e.spark_session import session_of_tests
from moldau.core.errors import ConfigError
from moldau.pipeline.lifecycle import PipelineState
from moldau.pipeline.streams import (
    JSON,
    LONG,
    STRING,
    ErrorHandlers,
    KStream,
    StreamsBuilder,
    Topology,
    tumbling,
)
from moldau.testing.topology_test_driver import TopologyTestDriver

BEGIN_MS = 1_700_000_000_000
MINUTE_MS = 60_000


def transformed(name: str, function: Callable[[DataFrame], Any], **options: Any) -> Topology:
    builder = StreamsBuilder(name, key=STRING, value=STRING)
    builder.stream(f"{name}-in").transform(function, name="step", **options).to(f"{name}-out")
    return builder.build()


def unchanged(df: DataFrame) -> DataFrame:
    return df


def test_a_static_table_a_function_of_sql_and_a_model_join_in(servers: str, tmp_path: Path) -> None:
    """With a schema the fields of the value are columns; the model is applied in Spark's workers."""
    create_topics(servers, joined_in=2, joined_out=2)
    payments = [
        Sent(f"u{n % 3}", json.dumps({"user": f"u{n % 4}", "amount": n / 2}), timestamp_ms=BEGIN_MS + n)
        for n in range(200)
    ]
    send(servers, "joined-in", payments)
    weights = (0.25, 0.5)

    @fn.pandas_udf("double")  # type: ignore[call-overload, untyped-decorator]
    def score(amounts: pd.Series) -> pd.Series:
        return weights[0] + weights[1] * amounts

    def enrich(df: DataFrame) -> DataFrame:
        users = df.sparkSession.createDataFrame(
            [("u0", "Prague"), ("u1", "Linz"), ("u2", "Melnik")], "user STRING, city STRING"
        )
        return (
            df.join(users, "user", "left")
            .withColumn("city", fn.expr("coalesce(upper(city), 'NOWHERE')"))
            .withColumn("score", score("amount"))
        )

    builder = StreamsBuilder("joined", key=STRING, value=JSON)
    stream = builder.stream("joined-in").transform(enrich, schema="user STRING, amount DOUBLE")
    stream.filter(lambda _, value: value["city"] != "LINZ").to("joined-out")
    with running(builder.build(), servers, tmp_path) as app:
        wait_caught_up(app, restarts_max=0)
        wait_for(
            lambda: list(app.metrics.transform_ms) == ["KSTREAM-TRANSFORM-0000000001"], "its time is told"
        )

    cities = {"u0": "PRAGUE", "u1": "LINZ", "u2": "MELNIK", "u3": "NOWHERE"}
    wanted = []
    for sent in payments:
        value: dict[str, Any] = json.loads(sent.value or "")
        value |= {"city": cities[value["user"]], "score": 0.25 + 0.5 * value["amount"]}
        if value["city"] != "LINZ":
            wanted.append((sent.key, sent.timestamp_ms, value))
    found = [
        ((one.key or b"").decode(), one.timestamp_ms, json.loads(one.value or b""))
        for one in committed(servers, "joined-out")
    ]
    assert sorted(found, key=str) == sorted(wanted, key=str)


def disordered(total: int, words: int) -> list[Sent]:
    """Over three partitions, of which each is out of order by up to three minutes."""
    dice = random.Random(7)
    return [
        Sent(str(n), f"w{n * 7 % words}", n % 3, BEGIN_MS + n * 100 - dice.choice((0, 0, 0, 30_000, 180_000)))
        for n in range(total)
    ]


def windowed_counts(name: str, between: Callable[[KStream[str, str]], KStream[str, str]]) -> Topology:
    builder = StreamsBuilder(name, key=STRING, value=STRING)
    words = between(builder.stream("windows-in")).group_by(lambda _, word: word, key=STRING)
    counts = words.windowed_by(tumbling(MINUTE_MS, grace_ms=40_000)).count()
    counts.to_stream(lambda window, _: f"{window.key}@{window.start_ms}", key=STRING).to(
        f"{name}-out", value=LONG
    )
    return builder.build()


def test_windows_behind_it_count_as_they_do_behind_map_values(servers: str, tmp_path: Path) -> None:
    """A backlog over three partitions, out of order within the grace and beyond it: as one batch and as many, the same
    records are late, since rows keep their places."""
    names = {f"windows_{which}_out": 3 for which in ("mapped", "whole", "pieces")}
    create_topics(servers, windows_in=3, **names)
    send(servers, "windows-in", disordered(12_000, 20))

    def rows(stream: KStream[str, str]) -> KStream[str, str]:
        # The shuffle leaves nothing of the order in which rows were read.
        return stream.transform(lambda df: df.withColumn("value", fn.upper("value")).repartition(3, "value"))

    def values(stream: KStream[str, str]) -> KStream[str, str]:
        return stream.map_values(str.upper)

    counted: dict[str, dict[bytes | None, bytes | None]] = {}
    dropped = {}
    for which, between, settings in (
        ("mapped", values, {}),
        ("whole", rows, {}),
        ("pieces", rows, {"records_per_batch_max": 2_500, "instances": 1}),
    ):
        topology = windowed_counts(f"windows-{which}", between)
        with running(topology, servers, tmp_path, record_cache=True, **settings) as app:
            wait_caught_up(app, restarts_max=0)
        # Told a moment after the commit.
        dropped[which] = app.metrics.records_dropped
        counted[which] = last_values(committed(servers, f"windows-{which}-out"))
    assert counted["mapped"] == counted["whole"] == counted["pieces"]
    assert len(set(dropped.values())) == 1 and min(dropped.values()) > 0, dropped


def test_two_in_a_row_and_a_table_that_is_joined(servers: str, tmp_path: Path) -> None:
    """Keys go where the table's producer put them, whatever partitions records came in; those without a key go
    through."""
    create_topics(servers, rowed_in=2, rowed_users=3, rowed_out=2, rowed_keyless=2)
    users, total = 40, 400
    send(servers, "rowed-users", [Sent(f"u{n}", f"name{n}", timestamp_ms=BEGIN_MS) for n in range(users)])
    at_ms = BEGIN_MS + MINUTE_MS
    send(servers, "rowed-in", [Sent(None, f"u{n % users}", n % 2, at_ms + n) for n in range(total)])

    builder = StreamsBuilder("rowed", key=STRING, value=STRING)
    first = builder.stream("rowed-in").transform(
        lambda df: df.withColumn("value", fn.upper("value")), name="first"
    )
    first.to("rowed-keyless")
    keyed = first.transform(lambda df: df.withColumn("key", fn.lower("value")), name="second")
    keyed.join(builder.table("rowed-users"), lambda value, name: f"{value} {name}").to("rowed-out")
    with running(builder.build(), servers, tmp_path, records_per_batch_max=150) as app:
        wait_caught_up(app, restarts_max=0)
        assert app.metrics.transform_ms.keys() == {"first", "second"}
    keyless = [(one.key, one.value) for one in committed(servers, "rowed-keyless")]
    assert sorted(keyless, key=str) == sorted(((None, b"U%d" % (n % users)) for n in range(total)), key=str)
    joined = sorted(one.value or b"" for one in committed(servers, "rowed-out"))
    assert joined == sorted(b"U%d name%d" % (n % users, n % users) for n in range(total))


def test_without_its_place_a_row_goes_by_its_time_and_nothing_in_time_is_lost(
    servers: str, tmp_path: Path
) -> None:
    """An aggregation leaves nothing of the records but what it names: one row a word and batch."""
    create_topics(servers, unplaced_in=3, unplaced_out=2)
    total, words = 6_000, 20
    send(
        servers,
        "unplaced-in",
        [Sent(str(n), f"w{n % words}", n % 3, BEGIN_MS + n * 100) for n in range(total)],
    )

    def summed(df: DataFrame) -> DataFrame:
        minute = fn.window("timestamp", "1 minute")
        grouped = df.groupBy("value", minute.alias("minute"))
        return grouped.agg(fn.max("timestamp").alias("timestamp"), fn.count("*").alias("count")).select(
            fn.col("value").alias("key"), fn.col("count").alias("value"), "timestamp"
        )

    builder = StreamsBuilder("unplaced", key=STRING, value=STRING)
    sums = builder.stream("unplaced-in").transform(summed, value=LONG).group_by_key()
    totals = sums.windowed_by(tumbling(MINUTE_MS)).reduce(lambda so_far, count: so_far + count)
    totals.to_stream(lambda window, _: f"{window.key}@{window.start_ms}", key=STRING).to("unplaced-out")
    with running(builder.build(), servers, tmp_path, records_per_batch_max=1_000) as app:
        wait_caught_up(app, restarts_max=0)
        assert app.metrics.records_dropped == 0
    counted = last_values(committed(servers, "unplaced-out")).values()
    assert sum(int.from_bytes(value) for value in counted if value) == total


@pytest.mark.parametrize(
    ("function", "options", "told"),
    [
        (lambda df: df.select("key", "value"), {}, "the result has no column timestamp, so the time of its"),
        (lambda df: df.drop("key"), {}, "the result has no column key"),
        (lambda df: df.withColumn("city", fn.lit(1)), {}, "a record has no place for the column city"),
        (lambda df: df.withColumn("value", fn.lit(1.5)), {}, "is double, but the stream's values are string"),
        (
            lambda df: df.withColumn("timestamp", fn.lit(1)),
            {},
            "the column timestamp is int: make it TIMESTAMP",
        ),
        (lambda df: df.join(df.select("key"), fn.lit(True)), {}, "has the column key 2 times"),
        (lambda df: df.count(), {}, "must return a DataFrame, not 0, a int"),
        (unchanged, {"schema": "a STRING"}, "the stream's values are string"),
    ],
    ids=["no-time", "no-key", "stranger", "type", "time-type", "twice", "no-frame", "not-json"],
)
def test_a_result_that_is_none_is_refused_before_anything_runs(
    function: Callable[[DataFrame], Any], options: dict[str, Any], told: str, servers: str, tmp_path: Path
) -> None:
    create_topics(servers, misfit_in=1, misfit_out=1)
    with running(transformed("misfit", function, **options), servers, tmp_path) as app:
        assert app.wait(timeout_s=PATIENCE_S) is PipelineState.FAILED
        why = app.metrics.last_error or ""
    assert told in why
    assert f"{__file__}:" in why and "transform step" in why
    assert not list(tmp_path.glob("misfit/plans/*"))


def test_a_schema_that_names_what_every_record_has(tmp_path: Path) -> None:
    session = session_of_tests()
    for schema, told in (
        ("key STRING", "names the column key, which every record has beside its value"),
        ("a STRNG", "Spark cannot read the schema 'a STRNG'"),
    ):
        builder = StreamsBuilder("schemas", key=STRING, value=JSON)
        builder.stream("schemas-in").transform(unchanged, schema=schema).to("schemas-out")
        with pytest.raises(ConfigError, match=told):
            TopologyTestDriver(builder.build(), spark=session)


def test_a_function_that_fails_is_run_again_and_leaves_nothing_behind(servers: str, tmp_path: Path) -> None:
    """It is named with its line; the batch comes once it succeeds."""
    create_topics(servers, failing_in=2, failing_out=1)
    send(servers, "failing-in", [Sent(f"k{n}", f"v{n}", n % 2) for n in range(20)])
    mended = tmp_path / "mended"

    def fails(df: DataFrame) -> DataFrame:
        if not df.isEmpty() and not mended.exists():
            raise KeyError("no such rate")
        return df

    with running(transformed("failing", fails), servers, tmp_path) as app:
        wait_for(lambda: app.metrics.restarts >= 2, "it is tried again")
        assert not committed(servers, "failing-out")
        line = fails.__code__.co_firstlineno + 2
        assert f"transform step failed: line {line}: KeyError: 'no such rate'" in (
            app.metrics.last_error or ""
        )
        mended.touch()
        wait_caught_up(app)
    found = sorted(one.value or b"" for one in committed(servers, "failing-out"))
    assert found == sorted(b"v%d" % n for n in range(20))


def test_an_error_handler_that_chooses_to_fail_ends_the_application(servers: str, tmp_path: Path) -> None:
    create_topics(servers, chosen_in=1, chosen_out=1)
    send(servers, "chosen-in", [Sent("k", "v")])

    def divides(df: DataFrame) -> DataFrame:
        return df.withColumn("value", fn.expr("raise_error('not like this')").cast("string"))

    builder = StreamsBuilder("chosen", key=STRING, value=STRING)
    builder.stream("chosen-in").transform(divides, name="step").to("chosen-out")
    topology = builder.build(error_handlers=ErrorHandlers(processing="fail"))
    with running(topology, servers, tmp_path) as app:
        assert app.wait(timeout_s=PATIENCE_S) is PipelineState.FAILED
        assert "transform step failed" in (app.metrics.last_error or "")
        assert "not like this" in (app.metrics.last_error or "")


def test_a_function_that_does_not_return_is_given_up(servers: str, tmp_path: Path) -> None:
    """So is a Spark job: both count against the application's time limit."""
    create_topics(servers, stuck_in=1, stuck_out=1)
    send(servers, "stuck-in", [Sent("k", "v")])
    mended = tmp_path / "mended"

    def sticks(df: DataFrame) -> DataFrame:
        def slowly(value):  # type: ignore[no-untyped-def]
            while not mended.exists():
                time.sleep(0.1)
            return value

        return df.withColumn("value", fn.udf(slowly, "string")("value"))

    with running(transformed("stuck", sticks), servers, tmp_path, record_ms_max=15_000) as app:
        wait_for(lambda: app.metrics.restarts > 0, "it is given up")
        assert "has not returned within 15000 ms" in (app.metrics.last_error or "")
        mended.touch()
        wait_caught_up(app)
    assert [one.value for one in committed(servers, "stuck-out")] == [b"v"]


def test_records_that_do_not_fit_and_rows_no_broker_takes_are_dead_letters(
    servers: str, tmp_path: Path
) -> None:
    """A record that is not of the schema is told with its coordinates, a row that is too large without: what it was
    made of is not known. All others come through, once."""
    create_topics(servers, poison_in=2, poison_out=1)
    good = [Sent(f"k{n}", json.dumps({"amount": n}), n % 2, BEGIN_MS + n) for n in range(50)]
    bad = Sent("bad", json.dumps({"amount": "much"}), 1, BEGIN_MS + 60)
    large = Sent("large", json.dumps({"amount": -1}), 0, BEGIN_MS + 61)
    send(servers, "poison-in", [*good, bad, large])

    def grown(df: DataFrame) -> DataFrame:
        text = fn.when(fn.col("amount") < 0, fn.repeat(fn.lit("x"), 2_000_000)).otherwise("small")
        return df.withColumn("text", text)

    builder = StreamsBuilder("poison", key=STRING, value=JSON)
    stream = builder.stream("poison-in").transform(grown, schema="amount LONG", name="step")
    stream.map_values(lambda value: value["amount"]).to("poison-out")
    with running(builder.build(), servers, tmp_path) as app:
        wait_caught_up(app, restarts_max=0)
        wait_for(lambda: app.metrics.records_dead == 2, "both are counted")
    assert sorted(json.loads(one.value or b"") for one in committed(servers, "poison-out")) == list(range(50))
    dead = {one.key: one.headers for one in committed(servers, "poison-dlq")}
    assert dead.keys() == {b"bad", b"large"}
    assert dead[b"bad"]["__streams.errors.topic"] == b"poison-step-transform-in"
    assert b"'much' is no bigint" in dead[b"bad"]["__streams.errors.message"]
    assert dead[b"large"]["__streams.errors.topic"] == b"poison-step-transform-out"


def test_the_topology_test_driver_runs_it_with_a_session() -> None:
    """All that one pipe brings is one batch. A record without a value has no field, both ways."""
    seen = []

    def doubled(df: DataFrame) -> DataFrame:
        seen.append(df.count())
        return df.withColumn("amount", fn.col("amount") * 2)

    builder = StreamsBuilder("tested", key=STRING, value=JSON)
    stream = builder.stream("tested-in").transform(doubled, schema="amount LONG, note STRING")
    stream.to("tested-out")
    with TopologyTestDriver(builder.build(), spark=session_of_tests()) as driver:
        header = (("trace", b"1"),)
        driver.pipe("tested-in", "a", {"amount": 1, "note": "n"}, timestamp_ms=5, headers=header)
        driver.pipe_all("tested-in", [("b", {"amount": 2}, 7), ("c", None, 6)])
        told = [tuple(one) for one in driver.read_records("tested-out")]
    assert told == [
        ("a", {"amount": 2, "note": "n"}, 5, header),
        ("b", {"amount": 4, "note": None}, 7, ()),
        ("c", None, 6, ()),
    ]
    assert seen == [0, 1, 2]
