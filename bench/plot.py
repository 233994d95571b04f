"""Plots of a race: for each kind of case a picture of paired bars, drawn as SVG.

Each row is scaled to its larger value; the whisker is the least and the most seen, the dashed mark what
Moldau has to reach.
"""

from collections.abc import Iterator
from html import escape
from pathlib import Path

from measures import CONTENDER, PEER, Comparison, RaceResult
from report import number

LABEL_WIDTH, BAR_WIDTH, VERDICT_WIDTH = 330, 420, 230
ROW_HEIGHT, BAR_HEIGHT, TOP = 46, 15, 54
COLOURS = {CONTENDER: "#2a6f97", PEER: "#b8b8b8"}
VERDICT_COLOURS = {"goal": "#2d6a4f", "pass": "#2d6a4f", "FAIL": "#b00020", "-": "#555555"}


def draw(result: RaceResult, folder: Path) -> list[Path]:
    folder.mkdir(exist_ok=True)
    paths = []
    for title, rows in _groups(result).items():
        path = folder / f"{title.replace(' ', '-')}.svg"
        path.write_text(_picture(f"{title} ({result.date})", rows))
        paths.append(path)
    return paths


def _groups(result: RaceResult) -> dict[str, list[tuple[str, Comparison]]]:
    """Throughput has many shapes, so each of its measures is a picture; other kinds are one each."""
    groups: dict[str, list[tuple[str, Comparison]]] = {}
    for case in result.cases:
        kind, _, shape = case.name.partition("/")
        for row in case.comparisons:
            if row.median(CONTENDER) is None:
                continue
            title, label = (kind, f"{shape} {row.measure.name}".strip())
            if kind == "throughput":
                title, label = f"{kind} {row.measure.name}", shape
            groups.setdefault(title, []).append((label, row))
    return groups


def _picture(title: str, rows: list[tuple[str, Comparison]]) -> str:
    width = LABEL_WIDTH + BAR_WIDTH + VERDICT_WIDTH
    height = TOP + ROW_HEIGHT * len(rows) + 8
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="12" y="22" font-size="15" font-weight="bold">{escape(title)}</text>',
    ]
    for index, (system, colour) in enumerate(COLOURS.items()):
        x = LABEL_WIDTH + 110 * index
        parts.append(f'<rect x="{x}" y="32" width="12" height="12" fill="{colour}"/>')
        parts.append(f'<text x="{x + 18}" y="42">{system}</text>')
    for index, (label, row) in enumerate(rows):
        parts.extend(_row(label, row, TOP + ROW_HEIGHT * index))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _row(label: str, row: Comparison, y: int) -> Iterator[str]:
    measure = row.measure
    peer = measure.reference if measure.reference is not None else row.median(PEER)
    medians = {CONTENDER: row.median(CONTENDER), PEER: peer}
    marked = peer * measure.bar if peer and measure.bar else 0.0
    shown = [value for value in medians.values() if value] + [
        max(taken) for taken in row.values.values() if taken
    ]
    most = max(marked, *shown)
    scale = (BAR_WIDTH - 90) / most if most else 0.0
    yield f'<text x="12" y="{y + 20}">{escape(label)}</text>'
    for index, (system, median) in enumerate(medians.items()):
        if median is None:
            continue
        top = y + index * (BAR_HEIGHT + 2)
        values = row.values.get(system) or [median]
        end = LABEL_WIDTH + max(median, *values) * scale
        yield (
            f'<rect x="{LABEL_WIDTH}" y="{top}" width="{median * scale:.1f}" height="{BAR_HEIGHT}" '
            f'fill="{COLOURS[system]}"/>'
        )
        yield _line(min(values) * scale, max(values) * scale, top + BAR_HEIGHT / 2)
        yield f'<text x="{end + 6:.1f}" y="{top + 12}">{number(median)} {escape(measure.unit)}</text>'
    if marked:
        x = LABEL_WIDTH + marked * scale
        yield (
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{y - 2}" y2="{y + BAR_HEIGHT + 2}" stroke="black" '
            f'stroke-dasharray="3 2"/>'
        )
    if row.ratio is not None:
        verdict = "" if row.verdict == "-" else f", {row.verdict}"
        yield (
            f'<text x="{LABEL_WIDTH + BAR_WIDTH + 40}" y="{y + 20}" '
            f'fill="{VERDICT_COLOURS[row.verdict]}">ratio {row.ratio:.2f}{verdict}</text>'
        )


def _line(start: float, end: float, y: float) -> str:
    return (
        f'<line x1="{LABEL_WIDTH + start:.1f}" x2="{LABEL_WIDTH + end:.1f}" y1="{y}" y2="{y}" '
        f'stroke="black" stroke-width="1"/>'
    )
