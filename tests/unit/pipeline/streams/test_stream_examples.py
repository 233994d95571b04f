"""The examples under examples/streams, each through the driver."""

import json
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from moldau.pipeline.streams import Topology
from moldau.testing import TopologyTestDriver

EXAMPLES = Path(__file__).parents[4] / "examples" / "streams"


@pytest.fixture(autouse=True)
def importable() -> Iterator[None]:
    sys.path.insert(0, str(EXAMPLES))
    yield
    sys.path.remove(str(EXAMPLES))


def example(name: str, *arguments: Any) -> Topology:
    topology: Topology = import_module(name).build(*arguments)
    return topology


def test_every_example_is_tested_here() -> None:
    tested = Path(__file__).read_text()
    assert [file.name for file in EXAMPLES.glob("*.py") if f'"{file.stem}"' not in tested] == []


def test_upper_case() -> None:
    with TopologyTestDriver(example("upper_case")) as driver:
        driver.pipe_all("TextLinesTopic", [(None, "Moldau flows"), (None, "through Prague")])
        assert driver.read("UppercasedTextLinesTopic") == [(None, "MOLDAU FLOWS"), (None, "THROUGH PRAGUE")]


def test_word_count() -> None:
    with TopologyTestDriver(example("word_count")) as driver:
        driver.pipe("TextLinesTopic", None, "all streams lead to Kafka")
        driver.pipe("TextLinesTopic", None, "Hello Kafka, streams!")
        assert driver.read_table("WordsWithCountsTopic") == {
            "all": 1,
            "streams": 2,
            "lead": 1,
            "to": 1,
            "kafka": 2,
            "hello": 1,
        }
        assert driver.store("Counts").get("kafka") == 2


def test_vehicle_positions() -> None:
    with TopologyTestDriver(example("vehicle_positions", "mock://vehicles")) as driver:
        driver.pipe("vehicle-positions", "v1", {"veh": 12, "lat": 60.2, "long": 24.9, "spd": 3.5})
        driver.pipe("vehicle-positions", "v2", {"desi": "no position"})
        [record] = driver.read_bytes("vehicle-positions-avro")
        assert (record.key, record.value is not None and record.value[:1]) == (b"v1", b"\x00")
        driver.pipe("vehicle-positions", "v1", {"veh": 12, "lat": 60.3, "long": 24.9})
        assert driver.read("vehicle-positions-avro") == [
            ("v1", {"vehicle": "12", "latitude": 60.3, "longitude": 24.9, "speed": None})
        ]


def test_page_views() -> None:
    views = [("u1", 0), ("u2", 10), ("u1", 299_999), ("u1", 300_000)]
    with TopologyTestDriver(example("page_views")) as driver:
        for user, time_ms in views:
            driver.pipe("pageviews", None, {"viewtime": time_ms, "user_id": user, "page_id": "p"})
        assert driver.read_table("pageviews-per-user") == {"u1@0": 2, "u2@0": 1, "u1@300000": 1}
        assert driver.store("views-per-user").get("u1", 300_000) == 1


def test_fraud_filter() -> None:
    with TopologyTestDriver(example("fraud_filter")) as driver:
        for probability in (0.2, 0.8, 0.81, None):
            driver.pipe("payments", "card", {"fraudProbability": probability})
        assert driver.read("fraudulent-payments") == [("card", {"fraudProbability": 0.81})]


def test_stream_and_table() -> None:
    with TopologyTestDriver(example("stream_and_table")) as driver:
        driver.pipe_all("fruit", [("apple", 1), ("apple", 5)])
        assert driver.store("as-stream").get("apple") == 6
        assert driver.store("as-table").get("apple") == 5
        assert driver.read("totals") == [("apple", 1), ("apple", 6)]
        assert driver.read("latest") == [("apple", 1), ("apple", 5)]


def test_order_enrichment() -> None:
    with TopologyTestDriver(example("order_enrichment")) as driver:
        driver.pipe("customers", "c1", {"name": "Ada"})
        driver.pipe("orders", "o1", {"customer_id": "c1", "total": 10})
        driver.pipe("orders", "o2", {"customer_id": "c9", "total": 20})
        assert [value["customer"] for _, value in driver.read("enriched-orders")] == ["Ada", None]


def test_prediction() -> None:
    with TopologyTestDriver(example("prediction")) as driver:
        driver.pipe_all("deliveries", [(None, "0,0"), (None, "10,2")])
        assert driver.read("predictions") == [(None, "Prediction => 0.525"), (None, "Prediction => 0.999")]


def test_json_stays_json() -> None:
    with TopologyTestDriver(example("fraud_filter")) as driver:
        driver.pipe("payments", "card", {"fraudProbability": 0.9, "amount": 5})
        [record] = driver.read_bytes("fraudulent-payments")
        assert json.loads(record.value or b"") == {"fraudProbability": 0.9, "amount": 5}
