"""The store of a cluster: a ZooKeeper ensemble, through the kazoo client.

kazoo keeps the session on its own threads: it pings, reconnects, and opens a new session when the old one has
expired. A change whose answer was lost may have been made: it raises `StoreUnavailable` and is never retried here.
Reads are retried until the session timeout has passed.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Final, TypeVar

from kazoo import exceptions as zk
from kazoo.client import KazooClient
from kazoo.handlers.threading import KazooTimeoutError
from kazoo.protocol.states import KazooState, ZnodeStat

from moldau.coordination.store import (
    ANY_VERSION,
    BadVersion,
    Create,
    Delete,
    NoChildrenForEphemerals,
    Node,
    NodeExists,
    NoNode,
    NotEmpty,
    Op,
    Reading,
    SetData,
    Stat,
    StoreError,
    StoreUnavailable,
    Watcher,
    check_path,
    parent_of,
)
from moldau.coordination.zookeeper_reads import read_nodes
from moldau.coordination.zookeeper_watch import add_tree_watch, redirect_watch_events

Result = TypeVar("Result")

READ_PAUSE_S: Final = 0.1
CONNECT_PAUSE_MAX_S: Final = 1.0
CONNECTS_PER_SESSION: Final = 3
_LOST: Final = (
    zk.ConnectionLoss,
    zk.ConnectionClosedError,
    zk.SessionExpiredError,
    zk.OperationTimeoutError,
    KazooTimeoutError,
)
_log = logging.getLogger("moldau.zookeeper")


class ZooKeeperStore:
    def __init__(
        self, connect: str, *, session_timeout_ms: int = 18_000, connection_timeout_ms: int | None = None
    ) -> None:
        """`connect` is Kafka's `zookeeper.connect`: `host:port,host:port/chroot`. Blocks until there is a session;
        StoreUnavailable if none is established in time."""
        self._connect = connect
        hosts, slash, chroot = connect.partition("/")
        self._chroot = slash + chroot.rstrip("/")
        self._timeout_s = session_timeout_ms / 1000
        self._watchers: list[Watcher] = []
        self._telling = threading.Lock()
        self._known_session = 0
        logger = logging.getLogger("moldau.zookeeper.client")
        logger.setLevel(logging.ERROR)
        self._client = KazooClient(
            hosts=hosts,
            timeout=self._timeout_s,
            connection_retry={"max_tries": -1, "delay": READ_PAUSE_S, "max_delay": CONNECT_PAUSE_MAX_S},
            logger=logger,
        )
        _bound_connects(self._client, self._timeout_s / CONNECTS_PER_SESSION)
        redirect_watch_events(self._client, self._tell)
        self._open((connection_timeout_ms or session_timeout_ms) / 1000)
        self._client.add_listener(self._state_changed)

    def _open(self, timeout_s: float) -> None:
        try:
            self._client.start(timeout=timeout_s)
        except KazooTimeoutError:
            self._client.close()
            raise StoreUnavailable(
                self._connect,
                f"no ZooKeeper answered at {self._connect} within {timeout_s:g} s; check that it is running "
                "(`moldau zookeeper` starts one) and that zookeeper.connect is right",
            ) from None
        with self._failures("/"):
            if self._chroot not in ("", "/"):
                self._client.ensure_path(self._chroot)
                self._client.chroot = self._chroot
            self._attach()
        self._known_session = self.session_id

    @property
    def session_id(self) -> int:
        client_id = self._client.client_id
        return int(client_id[0]) if client_id else 0

    def create(self, path: str, data: bytes = b"", *, ephemeral: bool = False) -> None:
        self.multi((Create(path, data, ephemeral),))

    def get(self, path: str) -> Node:
        (found,) = self.read_many([path])
        if found is None:
            raise NoNode(path)
        return Node(found.data, found.stat.version)

    def read_many(self, paths: Sequence[str]) -> list[Reading | None]:
        for path in paths:
            check_path(path)
        return self._reading("/", lambda: read_nodes(self._client, paths, self._timeout_s))

    def stat(self, path: str) -> Stat | None:
        check_path(path)
        found = self._reading(path, lambda: self._client.exists_async(path).get(timeout=self._timeout_s))
        return None if found is None else _stat(found)

    def exists(self, path: str) -> bool:
        return self.stat(path) is not None

    def children(self, path: str) -> list[str]:
        check_path(path)
        names = self._reading(
            path, lambda: self._client.get_children_async(path).get(timeout=self._timeout_s)
        )
        return sorted(names)

    def set(self, path: str, data: bytes, version: int = ANY_VERSION) -> int:
        check_path(path)
        with self._failures(path, version):
            stat = self._client.set_async(path, data, version).get(timeout=self._timeout_s)
        return int(stat.version)

    def delete(self, path: str, version: int = ANY_VERSION) -> None:
        self.multi((Delete(path, version),))

    def multi(self, ops: Sequence[Op]) -> None:
        request = self._client.transaction()
        for op in ops:
            check_path(op.path)
            match op:
                case Create():
                    request.create(op.path, op.data, ephemeral=op.ephemeral)
                case SetData():
                    request.set_data(op.path, op.data, op.version)
                case Delete():
                    request.delete(op.path, op.version)
                case _:
                    request.check(op.path, op.version)
        with self._failures("/"):
            results = request.commit_async().get(timeout=self._timeout_s)
        for op, result in zip(ops, results, strict=True):
            if isinstance(result, Exception) and not isinstance(
                result, zk.RolledBackError | zk.RuntimeInconsistency
            ):
                raise self._refusal(op, result)

    def watch(self, watcher: Watcher) -> None:
        self._watchers.append(watcher)

    def close(self) -> None:
        self._watchers.clear()
        self._client.remove_listener(self._state_changed)
        # If the server cannot be reached, the session ends by its timeout.
        with suppress(*_LOST):
            self._client.stop()
            self._client.close()

    def _reading(self, path: str, read: Callable[[], Result]) -> Result:
        deadline = time.monotonic() + self._timeout_s
        while True:
            try:
                with self._failures(path):
                    return read()
            except StoreUnavailable:
                if time.monotonic() > deadline:
                    raise
                time.sleep(READ_PAUSE_S)

    @contextmanager
    def _failures(self, path: str, version: int = ANY_VERSION) -> Iterator[None]:
        try:
            yield
        except zk.NoNodeError:
            raise NoNode(path) from None
        except zk.BadVersionError:
            raise self._bad_version(path, version) from None
        except _LOST as lost:
            raise StoreUnavailable(
                self._connect,
                f"ZooKeeper at {self._connect} did not answer ({type(lost).__name__}); the change may or may "
                "not have been made",
            ) from None

    def _refusal(self, op: Op, error: Exception) -> StoreError | StoreUnavailable:
        match error:
            case zk.NodeExistsError():
                return NodeExists(op.path)
            case zk.NotEmptyError():
                return NotEmpty(op.path)
            case zk.NoChildrenForEphemeralsError():
                return NoChildrenForEphemerals(parent_of(op.path))
            case zk.BadVersionError():
                return self._bad_version(op.path, getattr(op, "version", ANY_VERSION))
            case zk.NoNodeError():
                return NoNode(parent_of(op.path) if isinstance(op, Create) else op.path)
        return StoreUnavailable(
            self._connect, f"ZooKeeper rejected a change of {op.path}: {type(error).__name__}"
        )

    def _bad_version(self, path: str, expected: int) -> BadVersion:
        found = self.stat(path)
        return BadVersion(path, expected, found.version if found else ANY_VERSION)

    def _tell(self, path: str) -> None:
        with self._telling:
            for watcher in self._watchers:
                watcher.changed(path)

    def _state_changed(self, state: str) -> None:
        """Called on kazoo's connection thread, which must not block: requests to the server run elsewhere."""
        if state == KazooState.CONNECTED:
            self._client.handler.spawn(self._reconnected)
        else:
            _log.warning("the connection to ZooKeeper at %s is %s", self._connect, state.lower())
            with self._telling:
                for watcher in self._watchers:
                    watcher.disconnected()

    def _attach(self) -> None:
        """Watches the tree on the connected server and waits until that server has caught up with the ensemble: a
        reader must not see leaderships that had ended before it reconnected."""
        add_tree_watch(self._client, self._timeout_s)
        self._client.sync_async("/").get(timeout=self._timeout_s)

    def _reconnected(self) -> None:
        try:
            self._attach()
        except _LOST:
            return  # The connection broke again; the next one calls this method again.
        session = self.session_id
        is_new = session != self._known_session
        self._known_session = session
        _log.info(
            "connected to ZooKeeper at %s again, %s session",
            self._connect, "with a new" if is_new else "in the same",
        )  # fmt: skip
        with self._telling:
            for watcher in self._watchers:
                watcher.connected(new_session=is_new)


def _bound_connects(client: KazooClient, timeout_s: float) -> None:
    """Limits how long kazoo waits for the answer to a connect request. A server that is just starting may accept one
    and neither answer nor close the connection; kazoo would wait for a whole session timeout and lose its session."""
    # A private name of kazoo's, which its connection calls only while it is being established.
    invoke = client._connection._invoke

    def invoke_in_time(timeout: float, request: object, xid: int | None = None) -> object:
        return invoke(min(timeout, timeout_s), request, xid)

    client._connection._invoke = invoke_in_time


def _stat(stat: ZnodeStat) -> Stat:
    return Stat(version=stat.version, created=stat.czxid, owner=stat.ephemeralOwner or 0)
