"""A user's options, and what is planned from them."""

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'moldau[spark]'")

from moldau.core.errors import ConfigError
from moldau.spark.options import Position, SinkOptions, SourceOptions
from moldau.spark.range_rows import OffsetRange
from moldau.spark.readers import limited, ranges
from moldau.spark.topics import Place, Subscription

A0, A1, B0 = Place("a", 0), Place("a", 1), Place("b", 0)


def source(**options: str) -> SourceOptions:
    named = {name.replace("__", ".").lower(): value for name, value in options.items()}
    if not named.keys() & {"subscribepattern", "assign"}:
        named["subscribe"] = named.get("subscribe", "a, b")
    return SourceOptions.parse({"kafka.bootstrap.servers": "here:9092", **named})


def test_the_words_of_sparks_connector_are_understood() -> None:
    parsed = source(
        startingOffsets='{"a": {"0": 5, "1": -2}}',
        endingTimestamp="12",
        startingOffsetsByTimestampStrategy="latest",
        maxOffsetsPerTrigger="7",
        failOnDataLoss="FALSE",
        includeHeaders="true",
        kafka__security__protocol="SSL",
        kafkaConsumer__pollTimeoutMs="100",
    )
    assert parsed.bootstrap_servers == "here:9092"
    assert parsed.subscription == Subscription(topics=("a", "b"))
    assert parsed.starting == Position(of_partitions={"a": {0: 5, 1: -2}})
    assert parsed.ending == Position(timestamp_ms=12)
    assert (parsed.timestamp_strategy, parsed.offsets_per_trigger_max) == ("latest", 7)
    assert (parsed.fail_on_data_loss, parsed.include_headers, parsed.permissive) == (False, True, False)
    assert parsed.kafka == {"security.protocol": "SSL"}
    assert source(assign='{"a": [0, 2]}').subscription == Subscription(assigned={"a": (0, 2)})


def test_a_time_goes_before_times_by_partition_and_these_before_offsets() -> None:
    both = {"startingOffsets": "earliest", "startingOffsetsByTimestamp": '{"a": {"0": 9}}'}
    assert source(**both).starting == Position(of_partitions={"a": {0: 9}}, are_timestamps=True)
    assert source(**both, startingTimestamp="3").starting == Position(timestamp_ms=3)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"subscibe": "x"}, "Did you mean subscribe"),
        ({"subscribe": "a", "assign": "{}"}, "exactly one of"),
        ({"subscribePattern": "("}, "no regular expression"),
        ({"assign": "[1]"}, "must be JSON"),
        ({"maxOffsetsPerTrigger": "0"}, "whole number of at least 1"),
        ({"endingOffsets": "earliest"}, "must be JSON"),
        ({"mode": "dropmalformed"}, "must be one of failfast, permissive"),
        ({"startingTimestamp": "yesterday"}, "milliseconds since 1970"),
    ],
)
def test_what_makes_no_sense_is_refused(options: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        source(**options)


def test_brokers_must_be_named() -> None:
    with pytest.raises(ConfigError, match="no brokers given"):
        SinkOptions.parse({"topic": "x"})


@pytest.mark.parametrize(
    ("records_max", "expected"),
    [(1, 1), (10, 10), (59, 59), (60, 60), (1000, 60)],
)
def test_a_limit_is_kept_and_reached(records_max: int, expected: int) -> None:
    starts, ends = {A0: 0, A1: 10, B0: 5}, {A0: 50, A1: 10, B0: 15}
    got = limited(starts, ends, records_max)
    assert sum(got.values()) - sum(starts.values()) == expected
    assert all(starts[place] <= got[place] <= ends[place] for place in ends)


def test_ranges_are_split_on_demand() -> None:
    starts, ends = {A0: 0, A1: 7, B0: 0}, {A0: 90, A1: 7, B0: 10}
    assert ranges(source(), starts, ends) == [OffsetRange(A0, 0, 90), OffsetRange(B0, 0, 10)]
    split = ranges(source(minPartitions="10"), starts, ends)
    assert len(split) == 10
    assert split[0] == OffsetRange(A0, 0, 10)
    small = ranges(source(maxRecordsPerPartition="40"), starts, ends)
    assert [(one.start, one.end) for one in small if isinstance(one, OffsetRange)] == [
        (0, 30),
        (30, 60),
        (60, 90),
        (0, 10),
    ]
