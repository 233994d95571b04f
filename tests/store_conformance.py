"""What every coordination store does, whichever it is: the suite its port is defined by.

A subclass gives the fixture `store`; one whose tree has several sessions also `connect`, in `SessionConformance`.
"""

import time
from collections.abc import Callable

import pytest

from moldau.coordination.store import (
    NO_OWNER,
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

PATIENCE_S = 60.0


class Told:
    """A watcher that keeps what it was told."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.sessions: list[str] = []

    def changed(self, path: str) -> None:
        self.paths.append(path)

    def disconnected(self) -> None:
        self.sessions.append("disconnected")

    def connected(self, *, new_session: bool) -> None:
        self.sessions.append("new session" if new_session else "same session")


def eventually(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.01)


class StoreConformance:
    def test_many_nodes_are_read_in_the_order_asked_for(self, store: Store) -> None:
        store.create("/many")
        for start in range(0, 700, 100):
            store.multi([Create(f"/many/{number}", b"%d" % number) for number in range(start, start + 100)])
        asked = [
            number for pair in zip(range(699, -1, -1), range(1000, 1700), strict=True) for number in pair
        ]
        found = store.read_many([f"/many/{number}" for number in asked])
        assert [None if each is None else int(each.data) for each in found] == [
            number if number < 700 else None for number in asked
        ]
        assert all(
            each.stat == store.stat("/many/0") for each in found if each is not None and each.data == b"0"
        )
        store.multi([SetData("/many/0", b""), Delete("/many/1")])
        emptied, gone = store.read_many(["/many/0", "/many/1"])
        assert emptied is not None and (emptied.data, emptied.stat.version) == (b"", 1) and gone is None

    def test_a_node_is_created_read_changed_and_deleted(self, store: Store) -> None:
        store.create("/a", b"one")
        assert store.get("/a") == Node(b"one", 0)
        assert store.set("/a", b"two") == 1
        assert store.set("/a", b"three", version=1) == 2
        assert store.get("/a") == Node(b"three", 2)
        store.delete("/a", version=2)
        assert not store.exists("/a")

    def test_a_node_made_anew_starts_at_version_zero(self, store: Store) -> None:
        store.create("/a")
        store.set("/a", b"x")
        store.delete("/a")
        store.create("/a", b"y")
        assert store.get("/a") == Node(b"y", 0)

    def test_children_are_names_in_order_and_not_grandchildren(self, store: Store) -> None:
        for path in ("/b", "/b/2", "/b/10", "/b/1", "/b/1/x", "/bb"):
            store.create(path)
        assert store.children("/b") == ["1", "10", "2"]
        assert store.children("/") == ["b", "bb"]
        assert store.children("/bb") == []

    def test_names_may_hold_any_text(self, store: Store) -> None:
        for name in ("<default>", "ünïcode", "per%cent_", "dot."):
            store.create(f"/{name}", name.encode())
            assert store.get(f"/{name}").data == name.encode()

    def test_what_is_missing_is_named(self, store: Store) -> None:
        with pytest.raises(NoNode, match="/a") as refusal:
            store.get("/a")
        assert refusal.value.path == "/a"
        for call in (lambda: store.set("/a", b""), lambda: store.delete("/a"), lambda: store.children("/a")):
            with pytest.raises(NoNode):
                call()
        with pytest.raises(NoNode, match="/a"):
            store.create("/a/b")

    def test_what_is_there_is_not_made_again(self, store: Store) -> None:
        store.create("/a", b"first")
        with pytest.raises(NodeExists):
            store.create("/a", b"second")
        with pytest.raises(NodeExists):
            store.create("/")
        assert store.get("/a") == Node(b"first", 0)

    def test_a_stale_version_changes_nothing(self, store: Store) -> None:
        store.create("/a", b"0")
        store.set("/a", b"1")
        with pytest.raises(BadVersion, match="version 1, not 0"):
            store.set("/a", b"2", version=0)
        with pytest.raises(BadVersion):
            store.delete("/a", version=0)
        assert store.get("/a") == Node(b"1", 1)

    def test_a_node_with_children_stays(self, store: Store) -> None:
        store.create("/a")
        store.create("/a/b")
        with pytest.raises(NotEmpty):
            store.delete("/a")
        store.delete("/a/b")
        store.delete("/a")

    def test_an_ephemeral_node_has_no_children(self, store: Store) -> None:
        store.create("/a", ephemeral=True)
        with pytest.raises(NoChildrenForEphemerals):
            store.create("/a/b")

    def test_multi_does_all_in_order(self, store: Store) -> None:
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
        self, store: Store, last: Create | SetData | Delete | CheckVersion, refusal: type[Exception]
    ) -> None:
        store.create("/a", b"before")
        with pytest.raises(refusal):
            store.multi([Create("/x"), Create("/x/c"), SetData("/a", b"after"), last])
        assert store.children("/") == ["a"]
        assert store.get("/a") == Node(b"before", 0)

    def test_a_refused_call_leaves_the_store_usable(self, store: Store) -> None:
        with pytest.raises(NoNode):
            store.delete("/a")
        store.create("/a")
        assert store.exists("/a")

    def test_creations_are_in_one_order_over_the_whole_tree(self, store: Store) -> None:
        store.create("/a")
        store.create("/b")
        store.set("/a", b"x")
        first, second = store.stat("/a"), store.stat("/b")
        assert first is not None and second is not None
        assert first.created < second.created
        store.delete("/a")
        store.create("/a")
        again = store.stat("/a")
        assert again is not None and again.created > second.created
        assert store.stat("/c") is None

    def test_many_are_read_at_once_and_the_missing_are_none(self, store: Store) -> None:
        store.multi([Create("/a", b"1"), Create("/b", b"2", ephemeral=True)])
        store.set("/a", b"3")
        first, missing, second = store.read_many(["/a", "/x/y", "/b"])
        assert first is not None and second is not None and missing is None
        assert (first.data, first.stat.version, first.stat.owner) == (b"3", 1, NO_OWNER)
        assert (second.data, second.stat.owner) == (b"2", store.session_id)
        assert store.read_many([]) == []

    def test_a_watcher_is_told_of_every_change_in_the_tree(self, store: Store) -> None:
        store.create("/before")
        told = Told()
        store.watch(told)
        store.create("/a", b"1")
        store.multi([Create("/a/b"), SetData("/a", b"2"), CheckVersion("/before", 0)])
        store.set("/before", b"x")
        store.delete("/a/b")
        expected = ["/a", "/a/b", "/a", "/before", "/a/b"]
        eventually(lambda: len(told.paths) >= len(expected))
        assert sorted(told.paths) == sorted(expected)

    def test_what_was_refused_is_not_told(self, store: Store) -> None:
        told = Told()
        store.watch(told)
        with pytest.raises(NoNode):
            store.multi([Create("/a"), Delete("/b")])
        store.create("/end")
        eventually(lambda: "/end" in told.paths)
        assert told.paths == ["/end"]


class SessionConformance:
    """For trees that several sessions share."""

    def test_an_ephemeral_node_goes_with_its_session(self, connect: Callable[[], Store]) -> None:
        first, second = connect(), connect()
        told = Told()
        second.watch(told)
        first.create("/here", b"1", ephemeral=True)
        found = second.stat("/here")
        assert found is not None and found.owner == first.session_id != second.session_id
        eventually(lambda: told.paths == ["/here"])
        first.close()
        eventually(lambda: not second.exists("/here"))
        eventually(lambda: told.paths == ["/here", "/here"])

    def test_one_of_two_writers_wins(self, connect: Callable[[], Store]) -> None:
        first, second = connect(), connect()
        first.create("/a", b"0")
        version = second.get("/a").version
        first.set("/a", b"first", version)
        with pytest.raises(BadVersion):
            second.set("/a", b"second", version)
        assert second.get("/a") == Node(b"first", 1)

    def test_a_change_by_one_is_told_to_the_other(self, connect: Callable[[], Store]) -> None:
        first, second = connect(), connect()
        told = Told()
        second.watch(told)
        first.multi([Create("/a"), Create("/a/b", b"x")])
        eventually(lambda: sorted(told.paths) == ["/a", "/a/b"])
        assert second.get("/a/b").data == b"x"
