"""Datagen: schemas with arguments, and a source that goes on where it stopped."""

import json
import re
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pytest

from connect_kit import StoredOffsets, eventually, read
from moldau.pipeline.connect.api import ConnectError
from moldau.pipeline.connect.connectors.datagen.quickstarts import NAMES, quickstart
from moldau.pipeline.connect.connectors.datagen.regex_texts import text_drawer
from moldau.pipeline.connect.connectors.datagen.samples import sampler_of
from moldau.pipeline.connect.connectors.datagen.source import DatagenSourceConnector, DatagenSourceTask
from moldau.pipeline.connect.data.schema import DECIMAL, TIMESTAMP, SchemaType
from moldau.pipeline.connect.data.validation import check
from moldau.pipeline.connect.declarations import validate

FAST = {"kafka.topic": "made", "max.interval": "0"}


def record_of(**fields: Any) -> str:
    return json.dumps(
        {
            "type": "record",
            "name": "made",
            "fields": [{"name": name, "type": kind} for name, kind in fields.items()],
        }
    )


def drawn(kind: Any, count: int = 200) -> list[Any]:
    sampler = sampler_of(record_of(it=kind))
    values = [sampler.draw(Random(number), number) for number in range(count)]
    for value in values:
        check(sampler.schema, value)
    return [value["it"] for value in values]


def with_arguments(kind: str, **arguments: Any) -> dict[str, Any]:
    return {"type": kind, "arg.properties": arguments}


@pytest.mark.parametrize(
    "pattern",
    [
        "User_[1-9]",
        "Item_[1-9][0-9]{0,2}",
        "(red|green|blue) [a-f]{3}",
        r"\d{3}-\w+\.example\.(com|org)",
        "[^a-z]+",
        "(?:ab?)*c",
        "^x{2,}$",
        r"[\d\-x]{4}",
        "[]a]+?",
    ],
)
def test_texts_match_their_pattern(pattern: str) -> None:
    draw = text_drawer(pattern)
    dice = Random(7)
    texts = {draw(dice) for _ in range(200)}
    assert all(re.fullmatch(pattern, text) for text in texts)
    assert len(texts) > 1


@pytest.mark.parametrize(
    "pattern", ["(ab", "ab)", "[a-", "a{2", "a{3,1}", "*a", "(?=a)b", r"(a)\1", "[z-a]", "a{x}"]
)
def test_patterns_that_cannot_be_drawn_from_say_why(pattern: str) -> None:
    with pytest.raises(ConnectError, match=re.escape(repr(pattern))):
        text_drawer(pattern)


def test_options_ranges_and_lengths() -> None:
    assert set(drawn(with_arguments("string", options=["a", "b"]))) == {"a", "b"}
    assert set(drawn(with_arguments("int", range={"min": 3, "max": 6}))) == {3, 4, 5}
    assert all(0.1 <= one < 0.3 for one in drawn(with_arguments("double", range={"min": 0.1, "max": 0.3})))
    assert {len(one) for one in drawn(with_arguments("string", length={"min": 2, "max": 4}))} == {2, 3}
    assert {len(one) for one in drawn(with_arguments("bytes", length=5))} == {5}
    assert min(map(len, drawn("string"))) >= 8 and max(map(len, drawn("string"))) < 16
    assert all(
        len(one) >= 12 and one.isalpha() for one in drawn(with_arguments("string", regex="[a-z]*", length=12))
    )
    assert all(
        one.startswith("<") and one.endswith(">")
        for one in drawn(with_arguments("string", prefix="<", suffix=">"))
    )
    assert set(drawn(with_arguments("boolean", odds=1.0))) == {True}


