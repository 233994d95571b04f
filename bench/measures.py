"""What is compared and how it is judged: a measure, the values of both systems, the ratio, the verdict.

Pure arithmetic: the harness decides by this file alone whether a bar was met.
"""

import statistics
from dataclasses import asdict, dataclass, field
from typing import Any

CONTENDER, PEER = "moldau", "kafka"


@dataclass(frozen=True)
class Measure:
    """One row. `bar` must be met, `goal` is hoped for; both are ratios of Moldau's value to the peer's."""

    name: str
    unit: str
    is_higher_better: bool
    bar: float | None = None
    goal: float | None = None
    reference: float | None = None
    """A fixed figure to be held against in place of the peer's."""


@dataclass(frozen=True)
class Comparison:
    """The values of one measure, repeat by repeat, in the order they were taken."""

    measure: Measure
    values: dict[str, list[float]] = field(default_factory=dict)

    def median(self, system: str) -> float | None:
        values = self.values.get(system)
        return statistics.median(values) if values else None

    @property
    def ratios(self) -> list[float]:
        """Of the two runs that lay next to each other, so that a slow spell of the machine hits both."""
        ours = self.values.get(CONTENDER, [])
        if self.measure.reference is not None:
            return [value / self.measure.reference for value in ours]
        return [value / other for value, other in zip(ours, self.values.get(PEER, []), strict=False) if other]

    @property
    def ratio(self) -> float | None:
        ratios = self.ratios
        return statistics.median(ratios) if ratios else None

    @property
    def verdict(self) -> str:
        """`goal`, `pass` or `FAIL`; a dash where there is no bar or nothing to hold against."""
        ratio, measure = self.ratio, self.measure
        if ratio is None or measure.bar is None:
            return "-"
        if measure.goal is not None and self._reaches(measure.goal):
            return "goal"
        return "pass" if self._reaches(measure.bar) else "FAIL"

    def _reaches(self, wanted: float) -> bool:
        ratio = self.ratio
        assert ratio is not None
        return ratio >= wanted if self.measure.is_higher_better else ratio <= wanted


@dataclass(frozen=True)
class CaseResult:
    name: str
    comparisons: list[Comparison]
    failure: str | None = None

    @property
    def is_passed(self) -> bool:
        return self.failure is None and all(row.verdict != "FAIL" for row in self.comparisons)


@dataclass(frozen=True)
class RaceResult:
    """A whole run: what `bench/out/` keeps and every table and plot is made from."""

    command: str
    date: str
    machine: dict[str, str]
    repeats: int
    cases: list[CaseResult]

    @property
    def is_passed(self) -> bool:
        return all(case.is_passed for case in self.cases)

    @property
    def summary(self) -> str:
        verdicts = [row.verdict for case in self.cases for row in case.comparisons if row.verdict != "-"]
        broken = sum(case.failure is not None for case in self.cases)
        if broken:
            return f"{broken} of {len(self.cases)} cases could not be run"
        if not verdicts:
            return "nothing to judge by"
        missed = verdicts.count("FAIL")
        reached = f"{verdicts.count('goal')} goals reached"
        return (
            f"{missed} of {len(verdicts)} bars missed"
            if missed
            else f"all {len(verdicts)} bars met, {reached}"
        )

    def to_json(self) -> dict[str, Any]:
        document = asdict(self)
        for case, case_document in zip(self.cases, document["cases"], strict=True):
            for row, row_document in zip(case.comparisons, case_document["comparisons"], strict=True):
                row_document |= {"ratio": row.ratio, "verdict": row.verdict}
        return {**document, "is_passed": self.is_passed}

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> "RaceResult":
        cases = [
            CaseResult(
                case["name"],
                [Comparison(Measure(**row["measure"]), row["values"]) for row in case["comparisons"]],
                case["failure"],
            )
            for case in document["cases"]
        ]
        return cls(document["command"], document["date"], document["machine"], document["repeats"], cases)
