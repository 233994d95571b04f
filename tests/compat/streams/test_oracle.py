"""The same topologies and input through Kafka's TopologyTestDriver and through ours: equal outputs, equal stores."""

from collections import Counter
from typing import Any

import pytest

from compat.streams.cases import make_case, make_history_case
from compat.streams.described import run
from compat.streams.oracle import answers
from kafka_jars import KafkaJarsUnavailable

CASES = 400
HISTORY_CASES = 120
EVERY_OPERATOR = {
    "stream", "table", "global_table", "filter", "filter_not", "map", "map_values", "flat_map", "flat_map_values",
    "select_key", "peek", "merge", "branch", "repartition", "to_table", "process", "process_values", "count", "reduce",
    "aggregate", "cogroup", "join", "left_join", "outer_join", "transform_values", "to_stream", "plain_stream", "group",
    "suppress",
}  # fmt: skip

pytestmark = [pytest.mark.java, pytest.mark.slow]


@pytest.fixture(scope="module")
def cases() -> list[dict[str, Any]]:
    histories = [make_history_case(seed) for seed in range(HISTORY_CASES)]
    return [*map(make_case, range(CASES)), *histories]


@pytest.fixture(scope="module")
def kafka_says(cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    try:
        return answers(cases)
    except KafkaJarsUnavailable as reason:
        pytest.skip(str(reason))


def test_the_cases_cover_every_operator(cases: list[dict[str, Any]]) -> None:
    used = Counter(op["op"] for case in cases for op in case["ops"])
    assert {op for op in EVERY_OPERATOR if used[op] < 5} == set()
    with_history = Counter(field for case in cases for op in case["ops"] for field in op)
    assert with_history["history"] > 100
    assert with_history["table_grace"] > 20


def test_outputs_and_stores_equal_kafkas(
    cases: list[dict[str, Any]], kafka_says: list[dict[str, Any]]
) -> None:
    wrong = [
        seed for seed, (case, told) in enumerate(zip(cases, kafka_says, strict=True)) if differs(case, told)
    ]
    assert wrong == [], (
        f"cases {wrong} differ from Kafka Streams; look at one with make_case(seed), from {CASES} on with "
        f"make_history_case(seed - {CASES}), and run(case)"
    )


def test_cases_say_something(kafka_says: list[dict[str, Any]]) -> None:
    """A comparison of nothing with nothing would show nothing."""
    written = [sum(map(len, told["outputs"].values())) for told in kafka_says]
    assert sum(count > 10 for count in written) > CASES // 2


def differs(case: dict[str, Any], told: dict[str, Any]) -> bool:
    assert "error" not in told, told["error"]
    ours = run(case)
    return ours["outputs"] != told["outputs"] or _sorted(ours["stores"]) != _sorted(told["stores"])


def _sorted(stores: dict[str, list[Any]]) -> dict[str, list[list[Any]]]:
    """Rows by key; timestamps of windows are not shown by our view."""
    return {name: sorted(row[:2] for row in rows) for name, rows in stores.items()}
