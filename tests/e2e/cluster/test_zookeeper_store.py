"""A real ZooKeeper held against the port's suite, and what happens to sessions when it goes away."""

import os
import signal
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from kazoo.client import KazooClient

from e2e.cluster.gates import Gates
from e2e.process_facts import has_stopped
from moldau.coordination.store import Create, SetData, Store, StoreUnavailable
from moldau.coordination.zookeeper import ZooKeeperStore
from moldau.coordination.zookeeper_server import ZooKeeperServer, free_ports
from store_conformance import SessionConformance, StoreConformance, Told, eventually
from zookeeper_kit import one_zookeeper, three_zookeepers

SHORT_SESSION_MS = 2_000
LONG_SESSION_MS = 30_000


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZooKeeperServer]:
    with one_zookeeper(tmp_path_factory.mktemp("zookeeper")) as started:
        yield started


@pytest.fixture
def connect(server: ZooKeeperServer) -> Iterator[Callable[..., ZooKeeperStore]]:
    """Sessions in a part of the tree that no other test sees."""
    where = f"{server.address}/test/{uuid.uuid4()}"
    opened: list[ZooKeeperStore] = []

    def open_one(session_timeout_ms: int = LONG_SESSION_MS) -> ZooKeeperStore:
        opened.append(ZooKeeperStore(where, session_timeout_ms=session_timeout_ms))
        return opened[-1]

    yield open_one
    for each in opened:
        each.close()


@pytest.fixture
def store(connect: Callable[[], Store]) -> Store:
    return connect()


class TestStore(StoreConformance):
    pass


class TestSessions(SessionConformance):
    pass


def test_a_session_outlives_a_restart_of_the_server(
    server: ZooKeeperServer, connect: Callable[..., ZooKeeperStore]
) -> None:
    store = connect()
    told = Told()
    store.watch(told)
    store.create("/here", b"1", ephemeral=True)
    session = store.session_id
    server.kill()
    eventually(lambda: "disconnected" in told.sessions)
    server.start()
    eventually(lambda: told.sessions[-1] == "same session")
    assert store.session_id == session
    assert store.get("/here").data == b"1"
    store.create("/after")
    eventually(lambda: "/after" in told.paths)


def test_a_session_outlives_a_server_that_takes_a_connect_and_never_answers(server: ZooKeeperServer) -> None:
    with Gates() as gates:
        gate = gates.to(server.client_port)
        store = ZooKeeperStore(
            f"127.0.0.1:{gate.port}/{uuid.uuid4()}", session_timeout_ms=LONG_SESSION_MS // 2
        )
        told = Told()
        store.watch(told)
        store.create("/here", b"1", ephemeral=True)
        session = store.session_id
        gate.cut(swallow_next=1)
        eventually(lambda: told.sessions[-1:] == ["same session"])
        assert gate.swallowed == 1
        assert store.session_id == session
        assert store.get("/here").data == b"1"
        store.close()


def test_an_expired_session_is_begun_anew_and_told(
    server: ZooKeeperServer, connect: Callable[..., ZooKeeperStore]
) -> None:
    store = connect()
    told = Told()
    store.watch(told)
    store.create("/here", ephemeral=True)
    session = store.session_id
    _end_session(server, store)
    eventually(lambda: told.sessions[-1:] == ["new session"])
    assert store.session_id != session
    assert not store.exists("/here")
    store.create("/after")
    eventually(lambda: "/after" in told.paths)


def _end_session(server: ZooKeeperServer, store: ZooKeeperStore) -> None:
    """ZooKeeper lets whoever knows a session's number and password take it over, and close it."""
    other = KazooClient(server.address, client_id=store._client.client_id)
    other.start()
    other.stop()
    other.close()


def test_a_server_that_hangs_makes_calls_fail_not_wait_for_ever(
    server: ZooKeeperServer, connect: Callable[..., ZooKeeperStore]
) -> None:
    store = connect(SHORT_SESSION_MS)
    store.create("/a")
    os.kill(server.pid, signal.SIGSTOP)
    try:
        # A thread that runs on another core stops a moment later, and could still answer.
        eventually(lambda: has_stopped(server.pid))
        with pytest.raises(StoreUnavailable, match="may or may not have been made"):
            store.set("/a", b"lost")
    finally:
        os.kill(server.pid, signal.SIGCONT)

    def reached() -> bool:
        try:
            return store.exists("/a")
        except StoreUnavailable:
            return False

    eventually(reached)


def test_nobody_listening_is_a_clear_refusal() -> None:
    (port,) = free_ports(1)
    with pytest.raises(
        StoreUnavailable, match=f"no ZooKeeper answered at 127.0.0.1:{port} .*moldau zookeeper"
    ):
        ZooKeeperStore(f"127.0.0.1:{port}", session_timeout_ms=1000)


def test_an_ensemble_goes_on_without_its_leader(tmp_path: Path) -> None:
    with three_zookeepers(tmp_path) as servers:
        assert sorted(str(each.mode()) for each in servers) == ["follower", "follower", "leader"]
        store = ZooKeeperStore(",".join(each.address for each in servers), session_timeout_ms=20_000)
        told = Told()
        store.watch(told)
        store.multi([Create("/a", b"1"), SetData("/a", b"2")])
        next(each for each in servers if each.mode() == "leader").kill()

        def written() -> bool:
            try:
                store.set("/a", b"3")
            except StoreUnavailable:
                return False
            return True

        eventually(written)
        assert store.get("/a").data == b"3"
        store.close()
