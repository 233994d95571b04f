"""The stores that need no other process pass the conformance suite of the port."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from moldau.coordination.memory import MemoryTree
from moldau.coordination.sqlite import SqliteStore
from moldau.coordination.store import Store, StoreUnavailable
from store_conformance import SessionConformance, StoreConformance, Told

STORES: dict[str, Callable[[Path], Store]] = {
    "sqlite in memory": lambda directory: SqliteStore(":memory:"),
    "sqlite file": lambda directory: SqliteStore(str(directory / "coordination.db")),
    "memory": lambda directory: MemoryTree().connect(),
}


@pytest.fixture(params=list(STORES))
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened = STORES[request.param](tmp_path)
    yield opened
    opened.close()


class TestStores(StoreConformance):
    pass


class TestSessions(SessionConformance):
    @pytest.fixture
    def connect(self) -> Callable[[], Store]:
        return MemoryTree().connect


def test_a_session_cut_off_comes_back_as_itself() -> None:
    tree = MemoryTree()
    store, other = tree.connect(), tree.connect()
    told = Told()
    store.watch(told)
    store.create("/here", ephemeral=True)
    session = store.session_id
    store.disconnect()
    with pytest.raises(StoreUnavailable):
        store.get("/here")
    other.create("/missed")
    store.reconnect()
    assert told.sessions == ["disconnected", "same session"]
    assert "/missed" not in told.paths
    assert store.exists("/here") and store.session_id == session


def test_a_session_that_expired_comes_back_as_another_without_its_nodes() -> None:
    tree = MemoryTree()
    store, other = tree.connect(), tree.connect()
    told = Told()
    store.watch(told)
    store.create("/here", ephemeral=True)
    session = store.session_id
    store.expire()
    assert not other.exists("/here")
    store.reconnect()
    assert told.sessions == ["disconnected", "new session"]
    assert store.session_id != session
    store.create("/here", ephemeral=True)
