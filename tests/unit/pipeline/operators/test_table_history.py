"""Tables that keep their history: late rows, rows as of a record's time, and records that wait for them."""

from moldau.pipeline.streams import STRING, StreamsBuilder, Topology
from moldau.testing import TopologyTestDriver


def joined(left: str, right: str | None) -> str:
    return f"{left}-{right}"


def prices(*, grace_ms: int | None = None) -> Topology:
    builder = StreamsBuilder("shop", key=STRING, value=STRING)
    table = builder.table("prices", store="prices", history_ms=100)
    orders = builder.stream("orders")
    orders.left_join(table.map_values(str.upper), joined, grace_ms=grace_ms).to("priced")
    table.group_by(lambda key, value: ("all", value)).count().to_stream().map_values(str, value=STRING).to(
        "counted"
    )
    return builder.build()


def test_a_record_sees_the_row_of_its_own_time() -> None:
    with TopologyTestDriver(prices()) as driver:
        driver.pipe_all("prices", [("pear", "one", 10), ("pear", "two", 50)])
        driver.pipe_all("orders", [("pear", "o", 9), ("pear", "o", 10), ("pear", "o", 49), ("pear", "o", 60)])
        assert [value for _, value in driver.read("priced")] == ["o-None", "o-ONE", "o-ONE", "o-TWO"]
        driver.pipe("prices", "pear", None, 30)
        driver.pipe("orders", "pear", "o", 40)
        assert driver.read("priced") == [("pear", "o-None")]
        store = driver.store("prices")
        assert (store.get("pear"), store.get("pear", 29), store.get("pear", 30)) == ("two", "one", None)
        assert store.history("pear") == [(10, "one"), (30, None), (50, "two")]


def test_what_follows_the_present_does_not_hear_of_late_rows() -> None:
    with TopologyTestDriver(prices()) as driver:
        driver.pipe_all("prices", [("pear", "one", 10), ("pear", "late", 5), ("pear", None, 3)])
        assert driver.read("counted") == [("all", "1")]


def test_a_record_waits_for_rows_that_come_late() -> None:
    with TopologyTestDriver(prices(grace_ms=20)) as driver:
        driver.pipe("orders", "pear", "first", 10, headers=(("h", b"1"),))
        driver.pipe("prices", "pear", "late", 5)
        driver.pipe("orders", "plum", "second", 29)
        assert driver.read("priced") == []
        driver.pipe("orders", "pear", "third", 30)
        (told,) = driver.read_records("priced")
        assert told == ("pear", "first-LATE", 10, (("h", b"1"),))
        driver.pipe("orders", "pear", "too late to wait", 9)
        assert driver.read("priced") == [("pear", "too late to wait-LATE")]


def test_records_that_wait_survive_a_restart() -> None:
    with TopologyTestDriver(prices(grace_ms=20)) as driver:
        driver.pipe("prices", "pear", "one", 5)
        driver.pipe_all("orders", [("pear", "a", 10), ("pear", "b", 10)])
        snapshot = driver.snapshot()
    with TopologyTestDriver(prices(grace_ms=20)) as again:
        again.restore(snapshot)
        again.pipe("orders", "pear", "c", 40)
        assert [value for _, value in again.read("priced")] == ["a-ONE", "b-ONE"]
