"""A stream of JSON objects comes apart in the same places however it was cut."""

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.proxies.rest.http.json_stream import BrokenStream, JsonSplitter

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
objects = st.lists(st.dictionaries(st.text(), values, max_size=3), max_size=5)
separators = st.sampled_from(["", "\n", "\r\n", " ", ",", "\x1e"])


@given(objects, separators, st.lists(st.integers(0, 400), max_size=8), st.booleans())
def test_objects_come_out_whole(
    wanted: list[dict[str, Any]], separator: str, cuts: list[int], ascii_only: bool
) -> None:
    data = separator.join(json.dumps(each, ensure_ascii=ascii_only) for each in wanted)
    encoded = data.encode("utf-8", "surrogatepass")
    places = sorted({min(cut, len(encoded)) for cut in cuts} | {0, len(encoded)})
    splitter = JsonSplitter(1 << 20)
    found = []
    for start, end in itertools.pairwise(places):
        found += splitter.feed(encoded[start:end])
    splitter.end()
    assert [json.loads(each.decode("utf-8", "surrogatepass")) for each in found] == wanted


@given(st.binary(max_size=200), st.integers(1, 50))
def test_any_bytes_are_objects_or_a_broken_stream(data: bytes, step: int) -> None:
    splitter = JsonSplitter(100)
    try:
        for start in range(0, len(data), step):
            splitter.feed(data[start : start + step])
        splitter.end()
    except BrokenStream as broken:
        assert all(each.startswith(b"{") for each in broken.complete)


def test_what_was_complete_before_a_mistake_is_kept() -> None:
    with pytest.raises(BrokenStream, match=r"begins with \{") as caught:
        JsonSplitter(100).feed(b'{"a":1}\n{"b":2} [3]')
    assert caught.value.complete == [b'{"a":1}', b'{"b":2}']


def test_a_record_without_end_is_too_large() -> None:
    splitter = JsonSplitter(1_000)
    with pytest.raises(BrokenStream, match="larger than 1,000 bytes"):
        for _ in range(100):
            splitter.feed(b'{"a":"' + b"x" * 100)


def test_a_stream_does_not_end_within_a_record() -> None:
    splitter = JsonSplitter(100)
    assert splitter.feed(b'{"a": {}') == []
    with pytest.raises(BrokenStream, match="ends within a record"):
        splitter.end()
