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
from kazoo.security import ACL

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
    StoreForbids,
    StoreUnavailable,
    Watcher,
    check_path,
    parent_of,
)
from moldau.coordination.zookeeper_protection import (
    NO_PROTECTION,
    Obstacle,
    Protection,
    TlsHandler,
    log_in_with,
    node_acl,
    warn_of_open_nodes,
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
_FORBIDDEN: Final = (zk.NoAuthError, zk.InvalidACLError, zk.SessionClosedRequireSaslError)
_log = logging.getLogger("moldau.zookeeper")


class ZooKeeperStore:
    def __init__(
        self,
        connect: str,
        *,
        session_timeout_ms: int = 18_000,
        connection_timeout_ms: int | None = None,
        protection: Protection = NO_PROTECTION,
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
        self._has_own_nodes = protection.has_own_nodes
        self._obstacle = Obstacle()
        logger = logging.getLogger("moldau.zookeeper.client")
        logger.setLevel(logging.ERROR)
        self._client = KazooClient(
            hosts=hosts,
            timeout=self._timeout_s,
            connection_retry={"max_tries": -1, "delay": READ_PAUSE_S, "max_delay": CONNECT_PAUSE_MAX_S},
            logger=logger,
            handler=TlsHandler(protection.tls, self._obstacle) if protection.tls is not None else None,
            use_ssl=protection.tls is not None,
        )
        if protection.login is not None:
            log_in_with(self._client, protection.login, self._obstacle)
        _bound_connects(self._client, self._timeout_s / CONNECTS_PER_SESSION)
        redirect_watch_events(self._client, self._tell)
        self._open((connection_timeout_ms or session_timeout_ms) / 1000)
        self._client.add_listener(self._state_changed)

    def _open(self, timeout_s: float) -> None:
        try:
            self._client.start(timeout=timeout_s)
        except KazooTimeoutError:
            self._client.close()
            raise StoreUnavailable(self._connect, self._silence(timeout_s)) from None
        try:
            with self._failures("/"):
                if self._chroot not in ("", "/"):
                    self._client.ensure_path(self._chroot, acl=self._acl(self._chroot))
                    self._client.chroot = self._chroot
                self._attach()
                if self._has_own_nodes:
                    warn_of_open_nodes(self._client, self._timeout_s)
        except StoreUnavailable:
            self._client.stop()
            self._client.close()
            if self._obstacle.text is not None:
                raise StoreUnavailable(self._connect, self._obstacle.text) from None
            raise
        self._known_session = self.session_id

    def _silence(self, timeout_s: float) -> str:
        if self._obstacle.text is not None:
            return self._obstacle.text
        return (
            f"no ZooKeeper answered at {self._connect} within {timeout_s:g} s; check that it is running "
            "(`moldau zookeeper` starts one) and that zookeeper.connect is right"
        )

    def _acl(self, path: str) -> Sequence[ACL]:
        return node_acl(path, is_own=self._has_own_nodes)

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
                    request.create(op.path, op.data, self._acl(op.path), ephemeral=op.ephemeral)
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
            except StoreForbids:
                raise
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
        except _FORBIDDEN as error:
            raise self._forbidden(path, error) from None
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
            case zk.NoAuthError() | zk.InvalidACLError() | zk.SessionClosedRequireSaslError():
                return self._forbidden(parent_of(op.path) if isinstance(op, Create) else op.path, error)
        return StoreUnavailable(
            self._connect, f"ZooKeeper rejected a change of {op.path}: {type(error).__name__}"
        )

    def _bad_version(self, path: str, expected: int) -> BadVersion:
        found = self.stat(path)
        return BadVersion(path, expected, found.version if found else ANY_VERSION)

    def _forbidden(self, path: str, error: Exception) -> StoreForbids:
        match error:
            case zk.SessionClosedRequireSaslError():
                why = "demands a login: set moldau.zookeeper.sasl.jaas.config"
            case zk.InvalidACLError():
                why = f"cannot protect {path}, because it accepted no login: see zookeeper.set.acl"
            case _:
                why = (
                    f"does not let this broker use {path}, which belongs to another login; give all brokers the same "
                    "one in moldau.zookeeper.sasl.jaas.config"
                )
        return StoreForbids(self._connect, f"ZooKeeper at {self._connect} {why}")

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