def test_iterations_follow_the_number_of_the_record() -> None:
    assert drawn(with_arguments("long", iteration={"start": 1, "step": 10}), 3) == [1, 11, 21]
    assert drawn(with_arguments("int", iteration={"start": 0, "restart": 3}), 5) == [0, 1, 2, 0, 1]
    assert drawn(with_arguments("int", iteration={"start": 3, "restart": 0, "initial": 2}), 4) == [2, 1, 3, 2]
    assert drawn(with_arguments("string", iteration={"start": 5}), 2) == ["5", "6"]
    assert drawn(with_arguments("boolean", iteration={"start": True}), 3) == [True, False, True]


def test_types_inside_of_types() -> None:
    tags = drawn(
        {"type": "array", "items": with_arguments("string", options=["x"]), "arg.properties": {"length": 2}}
    )
    assert tags[0] == ["x", "x"]
    counts = drawn(
        {
            "type": "map",
            "values": with_arguments("int", options=[1]),
            "arg.properties": {"length": 3, "keys": {"options": ["a", "b"]}},
        }
    )
    assert all(set(one) <= {"a", "b"} and set(one.values()) == {1} for one in counts)
    assert set(drawn(["null", with_arguments("int", options=[4])])) == {None, 4}
    assert set(drawn({"type": "enum", "name": "side", "symbols": ["L", "R"]})) == {"L", "R"}
    assert {len(one) for one in drawn({"type": "fixed", "name": "four", "size": 4})} == {4}


def test_named_types_are_used_again() -> None:
    point = {"type": "record", "name": "point", "namespace": "geo", "fields": [{"name": "x", "type": "int"}]}
    sampler = sampler_of(record_of(a=point, b="geo.point"))
    assert str(sampler.schema.fields[1].schema) == "struct geo.point"


def test_logical_types() -> None:
    price = {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2}
    sampler = sampler_of(record_of(price=price, at={"type": "long", "logicalType": "timestamp-millis"}))
    assert [one.schema.name for one in sampler.schema.fields] == [DECIMAL, TIMESTAMP]
    value = sampler.draw(Random(1), 0)
    check(sampler.schema, value)
    assert value["price"].as_tuple().exponent == -2
    ranged = drawn({**price, "arg.properties": {"range": {"min": 1.5, "max": 1.52}}})
    assert set(ranged) == {Decimal("1.50"), Decimal("1.51")}


def test_options_of_records_and_in_files(tmp_path: Path) -> None:
    listed = tmp_path / "nouns.json"
    listed.write_text('["tea", "cup"]')
    assert set(drawn(with_arguments("string", options={"file": str(listed), "encoding": "json"}))) == {
        "tea",
        "cup",
    }
    codes = {"type": "record", "name": "code", "fields": [{"name": "n", "type": "int"}]}
    assert {one["n"] for one in drawn({**codes, "arg.properties": {"options": [{"n": 1}, {"n": 2}]}})} == {
        1,
        2,
    }


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ("{", "no JSON"),
        ('"int"', "no record"),
        (record_of(a="nobody"), "'nobody'"),
        (record_of(a=["null", "int", "string"]), "union"),
        (record_of(a=with_arguments("int", range={"min": 5, "max": 5})), "empty"),
        (
            record_of(a=with_arguments("int", iteration={"start": 1, "restart": 1})),
            "restarts where it starts",
        ),
        (record_of(a=with_arguments("int", options=["x"])), "an option of"),
        (record_of(a=with_arguments("string", options=[])), "no options"),
        (record_of(a=with_arguments("string", regex="[ab]", length=4)), "1000 texts"),
        (
            record_of(a=with_arguments("string", options={"file": "/nowhere.json", "encoding": "json"})),
            "/nowhere",
        ),
        ('{"type": "record", "name": "x"}', "fields"),
    ],
)
def test_schemas_that_cannot_be_used_say_why(schema: str, said: str) -> None:
    with pytest.raises(ConnectError, match=re.escape(said)):
        sampler_of(schema)


@pytest.mark.parametrize("name", NAMES)
def test_quickstarts_draw_what_their_schema_says(name: str) -> None:
    found = quickstart(name)
    sampler = sampler_of(found.schema)
    assert sampler.schema.field(found.key_field) is not None
    for number in range(50):
        check(sampler.schema, sampler.draw(Random(number), number))


