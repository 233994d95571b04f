"""A table that keeps its history, on Spark: rows that came late and records that wait outlive the application's run."""

import time
from pathlib import Path

from e2e.spark.kit import PATIENCE_S, Sent, committed, create_topics, running, send, wait_caught_up
from moldau.pipeline.streams import STRING, StreamsBuilder, Topology
from moldau.pipeline.views.view_host import ViewHost

HOUR_MS = 3_600_000


def exchange() -> Topology:
    builder = StreamsBuilder("exchange", key=STRING, value=STRING)
    rates = builder.table("exchange-rates", store="rates", history_ms=HOUR_MS)
    payments = builder.stream("exchange-payments")
    payments.join(rates, lambda payment, rate: f"{payment} at {rate}", grace_ms=1_000).to("exchange-booked")
    return builder.build()


def test_a_record_that_waits_sees_the_row_of_its_time_after_a_restart(servers: str, tmp_path: Path) -> None:
    # Of today: the broker may compact a changelog's records once they are older than the history and a day.
    old_ms, paid_ms, new_ms, later_ms = (
        int(time.time() * 1000) + after for after in (0, 10_000, 40_000, 50_000)
    )
    create_topics(servers, exchange_rates=2, exchange_payments=2, exchange_booked=1)
    send(servers, "exchange-rates", [Sent("EUR", "25.1", -1, new_ms), Sent("EUR", "24.9", -1, old_ms)])
    send(servers, "exchange-payments", [Sent("EUR", "10", -1, paid_ms)])
    with running(exchange(), servers, tmp_path) as app:
        wait_caught_up(app)
    assert committed(servers, "exchange-booked") == []

    send(servers, "exchange-payments", [Sent("EUR", "20", -1, later_ms)])
    with running(exchange(), servers, tmp_path) as app:
        wait_caught_up(app)
    (booked,) = committed(servers, "exchange-booked")
    assert (booked.timestamp_ms, booked.value) == (paid_ms, b"10 at 24.9")

    views = ViewHost(exchange(), "exchange", {"bootstrap.servers": servers})
    views.start()
    try:
        assert views.wait_ready(PATIENCE_S)
        rates = [views["rates"].get("EUR", at_ms) for at_ms in (old_ms - 1, new_ms - 1, new_ms)]
        assert rates == [None, "24.9", "25.1"]
    finally:
        views.stop()
