"""Offset files of `groups reset --from-file` and `--export`: Kafka's CSV, or our JSON. Pure."""

import csv
import io
from collections.abc import Mapping

import click
import orjson

from moldau.core.ids import TopicPartition


def parse_offsets(text: str, group: str, file: str) -> dict[TopicPartition, int]:
    """A line is topic,partition,offset or group,topic,partition,offset. Lines of other groups are ignored."""
    found: dict[TopicPartition, int] = {}
    rows = _json_rows(text, file) if text.lstrip()[:1] in ("[", "{") else _csv_rows(text, group, file)
    for place, (topic, partition, offset) in rows:
        try:
            found[TopicPartition(topic, _natural(partition))] = _natural(offset)
        except ValueError as error:
            raise click.UsageError(f"{file}, {place}: {error}.") from error
    if not found:
        raise click.UsageError(f"{file} has no offset for group '{group}'.")
    return found


def export_text(offsets: Mapping[str, Mapping[TopicPartition, int]]) -> str:
    """The format of kafka-consumer-groups --export: with a group column if there are several groups."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for group, wanted in offsets.items():
        for (topic, partition), offset in wanted.items():
            owner = [group] if len(offsets) > 1 else []
            writer.writerow([*owner, topic, partition, offset])
    return text.getvalue()


def _csv_rows(text: str, group: str, file: str) -> list[tuple[str, tuple[str, object, object]]]:
    rows: list[tuple[str, tuple[str, object, object]]] = []
    for number, cells in enumerate(csv.reader(io.StringIO(text)), start=1):
        cells = [cell.strip() for cell in cells]
        if not any(cells):
            continue
        if len(cells) == 4:
            owner, *cells = cells
            if owner != group:
                continue
        if len(cells) != 3:
            raise click.UsageError(f"{file}, line {number}: not of the form TOPIC,PARTITION,OFFSET.")
        rows.append((f"line {number}", (cells[0], cells[1], cells[2])))
    return rows


def _json_rows(text: str, file: str) -> list[tuple[str, tuple[str, object, object]]]:
    try:
        items = orjson.loads(text)
        if isinstance(items, dict):
            items = items["offsets"]
        return [
            (f"item {number}", (str(item["topic"]), item["partition"], item["offset"]))
            for number, item in enumerate(items, start=1)
            if item["offset"] is not None
        ]
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise click.UsageError(
            f"{file} is not a list of objects with topic, partition and offset: {error}."
        ) from error


def _natural(value: object) -> int:
    number = int(str(value))
    if number < 0:
        raise ValueError(f"{number} is negative")
    return number
