"""What functions take with them to the workers: what cannot go is refused by line, variable and cure; what would be
changed there in vain is told."""

import inspect
import pickle
import re
import threading
from collections.abc import Callable
from typing import Any

import pytest
from pyspark.cloudpickle import dumps
from pyspark.sql import DataFrame, SparkSession

from moldau.core.errors import ConfigError
from moldau.pipeline.streams import STRING, Record, StreamsBuilder
from moldau.pipeline.streams.summaries import total
from moldau.pipeline.streams.travel import changed_captures, check_travels

seen_here: list[str] = []
names_here = {"a": "Ada"}
count_here = 0


def warnings_of(write: Callable[[StreamsBuilder], object]) -> list[str]:
    builder = StreamsBuilder(value=STRING)
    write(builder)
    return changed_captures(builder.build())


def test_changed_variables_are_told_with_line_and_cure() -> None:
    seen: dict[str, int] = {}

    def write(builder: StreamsBuilder) -> None:
        builder.stream("in").filter(lambda key, value: seen.setdefault(key, 1) == 1).to("out")

    (told,) = warnings_of(write)
    _, line = inspect.getsourcelines(write)
    assert told.startswith(f"{__file__}:{line + 1}: the lambda changes 'seen' (line {line + 1})")
    assert "keep it in a store: process(..., stores=[...])" in told


def changing() -> dict[str, Callable[..., Any]]:
    counts: dict[str, int] = {}
    many: dict[str, list[str]] = {"all": []}
    number = 0
    state = type("State", (), {"last": ""})()

    def count(value: str) -> str:
        counts[value] = counts.get(value, 0) + 1
        return value

    def count_by_one(value: str) -> str:
        nonlocal number
        number += 1
        return value

    def count_in_module(value: str) -> str:
        global count_here
        count_here += 1
        return value

    def forget(value: str) -> str:
        del counts[value]
        return value

    def keep(value: str) -> str:
        many["all"].append(value)
        return value

    def remember(value: str) -> str:
        state.last = value
        return value

    return {
        "counts": count,
        "number": count_by_one,
        "count_here": count_in_module,
        "counts ": forget,
        "many": keep,
        "state": remember,
        "seen_here": lambda value: seen_here.append(value) or value,  # type: ignore[func-returns-value]
    }


@pytest.mark.parametrize("name", changing())
def test_all_ways_to_change_what_is_not_ones_own(name: str) -> None:
    function = changing()[name]
    (told,) = warnings_of(lambda builder: builder.stream("in").map_values(function).to("out"))
    assert f"changes {name.strip()!r}" in told


def test_the_method_of_a_list_is_no_function_of_its_own() -> None:
    (told,) = warnings_of(lambda builder: builder.stream("in").map_values(seen_here.append).to("out"))
    assert "list of .append" in told


def test_functions_that_functions_call() -> None:
    seen: list[str] = []

    def remember(value: str) -> str:
        seen.append(value)
        return value

    (told,) = warnings_of(
        lambda builder: builder.stream("in").map_values(lambda value: remember(value)).to("out")
    )
    assert "changes 'seen'" in told
    (told,) = warnings_of(
        lambda builder: builder.stream("in").map_values(join_all(seen.append), value=STRING).to("out")
    )
    assert "changes 'list of .append'" in told


def test_functions_inside_of_ours() -> None:
    seen: list[str] = []

    def remember(key: str, value: str, so_far: str) -> str:
        seen.append(value)
        return so_far

    def write(builder: StreamsBuilder) -> None:
        builder.stream("in").group_by_key().cogroup(remember).aggregate(str)

    (told,) = warnings_of(write)
    assert "changes 'seen'" in told


def join_all(keep: Callable[[str], object]) -> Callable[[str], str]:
    def kept(value: str) -> str:
        keep(value)
        return value

    return kept


class Hoards:
    def process(self, record: Record) -> None:
        seen_here.append(record.value)


class Keeps:
    """Its own state is its own affair."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def process(self, record: Record) -> None:
        self.seen.append(record.value)
        mine = {"last": record.value}
        mine["first"] = names_here.get(record.key, "")


def test_processors_and_what_is_only_read() -> None:
    (told,) = warnings_of(lambda builder: builder.stream("in").process(Hoards))
    assert "changes 'seen_here'" in told
    assert warnings_of(lambda builder: builder.stream("in").process(Keeps)) == []

    def sort_of(value: str) -> str:
        parts = sorted(value)
        parts.append(names_here["a"])
        return "".join(parts)

    assert warnings_of(lambda builder: builder.stream("in").map_values(sort_of).to("out")) == []
    assert warnings_of(lambda builder: builder.stream("in").group_by_key().summarize(total("x"))) == []


def refused(write: Callable[[StreamsBuilder], object]) -> str:
    builder = StreamsBuilder(value=STRING)
    write(builder)
    with pytest.raises(ConfigError) as caught:
        check_travels(builder.build(), dumps)  # type: ignore[no-untyped-call]
    message = str(caught.value)
    lines, first = inspect.getsourcelines(write)
    place = re.match(r"(.*):(\d+): ", message)
    assert place is not None and place[1] == __file__ and first <= int(place[2]) < first + len(lines), message
    return message


def test_an_object_that_cannot_be_pickled() -> None:
    lock = threading.Lock()

    def locked(value: str) -> str:
        with lock:
            return value

    def write(builder: StreamsBuilder) -> None:
        builder.stream("in").map_values(lambda value: locked(value)).to("out")

    message = refused(write)
    assert "the lambda uses 'lock', a lock, which cannot be sent to the workers (TypeError" in message
    assert "Create it there: inside the function, or in init() of a processor" in message


@pytest.mark.parametrize("kind", [DataFrame, SparkSession])
def test_a_data_frame_inside_of_a_lambda(kind: type) -> None:
    frame = object.__new__(kind)

    def write(builder: StreamsBuilder) -> None:
        builder.stream("in").filter(lambda key, value: frame.count() > 0).to("out")

    message = refused(write)
    assert f"the lambda uses 'frame', a {kind.__name__} of Spark" in message
    assert "global_table()" in message and "collect()" in message


def test_what_can_travel_travels() -> None:
    names = {"a": "Ada"}
    builder = StreamsBuilder(value=STRING)
    builder.stream("in").map_values(lambda value: names.get(value, value), value=STRING).to("out")
    builder.stream("in").process(Keeps)
    assert check_travels(builder.build(), dumps) == []  # type: ignore[no-untyped-call]
    with pytest.raises(ConfigError, match="cannot be sent to the workers"):
        check_travels(builder.build(), pickle.dumps)
