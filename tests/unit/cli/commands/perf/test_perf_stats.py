"""Figures of measurements, in the lines that Kafka's perf tools print."""

import re

import pytest

from moldau.cli.commands.perf import perf_stats
from moldau.cli.commands.perf.perf_stats import (
    CONSUMED_HEADING,
    MEBIBYTE,
    Consumed,
    Latencies,
    Produced,
    Window,
    latency_lines,
)


def latencies(*figures: float) -> Latencies:
    found = Latencies()
    for figure in figures:
        found.add(figure)
    return found


def test_percentiles_are_figures_that_were_measured() -> None:
    found = latencies(*(float(number) for number in range(1000, 0, -1)))
    assert found.percentiles_ms() == [501.0, 951.0, 991.0, 1000.0]
    assert (found.average_ms, found.max_ms) == (500.5, 1000.0)
    assert latencies(7.0).percentiles_ms() == [7.0] * 4
    assert latencies().percentiles_ms() == [0.0] * 4


def test_very_many_are_sampled_without_favour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(perf_stats, "SAMPLES_MAX", 1_000)
    found = latencies(*(float(number) for number in range(50_000)))
    [median] = found.percentiles_ms((50,))
    assert 22_000 < median < 28_000
    assert (found.count, found.max_ms) == (50_000, 49_999.0)


def test_the_line_of_the_producer_is_kafkas() -> None:
    done = Produced(2, 2 * MEBIBYTE, 0.5, latencies(1.25, 3.75))
    assert done.line() == (
        "2 records sent, 4.000000 records/sec (4.00 MB/sec), 2.50 ms avg latency, 3.75 ms max latency, "
        "4 ms 50th, 4 ms 95th, 4 ms 99th, 4 ms 99.9th."
    )
    assert done.as_json()["latency_ms_99_9th"] == 3.75


def test_the_line_on_the_way_is_of_the_last_few_seconds() -> None:
    window = Window(10.0)
    for latency_ms in (1.0, 2.0):
        window.add(MEBIBYTE, latency_ms)
    assert (
        window.line(12.0)
        == "2 records sent, 1.0 records/sec (1.00 MB/sec), 1.5 ms avg latency, 2.0 ms max latency."
    )


def test_the_line_of_the_consumer_has_kafkas_columns() -> None:
    cells = Consumed(1_000_000_000.25, 1_000_000_002.25, 1.5, 100, MEBIBYTE).line().split(", ")
    assert len(cells) == len(CONSUMED_HEADING.split(", "))
    assert re.fullmatch(r"2001-09-\d\d \d\d:\d\d:\d\d:250", cells[0])
    assert cells[2:] == ["1.0000", "0.5000", "100", "50.0000", "1500", "500", "2.0000", "200.0000"]


def test_the_lines_of_round_trips() -> None:
    assert latency_lines(latencies(1.0, 3.0)) == (
        "Avg latency: 2.0000 ms\nPercentiles: 50th = 3.000, 99th = 3.000, 99.9th = 3.000"
    )
