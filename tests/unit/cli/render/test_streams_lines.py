"""What `streams run` prints of a status, and when."""

import json
from typing import Any

import pytest

from moldau.cli.local.streams_driver import Printer
from moldau.cli.render.streams_lines import duration_text, progress_line, state_line

CALM: dict[str, Any] = {
    "application_id": "shop",
    "state": "running",
    "batches": 3,
    "records_in": 120,
    "records_out": 80,
    "records_dead": 0,
    "records_dropped": 0,
    "dropped": {},
    "records_in_per_s": 12.4,
    "records_out_per_s": 8.0,
    "lag_records": 0,
    "lag_ms": 0,
    "batch_ms": 210,
    "restarts": 0,
    "retry_at_ms": 0,
    "last_error": None,
    "dead_letter_topic": "shop-dlq",
    "file": "shop.py",
    "wanted": "running",
    "hosted": 2,
}


def test_a_calm_application_has_a_short_line() -> None:
    assert progress_line(CALM, 0) == "shop 120 records in, 80 out, 12 records/s, lag 0, batch 210 ms"


def test_what_should_not_be_is_told_by_operator_and_reason() -> None:
    dropped = {
        "window-count late": {"records": 17, "late_ms_max": 42_000},
        "by-user null key": {"records": 2, "late_ms_max": 0},
    }
    status = {
        **CALM,
        "dropped": dropped,
        "records_dead": 3,
        "restarts": 1,
        "lag_records": 900,
        "lag_ms": 1_500,
    }
    assert progress_line(status, 0) == (
        "shop 120 records in, 80 out, 12 records/s, lag 900 (1.5 s behind), batch 210 ms; "
        "17 late at window-count (the latest by 42 s); 2 without a key at by-user; "
        "3 dead letters in shop-dlq; 1 restart"
    )


def test_lag_is_not_told_before_it_is_known() -> None:
    assert "lag not known yet" in progress_line({**CALM, "lag_records": None, "lag_ms": None}, 0)


def test_restarting_says_when_and_why() -> None:
    status = {**CALM, "state": "restarting", "retry_at_ms": 10_500, "last_error": "the broker is away"}
    line = state_line(status, 8_000)
    assert line.startswith("shop restarting at ") and line.endswith("(in 2.5 s): the broker is away")
    # The wait is over, the attempt goes on.
    assert state_line({**status, "retry_at_ms": 0}, 8_000) == "shop restarting now: the broker is away"


def test_an_old_error_is_not_told_of_one_that_runs() -> None:
    assert state_line({**CALM, "last_error": "long past"}, 0) == "shop running"


def test_the_last_line_sums_up() -> None:
    stopped = {**CALM, "state": "stopped", "restarts": 2}
    assert state_line(stopped, 0) == "shop stopped: 120 records in, 80 out, lag 0; 2 restarts"
    unknown = {**stopped, "lag_records": None, "restarts": 0}
    assert state_line(unknown, 0) == "shop stopped: 120 records in, 80 out"


def test_it_stops_with_the_lag_it_had(capsys: pytest.CaptureFixture[str]) -> None:
    printer = Printer(as_json=False)
    end = {**CALM, "state": "stopped", "lag_records": None, "lag_ms": None}
    assert heard(capsys, printer, {**CALM, "lag_records": 4}, end)[-1].endswith("80 out, lag 4")


@pytest.mark.parametrize(
    ("span_ms", "text"), [(0, "0 ms"), (999, "999 ms"), (1_500, "1.5 s"), (125_000, "2m5s")]
)
def test_durations(span_ms: int, text: str) -> None:
    assert duration_text(span_ms) == text


def heard(capsys: pytest.CaptureFixture[str], printer: Printer, *statuses: dict[str, Any]) -> list[str]:
    for status in statuses:
        printer.hear(status)
    return capsys.readouterr().out.splitlines()


def test_each_application_is_told_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    printer = Printer(as_json=False)
    other = {**CALM, "application_id": "till", "state": "failed", "last_error": "no topic"}
    assert heard(capsys, printer, {**CALM, "state": "created"}, CALM, other) == [
        "shop running",
        "till failed: no topic",
    ]
    assert [status["application_id"] for status in printer.failed] == ["till"]


def test_why_the_only_application_failed_is_left_to_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    printer = Printer(as_json=False)
    assert heard(capsys, printer, {**CALM, "state": "failed", "last_error": "x", "hosted": 1}) == []


def test_lag_without_a_record_read_has_a_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moldau.cli.local.streams_driver.PROGRESS_EVERY_S", 0.0)
    printer = Printer(as_json=False)
    still = {**CALM, "records_in": 0, "records_out": 0}
    assert heard(capsys, printer, still, still) == ["shop running"]
    behind = {**still, "lag_records": 5, "lag_ms": 20}
    (line,) = heard(capsys, printer, behind)
    assert "lag 5 (20 ms behind)" in line
    # Each attempt of one that cannot start is told, not each time its state is heard.
    again = {**still, "state": "restarting", "restarts": 1, "retry_at_ms": 1, "last_error": "away"}
    assert len(heard(capsys, printer, again, again, {**again, "restarts": 2})) == 2


def test_json_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    printer = Printer(as_json=True)
    lines = heard(capsys, printer, CALM, {**CALM, "state": "stopped"})
    assert [json.loads(line)["event"] for line in lines] == ["state", "end"]
    assert json.loads(lines[0])["lag_records"] == 0
