"""Rates by the clock."""

from moldau.pipeline.spark.driver.batch_metrics import BatchMetrics
from moldau.pipeline.spark.orders import SlotReport


def test_rates_are_those_of_the_last_seconds_and_come_down_to_nothing() -> None:
    now = [100.0]
    measured = BatchMetrics(lambda: now[0])
    assert measured.snapshot().records_in_per_s == 0
    measured.batch_done(0, {}, {}, [SlotReport(0, records_in=500, records_out=50)], 0.5)
    assert measured.snapshot().records_in_per_s == 1_000
    now[0] = 104.5
    assert (measured.snapshot().records_in_per_s, measured.snapshot().records_out_per_s) == (100, 10)
    now[0] = 111.0
    metrics = measured.snapshot()
    assert (metrics.records_in_per_s, metrics.records_in) == (0, 500)
