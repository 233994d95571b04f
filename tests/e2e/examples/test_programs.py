"""The programs under examples/, each run against a broker. Those of streams and SQL have tests of their own."""

import pytest

from e2e.examples.programs import EXAMPLES, run_python
from e2e.spark_session import session_of_tests
from moldau.testing import LocalCluster

pytestmark = pytest.mark.slow
TESTED_ELSEWHERE = {"streams", "sql_functions"}


def test_every_program_is_run_here() -> None:
    tested = {"produce_and_consume", "orders", "test_orders", "avro_round_trip", "order_totals"}
    found = {path.stem for path in EXAMPLES.rglob("*.py") if path.parent.name not in TESTED_ELSEWHERE}
    assert found == tested


def test_produce_and_consume() -> None:
    with LocalCluster() as cluster:
        program = "examples/clients/produce_and_consume.py"
        lines = run_python(program, cluster.bootstrap_servers).splitlines()
        assert lines == ["greetings[0]@0 cs: ahoj", "greetings[0]@1 en: hello", "greetings[0]@2 es: hola"]
        # What was committed is not read again.
        again = run_python(program, cluster.bootstrap_servers).splitlines()
        assert again[0] == "greetings[0]@3 cs: ahoj"


def test_orders_with_the_test_kit() -> None:
    said = run_python("-m", "pytest", "-q", "-p", "no:cacheprovider", "examples/testing")
    assert "1 passed" in said


def test_avro_round_trip() -> None:
    with LocalCluster(registry=True) as cluster:
        said = run_python(
            "examples/schema_registry/avro_round_trip.py", cluster.bootstrap_servers, cluster.registry_url
        )
    first, second, rejected = said.split("\n", 2)
    assert first == "{'item': 'apples', 'amount': 1.0}"
    assert second == "{'item': 'pears', 'amount': 2.5}"
    assert "buyer" in rejected and "has no default" in rejected


def test_order_totals() -> None:
    # Skips where Spark cannot run.
    session_of_tests()
    with LocalCluster() as cluster:
        said = run_python("examples/dataframes/order_totals.py", cluster.bootstrap_servers)
    assert [line for line in said.splitlines() if line.startswith("|")] == [
        "|customer|total|",
        "|   alice|  4.0|",
        "|     bob|  4.0|",
    ]
