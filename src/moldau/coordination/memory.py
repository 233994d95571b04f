"""A tree in memory that several sessions of one process share, for simulated and test clusters.

Calls do not block. Watchers are called before the call that made the change returns. Tests can disconnect, reconnect
and expire sessions.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass

from moldau.coordination.store import (
    ANY_VERSION,
    NO_OWNER,
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
    StoreUnavailable,
    Watcher,
    check_path,
    parent_of,
    touched_paths,
)


@dataclass(frozen=True, slots=True)
class _Kept:
    data: bytes
    version: int
    created: int
    owner: int


class MemoryTree:
    def __init__(self) -> None:
        self._nodes: dict[str, _Kept] = {"/": _Kept(b"", 0, 0, NO_OWNER)}
        self._children: dict[str, set[str]] = {"/": set()}
        self._created_last = 0
        self._session_last = 0
        self._stores: list[MemoryStore] = []
        self.turn = threading.RLock()

    def connect(self) -> "MemoryStore":
        store = MemoryStore(self, self.new_session())
        self._stores.append(store)
        return store

    def new_session(self) -> int:
        self._session_last += 1
        return self._session_last

    def find(self, path: str) -> _Kept | None:
        check_path(path)
        return self._nodes.get(path)

    def children(self, path: str) -> list[str]:
        if self.find(path) is None:
            raise NoNode(path)
        return sorted(self._children[path])

    def multi(self, ops: Sequence[Op], session: int) -> None:
        with self.turn:
            before = {path: self._nodes.get(path) for path in touched_paths(ops)}
            try:
                for op in ops:
                    self._apply(op, session)
            except BaseException:
                for path, kept in reversed(before.items()):
                    self._put(path, kept)
                raise
            self._tell(touched_paths(ops))

    def end(self, session: int) -> None:
        """Removes the session's ephemeral nodes."""
        with self.turn:
            gone = [path for path, kept in self._nodes.items() if kept.owner == session]
            for path in gone:
                self._put(path, None)
            self._tell(gone)

    def forget(self, store: "MemoryStore") -> None:
        if store in self._stores:
            self._stores.remove(store)

    def _tell(self, paths: Sequence[str]) -> None:
        for store in list(self._stores):
            store.tell(paths)

    def _apply(self, op: Op, session: int) -> None:
        if isinstance(op, Create):
            self._create(op, session)
            return
        kept = self.find(op.path)
        if kept is None:
            raise NoNode(op.path)
        if op.version not in (ANY_VERSION, kept.version):
            raise BadVersion(op.path, op.version, kept.version)
        if isinstance(op, SetData):
            self._put(op.path, _Kept(op.data, kept.version + 1, kept.created, kept.owner))
        elif isinstance(op, Delete):
            if self._children[op.path]:
                raise NotEmpty(op.path)
            self._put(op.path, None)

    def _create(self, op: Create, session: int) -> None:
        if self.find(op.path) is not None:
            raise NodeExists(op.path)
        parent = self.find(parent_of(op.path))
        if parent is None:
            raise NoNode(parent_of(op.path))
        if parent.owner != NO_OWNER:
            raise NoChildrenForEphemerals(parent_of(op.path))
        self._created_last += 1
        owner = session if op.ephemeral else NO_OWNER
        self._put(op.path, _Kept(op.data, 0, self._created_last, owner))

    def _put(self, path: str, kept: _Kept | None) -> None:
        name = path.rpartition("/")[2]
        siblings = self._children.setdefault(parent_of(path), set())
        if kept is None:
            self._nodes.pop(path, None)
            self._children.pop(path, None)
            siblings.discard(name)
        else:
            self._nodes[path] = kept
            self._children.setdefault(path, set())
            siblings.add(name)


class MemoryStore:
    """One session's view of the tree, made by `MemoryTree.connect`."""

    def __init__(self, tree: MemoryTree, session_id: int) -> None:
        self._tree = tree
        self._session_id = session_id
        self._watchers: list[Watcher] = []
        self._is_connected = True
        self._is_expired = False

    @property
    def session_id(self) -> int:
        return self._session_id

    def disconnect(self) -> None:
        """Calls fail until `reconnect`; the session stays alive."""
        if self._is_connected:
            self._is_connected = False
            for watcher in self._watchers:
                watcher.disconnected()

    def expire(self) -> None:
        """Expires the session. Its owner learns of that when it reconnects, as with ZooKeeper."""
        self.disconnect()
        self.expire_unnoticed()

    def expire_unnoticed(self) -> None:
        """As `expire`, but the owner does not notice the disconnection either: its process was stopped meanwhile."""
        self._is_connected = False
        if not self._is_expired:
            self._is_expired = True
            self._tree.end(self._session_id)

    def reconnect(self) -> None:
        is_new = self._is_expired
        if is_new:
            self._session_id = self._tree.new_session()
            self._is_expired = False
        self._is_connected = True
        for watcher in self._watchers:
            watcher.connected(new_session=is_new)

    def create(self, path: str, data: bytes = b"", *, ephemeral: bool = False) -> None:
        self.multi((Create(path, data, ephemeral),))

    def get(self, path: str) -> Node:
        self._check()
        kept = self._tree.find(path)
        if kept is None:
            raise NoNode(path)
        return Node(kept.data, kept.version)

    def read_many(self, paths: Sequence[str]) -> list[Reading | None]:
        self._check()
        found = map(self._tree.find, paths)
        return [
            None if kept is None else Reading(kept.data, Stat(kept.version, kept.created, kept.owner))
            for kept in found
        ]

    def stat(self, path: str) -> Stat | None:
        (found,) = self.read_many([path])
        return None if found is None else found.stat

    def set(self, path: str, data: bytes, version: int = ANY_VERSION) -> int:
        with self._tree.turn:
            self.multi((SetData(path, data, version),))
            return self.get(path).version

    def delete(self, path: str, version: int = ANY_VERSION) -> None:
        self.multi((Delete(path, version),))

    def children(self, path: str) -> list[str]:
        self._check()
        return self._tree.children(path)

    def exists(self, path: str) -> bool:
        return self.stat(path) is not None

    def multi(self, ops: Sequence[Op]) -> None:
        self._check()
        self._tree.multi(ops, self._session_id)

    def watch(self, watcher: Watcher) -> None:
        self._watchers.append(watcher)

    def close(self) -> None:
        self._tree.forget(self)
        self._tree.end(self._session_id)

    def tell(self, paths: Sequence[str]) -> None:
        if self._is_connected:
            for watcher in self._watchers:
                for path in paths:
                    watcher.changed(path)

    def _check(self) -> None:
        if not self._is_connected:
            raise StoreUnavailable("memory", "the coordination store is out of reach")