def started(offsets: StoredOffsets, **settings: str) -> DatagenSourceTask:
    connector = DatagenSourceConnector()
    connector.start({**FAST, **{name.replace("_", "."): text for name, text in settings.items()}})
    task = DatagenSourceTask()
    task.start(connector.task_configs(1)[0], offsets)
    return task


def test_a_restarted_task_goes_on_as_if_it_had_not_stopped() -> None:
    whole = [
        one.value
        for one in read(started(StoredOffsets(), quickstart="orders", random_seed="3"), StoredOffsets(), 900)
    ]
    offsets = StoredOffsets()
    parts = read(started(offsets, quickstart="orders", random_seed="3"), offsets, 1)
    parts += read(started(offsets, quickstart="orders"), offsets, 1)
    assert [one.value for one in parts][: len(whole)] == whole[: len(parts)]
    assert [one.value["orderid"] for one in parts] == list(range(len(parts)))
    assert parts[0].key == parts[0].value["orderid"]
    assert offsets.stored['{"task.id": 0}']["task.generation"] == 2


def test_tasks_make_different_records() -> None:
    connector = DatagenSourceConnector()
    connector.start({**FAST, "quickstart": "users", "random.seed": "1"})
    values = []
    for config in connector.task_configs(2):
        task = DatagenSourceTask()
        task.start(config, StoredOffsets())
        values.append([one.value for one in task.poll()])
    assert values[0] != values[1]


def test_after_its_iterations_a_task_rests_even_when_started_again() -> None:
    offsets = StoredOffsets()
    task = started(offsets, quickstart="users", iterations="7")
    assert len(read(task, offsets, 7)) == 7
    assert not task.poll()
    assert not started(offsets, quickstart="users", iterations="7").poll()


def test_records_come_at_a_pace() -> None:
    task = started(StoredOffsets(), quickstart="users", max_interval="50")
    assert len(task.poll()) < 3
    eventually(task.poll, "another record")
    assert 1 <= task.next_poll_ms() <= 50


def test_settings_that_cannot_be_used_say_why() -> None:
    errors = DatagenSourceConnector.check({"quickstart": "users", "schema.string": "{}"})
    assert {one.name for one in errors} == {"quickstart", "schema.string"}
    assert "exactly one" in errors[0].errors[0]
    assert DatagenSourceConnector.check({"quickstart": "users"}) == ()
    wrong = {
        one.name: one.errors for one in validate(DatagenSourceConnector.declarations, {"quickstart": "uses"})
    }
    assert "users" in wrong["quickstart"][0] and "kafka.topic" in wrong["kafka.topic"][0]
    with pytest.raises(ConnectError, match="It has registertime, userid"):
        DatagenSourceConnector().start({**FAST, "quickstart": "users", "schema.keyfield": "nobody"})
    with pytest.raises(ConnectError, match="/nowhere"):
        DatagenSourceConnector().start({**FAST, "schema.filename": "/nowhere.avro"})


def test_offsets_that_cannot_be_used_say_why() -> None:
    DatagenSourceConnector.check_offsets({}, [({"task.id": 0}, {"current.iteration": 1, "random.seed": 2})])
    with pytest.raises(ConnectError, match=r"current\.iteration"):
        DatagenSourceConnector.check_offsets({}, [({"task.id": 0}, {"current.iteration": "x"})])
    with pytest.raises(ConnectError, match=r"task\.id"):
        DatagenSourceConnector.check_offsets({}, [({"task": 0}, None)])


def test_decimals_of_strings_are_not_needed() -> None:
    """Iterations may be fractions, as those of the well-known products."""
    assert drawn(with_arguments("double", iteration={"start": 0.5}), 2) == [0.5, 1.5]


def test_kinds_of_values_are_those_of_connect() -> None:
    sampler = sampler_of(quickstart("orders").schema)
    assert sampler.schema.fields[4].schema.type is SchemaType.STRUCT
