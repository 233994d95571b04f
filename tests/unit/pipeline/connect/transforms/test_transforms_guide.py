"""The guide of transformations: each example does what it shows, and each transformation has one."""

import json
from typing import Any

import pytest

from documents import GUIDES, Block, Page
from moldau.core.settings.properties import parse_properties
from moldau.pipeline.connect.data import schema as schemas
from moldau.pipeline.connect.data.records import Header, SourceRecord
from moldau.pipeline.connect.data.struct import Struct
from moldau.pipeline.connect.transforms.catalog import PREDICATES, TRANSFORMATIONS
from moldau.pipeline.connect.transforms.chain import Chain

PAGE = Page(GUIDES / "connectors" / "transforms.md")
BLOCKS = PAGE.blocks("properties", "jsonl")
EXAMPLES = list(zip(BLOCKS[::2], BLOCKS[1::2], strict=True))


def record_of(said: dict[str, Any]) -> SourceRecord:
    """With `schema`, the value is a struct of texts; else it has none."""
    value, schema = said.get("value"), None
    if "schema" in said:
        schema = schemas.struct(dict.fromkeys(value or {}, schemas.STRING))
        value = Struct(schema, list(said["value"].values()))
    return SourceRecord(
        said.get("topic", "any"),
        key=said.get("key"),
        value=value,
        value_schema=schema,
        timestamp_ms=said.get("timestamp", 0),
        headers=tuple(Header(name, text) for name, text in said.get("headers", {}).items()),
    )


def told(record: SourceRecord | None, parts: dict[str, Any]) -> dict[str, Any] | None:
    """Those parts of a record that the guide shows."""
    if record is None:
        return None
    schema = record.value_schema
    found = {
        "topic": record.topic,
        "key": record.key,
        "value": record.value.as_dict() if isinstance(record.value, Struct) else record.value,
        "timestamp": record.timestamp_ms,
        "headers": {one.key: one.value for one in record.headers},
        "schema": None if schema is None else {"name": schema.name, "version": schema.version},
    }
    return {name: found[name] for name in parts}


@pytest.mark.parametrize(("settings", "lines"), EXAMPLES, ids=[one.heading for one, _ in EXAMPLES])
def test_an_example_does_what_it_shows(settings: Block, lines: Block) -> None:
    before, after = map(json.loads, lines.text.splitlines())
    config = {name: text for name, text, _ in parse_properties(settings.text, file="guide")}
    chain = Chain.of(config)
    record = record_of(before)
    assert told(record, before) == before
    (outcome,) = chain.apply_all([record])
    assert not isinstance(outcome, Exception), outcome
    assert told(outcome, after or {}) == after


def test_every_transformation_has_an_example() -> None:
    headings = {one.heading for one in BLOCKS}
    assert {one.__name__ for one in TRANSFORMATIONS} <= headings
    assert all(one.__name__ in PAGE.text for one in PREDICATES)
