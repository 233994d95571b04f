"""The same values and texts through Kafka's JsonConverter and through ours: equal JSON, equal schemas and values."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from compat.connect.forms import comparable_part, schema_form, value_form
from compat.connect.generated import Generated
from compat.connect.oracle import answers
from kafka_jars import KafkaJarsUnavailable
from moldau.pipeline.connect.converters.catalog import make_converter
from moldau.pipeline.connect.converters.converter import VALUE, Converter
from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.schema import Schema

CONFIGS: tuple[dict[str, str], ...] = (
    {},
    {"schemas.enable": "false"},
    {"decimal.format": "NUMERIC"},
    {"replace.null.with.default": "false"},
    {"schemas.enable": "false", "decimal.format": "NUMERIC", "replace.null.with.default": "false"},
)
VALUES = 300
SPOILED = (
    lambda text: text.replace('"int16"', '"int64"', 1),
    lambda text: text.replace('"optional":false', '"optional":true'),
    lambda text: text.replace('"payload":', '"payload":null,"more":', 1),
    lambda text: text[:-1],
    lambda text: "",
    lambda text: text.replace('"type":"', '"type":"no', 1),
)

pytestmark = [pytest.mark.java, pytest.mark.slow]


def given(config: int) -> Iterator[tuple[Schema | None, Any]]:
    of = Generated(f"json {config}")
    for number in range(VALUES):
        if number % 5 == 0:
            yield None, of.plain()
        else:
            schema = of.schema(3)
            yield schema, of.value(schema)


def our_converter(config: int) -> Converter:
    return make_converter(
        "JsonConverter", VALUE, {f"value.converter.{name}": one for name, one in CONFIGS[config].items()}
    )


def written(config: int) -> list[str | None]:
    """By ours. None for what cannot be written, and for null."""
    converter, found = our_converter(config), []
    for schema, value in given(config):
        try:
            data = converter.from_connect("t", schema, value)
        except DataError:
            data = None
        found.append(None if data is None else data.decode())
    return found


def texts(config: int) -> list[str]:
    """What is read: half of it is spoiled."""
    of = Generated(f"texts {config}")
    whole = [text for text in written(config) if text is not None]
    return [of.random.choice(SPOILED)(text) if of.chance(3) else text for text in whole]


@pytest.fixture(scope="module")
def kafka_says() -> list[dict[str, Any]]:
    writes = [
        {
            "kind": "json_write",
            "config": config,
            "inputs": [
                {"schema": schema_form(schema), "value": value_form(schema, value)}
                for schema, value in given(number)
            ],
        }
        for number, config in enumerate(CONFIGS)
    ]
    reads = [
        {"kind": "json_read", "config": config, "inputs": texts(number)}
        for number, config in enumerate(CONFIGS)
    ]
    try:
        return answers([*writes, *reads])
    except KafkaJarsUnavailable as reason:
        pytest.skip(str(reason))


@pytest.mark.parametrize("config", range(len(CONFIGS)))
def test_writes_what_kafka_writes(config: int, kafka_says: list[dict[str, Any]]) -> None:
    told = kafka_says[config]["outcomes"]
    wrong = [
        (one, ours)
        for one, ours in zip(told, written(config), strict=True)
        if ("error" in one and ours is not None) or ("text" in one and _parsed(one["text"]) != _parsed(ours))
    ]
    assert not wrong, f"{len(wrong)} values differ; the first: {wrong[0]}"
    assert sum("text" in one for one in told) > VALUES * 0.6


@pytest.mark.parametrize("config", range(len(CONFIGS)))
def test_reads_what_kafka_reads(config: int, kafka_says: list[dict[str, Any]]) -> None:
    wrong: list[tuple[str, Any, Any]] = []
    converter, read = our_converter(config), 0
    asked = texts(config)
    for text, told in zip(asked, kafka_says[len(CONFIGS) + config]["outcomes"], strict=True):
        try:
            schema, value = converter.to_connect("t", text.encode())
        except DataError as failure:
            wrong += [] if "error" in told else [(text, told, str(failure))]
            continue
        read += 1
        ours = {"schema": schema_form(schema), "value": value_form(schema, value)}
        if "error" in told or comparable_part(told, "schema", "value") != comparable_part(
            ours, "schema", "value"
        ):
            wrong.append((text, told, ours))
    assert not wrong, f"{len(wrong)} texts differ; the first: {wrong[0]}"
    assert read > len(asked) * 0.5


def _parsed(text: str | None) -> Any:
    return None if text is None else _sorted(json.loads(text))


def _sorted(parsed: Any) -> Any:
    """Entries of maps whose keys are no texts are lists of pairs, in any order."""
    if isinstance(parsed, dict):
        return {name: _sorted(one) for name, one in parsed.items()}
    if isinstance(parsed, list):
        found = [_sorted(one) for one in parsed]
        is_map = found and all(isinstance(one, list) and len(one) == 2 for one in found)
        return sorted(found, key=repr) if is_map else found
    return parsed
