"""What every coordination store does, whichever it is."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from moldau.coordination.sqlite import SqliteStore
from moldau.coordination.store import (
    BadVersion,
    CheckVersion,
    Create,
    Delete,
    NoChildrenForEphemerals,
    Node,
    NodeExists,
    NoNode,
    NotEmpty,
    SetData,
    Store,
)

STORES: dict[str, Callable[[Path], Store]] = {
    "memory": lambda directory: SqliteStore(":memory:"),
    "file": lambda directory: SqliteStore(str(directory / "coordination.db")),
}


@pytest.fixture(params=list(STORES))
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened = STORES[request.param](tmp_path)
    yield opened
    opened.close()


def test_a_node_is_created_read_changed_and_deleted(store: Store) -> None:
    store.create("/a", b"one")
    assert store.get("/a") == Node(b"one", 0)
    assert store.set("/a", b"two") == 1
    assert store.set("/a", b"three", version=1) == 2
    assert store.get("/a") == Node(b"three", 2)
    store.delete("/a", version=2)
    assert not store.exists("/a")


def test_a_node_made_anew_starts_at_version_zero(store: Store) -> None:
    store.create("/a")
    store.set("/a", b"x")
    store.delete("/a")
    store.create("/a", b"y")
    assert store.get("/a") == Node(b"y", 0)


def test_children_are_names_in_order_and_not_grandchildren(store: Store) -> None:
    for path in ("/b", "/b/2", "/b/10", "/b/1", "/b/1/x", "/bb"):
        store.create(path)
    assert store.children("/b") == ["1", "10", "2"]
    assert store.children("/") == ["b", "bb"]
    assert store.children("/bb") == []


def test_names_may_hold_any_text(store: Store) -> None:
    for name in ("<default>", "ünïcode", "per%cent_", "dot."):
        store.create(f"/{name}", name.encode())
        assert store.get(f"/{name}").data == name.encode()


def test_what_is_missing_is_named(store: Store) -> None:
    with pytest.raises(NoNode, match="/a") as refusal:
        store.get("/a")
    assert refusal.value.path == "/a"
    for call in (lambda: store.set("/a", b""), lambda: store.delete("/a"), lambda: store.children("/a")):
        with pytest.raises(NoNode):
            call()
    with pytest.raises(NoNode, match="/a"):
        store.create("/a/b")


def test_what_is_there_is_not_made_again(store: Store) -> None:
    store.create("/a", b"first")
    with pytest.raises(NodeExists):
        store.create("/a", b"second")
    with pytest.raises(NodeExists):
        store.create("/")
    assert store.get("/a") == Node(b"first", 0)


def test_a_stale_version_changes_nothing(store: Store) -> None:
    store.create("/a", b"0")
    store.set("/a", b"1")
    with pytest.raises(BadVersion, match="version 1, not 0"):
        store.set("/a", b"2", version=0)
    with pytest.raises(BadVersion):
        store.delete("/a", version=0)
    assert store.get("/a") == Node(b"1", 1)


def test_a_node_with_children_stays(store: Store) -> None:
    store.create("/a")
    store.create("/a/b")
    with pytest.raises(NotEmpty):
        store.delete("/a")
    store.delete("/a/b")
    store.delete("/a")


def test_an_ephemeral_node_has_no_children(store: Store) -> None:
    store.create("/a", ephemeral=True)
    with pytest.raises(NoChildrenForEphemerals):
        store.create("/a/b")


def test_multi_does_all_in_order(store: Store) -> None:
    store.create("/old", b"x")
    store.multi(
        [
            CheckVersion("/old", 0),
            Create("/new", b"parent"),
            Create("/new/child", b"c"),
            SetData("/new", b"changed", version=0),
            Delete("/old"),
        ]
    )
    assert store.get("/new") == Node(b"changed", 1)
    assert store.children("/") == ["new"]


@pytest.mark.parametrize(
    ("last", "refusal"),
    [
        (Create("/a"), NodeExists),
        (Create("/x/y/z"), NoNode),
        (SetData("/a", b"", version=7), BadVersion),
        (Delete("/b"), NoNode),
        (Delete("/x"), NotEmpty),
        (CheckVersion("/a", 7), BadVersion),
    ],
)
def test_multi_does_nothing_when_one_is_refused(
    store: Store, last: Create | SetData | Delete | CheckVersion, refusal: type[Exception]
) -> None:
    store.create("/a", b"before")
    with pytest.raises(refusal):
        store.multi([Create("/x"), Create("/x/c"), SetData("/a", b"after"), last])
    assert store.children("/") == ["a"]
    assert store.get("/a") == Node(b"before", 0)


def test_a_refused_call_leaves_the_store_usable(store: Store) -> None:
    with pytest.raises(NoNode):
        store.delete("/a")
    store.create("/a")
    assert store.exists("/a")
