"""Rates by the clock, lag, and where counters begin."""

import time

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


def test_the_lag_is_unknown_until_somebody_has_looked() -> None:
    measured = BatchMetrics()
    metrics = measured.snapshot()
    assert (metrics.lag_records, metrics.lag_ms) == (None, None)
    measured.reached({"lines": {0: 3}}, {"lines": {0: 10}})
    assert measured.snapshot().lag_records == 7
    measured.reached({"lines": {0: 10}}, {"lines": {0: 10}})
    metrics = measured.snapshot()
    assert (metrics.lag_records, metrics.lag_ms) == (0, 0)


def test_the_counters_say_since_when_they_count() -> None:
    before_ms = int(time.time() * 1000)
    since_ms = BatchMetrics().snapshot().counting_since_ms
    assert before_ms <= since_ms <= int(time.time() * 1000)
