"""A race's result as text: a table for people, Markdown for RESULTS.md, plots.

python bench/report.py bench/out/<run>.json ...                      prints the Markdown
python bench/report.py --write bench/out/<run>.json ...              puts it into RESULTS.md, draws bench/plots/
"""

import argparse
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from measures import CONTENDER, PEER, CaseResult, Comparison, RaceResult

BENCH = Path(__file__).parent
RESULTS = BENCH / "RESULTS.md"
BEGIN, END = "<!-- race: begin -->", "<!-- race: end -->"
HEADINGS = ("case", "measure", CONTENDER, PEER, "unit", "ratio", "spread", "bar", "goal", "verdict")
NUMERIC = frozenset({CONTENDER, PEER, "ratio", "spread", "bar", "goal"})


def text_table(cases: Iterable[CaseResult]) -> str:
    rows = [HEADINGS, *_rows(cases)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if heading in NUMERIC else cell.ljust(width)
            for cell, width, heading in zip(row, widths, HEADINGS, strict=True)
        ).rstrip()
        for row in rows
    )


def markdown(result: RaceResult) -> str:
    lines = [f"### {result.date}: {result.summary}", ""]
    lines += [f"`{result.command}`, {result.repeats} repeats.", ""]
    lines += [", ".join(f"{name}: {value}" for name, value in result.machine.items()) + ".", ""]
    lines.append("| " + " | ".join(HEADINGS) + " |")
    lines.append("|" + "|".join("---:" if heading in NUMERIC else "---" for heading in HEADINGS) + "|")
    lines += ["| " + " | ".join(row) + " |" for row in _rows(result.cases)]
    return "\n".join(lines) + "\n"


def number(value: float | None) -> str:
    if value is None:
        return "-"
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def _rows(cases: Iterable[CaseResult]) -> Iterator[tuple[str, ...]]:
    for case in cases:
        for row in case.comparisons:
            yield _row(case.name, row)
        if case.failure is not None:
            yield (case.name, "could not be run", *["-"] * 7, f"FAIL: {case.failure}")


def _row(case: str, row: Comparison) -> tuple[str, ...]:
    measure, ratios = row.measure, row.ratios
    sign = ">=" if measure.is_higher_better else "<="
    peer = number(measure.reference if measure.reference is not None else row.median(PEER))
    return (
        case,
        measure.name,
        number(row.median(CONTENDER)),
        peer,
        measure.unit,
        "-" if row.ratio is None else f"{row.ratio:.2f}",
        f"{min(ratios):.2f} to {max(ratios):.2f}" if ratios else "-",
        "-" if measure.bar is None else f"{sign} {measure.bar:g}",
        "-" if measure.goal is None else f"{sign} {measure.goal:g}",
        row.verdict,
    )


def write_results(results: Sequence[RaceResult]) -> None:
    """Replaces what lies between the two marks in RESULTS.md; the rest of the page is prose."""
    page = RESULTS.read_text()
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    tables = "\n".join(markdown(result) for result in results)
    RESULTS.write_text(f"{before}{BEGIN}\n\n{tables}\n{END}{after}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Tables and plots of finished races.")
    parser.add_argument("results", nargs="+", type=Path, help="files of bench/out/")
    parser.add_argument("--write", action="store_true", help="into RESULTS.md and bench/plots/")
    arguments = parser.parse_args()
    results = [RaceResult.from_json(json.loads(path.read_text())) for path in arguments.results]
    if not arguments.write:
        print("\n".join(markdown(result) for result in results))
        return
    from plot import draw

    write_results(results)
    for path in draw(results[-1], BENCH / "plots"):
        print(path)


if __name__ == "__main__":
    main()
