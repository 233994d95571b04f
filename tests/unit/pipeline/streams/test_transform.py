"""`transform` in a topology: where it cuts it, what is shown of it, what goes to the workers, what is refused."""

import inspect
import pickle
import re
from collections.abc import Callable
from typing import Any

import pytest
from pyspark.cloudpickle import dumps
from pyspark.sql import DataFrame, SparkSession

from moldau.core.errors import ConfigError
from moldau.pipeline.plan.nodes import Transform, transforms_of
from moldau.pipeline.plan.partitions import settle_partitions
from moldau.pipeline.streams import JSON, LONG, STRING, Guarantee, StreamsBuilder, Topology, col, tumbling
from moldau.pipeline.streams.travel import check_travels
from moldau.testing import TopologyTestDriver


def unchanged(df: Any) -> Any:
    return df


def built(**options: Any) -> Topology:
    builder = StreamsBuilder("app", key=STRING, value=JSON)
    stream = builder.stream("in").transform(unchanged, name="enrich", **options)
    stream.group_by_key().windowed_by(tumbling(1_000)).count(store="counts").to_stream(
        lambda window, _: window.key
    ).to("out", value=LONG)
    return builder.build()


def test_it_cuts_the_topology_twice() -> None:
    """What follows reads the topic behind it as it would a repartition topic: nothing is repartitioned again."""
    topology = built()
    assert [one.name for one in topology.repartition_topics] == [
        "app-enrich-transform-in",
        "app-enrich-transform-out",
    ]
    before, step, after = topology.sub_topologies
    assert before.sink_topics == step.source_topics == ("app-enrich-transform-in",)
    assert step.sink_topics == after.source_topics == ("app-enrich-transform-out",)
    assert topology.transform_parts == (step,)
    assert step.transform == topology["enrich"] and before.transform is None
    assert topology.source_topics == ("in",)


def test_its_topics_have_the_partitions_of_what_flows_in_unless_it_says() -> None:
    assert settle_partitions(built(), {"in": 3}) == {
        "app-enrich-transform-in": 3,
        "app-enrich-transform-out": 3,
    }
    assert settle_partitions(built(partitions=5), {"in": 3})["app-enrich-transform-out"] == 5


def test_it_is_shown() -> None:
    topology = built(schema="user STRING")
    assert "Processor: enrich (transform, stores: [])" in topology.describe()
    assert "transform<br/>enrich" in topology.graph()
    assert topology.fingerprint == built(schema="user STRING").fingerprint != built().fingerprint


def test_serdes_of_what_comes_out() -> None:
    builder = StreamsBuilder("app", key=STRING, value=STRING)
    stream = builder.stream("in").transform(unchanged, key=LONG, value=JSON)
    assert (stream.key_serde, stream.value_serde) == (LONG, JSON)
    same = builder.stream("in").transform(unchanged)
    assert (same.key_serde, same.value_serde) == (STRING, STRING)


def test_the_function_stays_at_the_driver() -> None:
    """So it may hold what cannot travel: a session, a DataFrame, an open file."""
    session = object.__new__(SparkSession)
    users = object.__new__(DataFrame)

    def joined(df: DataFrame) -> DataFrame:
        return session.sql("...").join(users).join(df)

    builder = StreamsBuilder("app", key=STRING, value=STRING)
    builder.stream("in").transform(joined).to("out")
    topology = builder.build()
    assert check_travels(topology, dumps) == []  # type: ignore[arg-type]
    (there,) = transforms_of(pickle.loads(dumps(topology)).nodes)  # type: ignore[no-untyped-call]
    assert there.function is None
    (here,) = transforms_of(topology.nodes)
    assert here.function is joined and isinstance(here, Transform)


def refused(mistake: Callable[[], object]) -> str:
    with pytest.raises(ConfigError) as caught:
        mistake()
    message = str(caught.value)
    lines, first = inspect.getsourcelines(mistake)
    place = re.match(r"(.*):(\d+): ", message)
    assert place is not None and place[1] == __file__, message
    assert first <= int(place[2]) < first + len(lines)
    return message


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"function": None}, "the function here must be a function of (df), not None"),
        ({"function": lambda: None}, "the function here must be a function of (df); `<lambda>` takes ()"),
        (
            {"function": col("amount")},
            "transform() takes a function of a DataFrame; a column expression is for map",
        ),
        ({"function": unchanged, "schema": " "}, "schema='user STRING, amount DOUBLE', not ' '"),
        ({"function": unchanged, "value": str}, "`str` is no serde"),
        ({"function": unchanged, "partitions": -1}, "a topic cannot have -1 partitions"),
        ({"function": unchanged, "name": "my step"}, "the name 'my step'"),
    ],
    ids=["none", "arguments", "expression", "schema", "serde", "partitions", "name"],
)
def test_mistakes(given: dict[str, Any], told: str) -> None:
    def mistake() -> None:
        StreamsBuilder("app", key=STRING, value=STRING).stream("in").transform(**given)

    assert told in refused(mistake)


def test_a_test_driver_without_spark_says_how_it_gets_one() -> None:
    def mistake() -> None:
        builder = StreamsBuilder("app", key=STRING, value=STRING)
        builder.stream("in").transform(unchanged, name="step").to("out")
        TopologyTestDriver(builder.build())

    assert "TopologyTestDriver(topology, spark=session) runs it" in refused(mistake)


def test_real_time_mode_refuses_it() -> None:
    from moldau.pipeline.spark.real_time.real_time_plan import real_time_chain

    builder = StreamsBuilder("app", key=STRING, value=STRING)
    builder.stream("in").transform(unchanged).to("out")
    with pytest.raises(ConfigError) as caught:
        real_time_chain(builder.build(guarantee=Guarantee.AT_LEAST_ONCE))
    assert f"transform at {__file__}:" in str(caught.value)
    assert "Or use latency micro_batch" in str(caught.value)
