"""The race's verdicts: the harness, not prose, says whether a bar was met."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "bench"))

from measures import CaseResult, Comparison, Measure, RaceResult
from report import markdown, text_table

RATE = Measure("rate", "records/s", True, bar=1.0, goal=1.5)
LATENCY = Measure("p99", "us", False, bar=1.0, goal=0.5)


def compared(measure: Measure, moldau: list[float], kafka: list[float]) -> Comparison:
    return Comparison(measure, {"moldau": moldau, "kafka": kafka})


def race_of(*cases: CaseResult) -> RaceResult:
    return RaceResult("python bench/race.py", "2026-01-01 00:00 UTC", {"CPU": "2 x any"}, 3, list(cases))


@pytest.mark.parametrize(
    ("measure", "moldau", "kafka", "verdict"),
    [
        (RATE, 160.0, 100.0, "goal"),
        (RATE, 100.0, 100.0, "pass"),
        (RATE, 99.0, 100.0, "FAIL"),
        (LATENCY, 50.0, 100.0, "goal"),
        (LATENCY, 100.0, 100.0, "pass"),
        (LATENCY, 101.0, 100.0, "FAIL"),
    ],
)
def test_verdict_follows_the_direction(measure: Measure, moldau: float, kafka: float, verdict: str) -> None:
    assert compared(measure, [moldau], [kafka]).verdict == verdict


def test_ratio_is_the_median_of_neighbours() -> None:
    """A machine that slows down in the second repeat slows both: the ratio does not see it."""
    row = compared(RATE, [200.0, 20.0, 210.0], [100.0, 10.0, 100.0])
    assert row.ratios == [2.0, 2.0, 2.1]
    assert row.ratio == 2.0


def test_a_fixed_reference_takes_the_place_of_the_peer() -> None:
    headline = Measure("rate", "records/s", True, bar=1.0, reference=2_000_000)
    assert compared(headline, [2_100_000.0], [500_000.0]).ratio == pytest.approx(1.05)


def test_nothing_is_judged_without_a_peer() -> None:
    assert Comparison(RATE, {"moldau": [1.0]}).verdict == "-"


def test_one_missed_bar_fails_the_race() -> None:
    good = CaseResult("good", [compared(RATE, [2.0], [1.0])])
    bad = CaseResult("bad", [compared(RATE, [2.0], [1.0]), compared(LATENCY, [2.0], [1.0])])
    assert race_of(good).is_passed
    assert not race_of(good, bad).is_passed
    assert race_of(good, bad).summary == "1 of 3 bars missed"


def test_a_case_that_could_not_be_run_fails_the_race() -> None:
    broken = CaseResult("broken", [Comparison(RATE, {"moldau": [], "kafka": []})], failure="kafka: no answer")
    assert not race_of(broken).is_passed
    assert "FAIL: kafka: no answer" in text_table([broken])


def test_a_result_read_back_prints_the_same() -> None:
    result = race_of(CaseResult("one", [compared(RATE, [3.0, 4.0], [1.0, 2.0])]))
    again = RaceResult.from_json(json.loads(json.dumps(result.to_json())))
    assert again == result
    assert markdown(again) == markdown(result)
