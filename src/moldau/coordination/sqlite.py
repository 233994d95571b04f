"""The embedded store: the tree in one SQLite file, for a broker that stands alone.

Uses a write-ahead log with full synchronisation: a change survives `kill -9` and power loss once the call has
returned. Threads take turns on one connection. The ephemeral nodes of a process that died are removed when the file is
opened again, since only one process uses it at a time.
"""

import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from moldau.coordination.store import (
    ANY_VERSION,
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
    Op,
    Reading,
    SetData,
    Stat,
    Watcher,
    check_path,
    parent_of,
    touched_paths,
)
from moldau.core.errors import StorageFault

SCHEMA_VERSION: Final = 2
_SCHEMA: Final = """
CREATE TABLE node (
    path TEXT PRIMARY KEY,
    parent TEXT NOT NULL,
    data BLOB NOT NULL,
    version INTEGER NOT NULL,
    ephemeral INTEGER NOT NULL,
    created INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX node_parent ON node (parent);
CREATE TABLE creations (last INTEGER NOT NULL);
INSERT INTO creations VALUES (0);
INSERT INTO node VALUES ('/', '', x'', 0, 0, 0);
"""
# Version 1 kept no order of creations: existing nodes count as older than all new ones.
_FROM_VERSION_1: Final = """
ALTER TABLE node ADD COLUMN created INTEGER NOT NULL DEFAULT 0;
CREATE TABLE creations (last INTEGER NOT NULL);
INSERT INTO creations VALUES (0);
"""
ONLY_SESSION: Final = 1
PATHS_PER_QUERY: Final = 500
IN_MEMORY: Final = ":memory:"
FILE_MODE: Final = 0o600
"""What a user's password is checked with is in the file. SQLite gives the log beside it the same mode."""
_READING: Final = "SELECT path, data, version, created, ephemeral FROM node WHERE path"


class SqliteStore:
    def __init__(self, path: str) -> None:
        """Opens or creates the file; `:memory:` keeps the tree in memory."""
        self._path = path
        self._turn = threading.RLock()
        with self._faults():
            if path != IN_MEMORY:
                # An existing file keeps its mode.
                os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE))
            # Autocommit: only `_transaction` begins and ends transactions.
            self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            try:
                self._db.execute("PRAGMA journal_mode=WAL")
                self._db.execute("PRAGMA synchronous=FULL")
                self._prepare()
                (self._created_last,) = self._db.execute("SELECT last FROM creations").fetchone()
            except BaseException:
                self._db.close()
                raise
        self._watchers: list[Watcher] = []

    @property
    def session_id(self) -> int:
        return ONLY_SESSION

    def _prepare(self) -> None:
        (found,) = self._db.execute("PRAGMA user_version").fetchone()
        if found in (0, 1):
            script = _FROM_VERSION_1 if found else _SCHEMA
            self._db.executescript(f"BEGIN; {script} PRAGMA user_version={SCHEMA_VERSION}; COMMIT;")
        elif found != SCHEMA_VERSION:
            raise StorageFault(
                self._path,
                f"{self._path} is a coordination store of version {found}, but this version of Moldau reads "
                f"version {SCHEMA_VERSION}; open it with the Moldau version that wrote it",
            )
        if self._db.execute("SELECT 1 FROM node WHERE ephemeral LIMIT 1").fetchone():
            self._db.execute("DELETE FROM node WHERE ephemeral")

    def create(self, path: str, data: bytes = b"", *, ephemeral: bool = False) -> None:
        self.multi((Create(path, data, ephemeral),))

    def get(self, path: str) -> Node:
        check_path(path)
        with self._faults():
            row = self._db.execute("SELECT data, version FROM node WHERE path = ?", (path,)).fetchone()
        if row is None:
            raise NoNode(path)
        return Node(*row)

    def read_many(self, paths: Sequence[str]) -> list[Reading | None]:
        for path in paths:
            check_path(path)
        found: dict[str, Reading] = {}
        with self._faults():
            for start in range(0, len(paths), PATHS_PER_QUERY):
                some = paths[start : start + PATHS_PER_QUERY]
                marks = ",".join("?" * len(some))
                # Only question marks are put together here.
                rows = self._db.execute(f"{_READING} IN ({marks})", some)
                found.update((row[0], _reading(*row[1:])) for row in rows)
        return [found.get(path) for path in paths]

    def stat(self, path: str) -> Stat | None:
        (found,) = self.read_many([path])
        return None if found is None else found.stat

    def set(self, path: str, data: bytes, version: int = ANY_VERSION) -> int:
        with self._turn:
            with self._transaction():
                changed = self._set(path, data, version)
            self._tell([path])
        return changed

    def delete(self, path: str, version: int = ANY_VERSION) -> None:
        self.multi((Delete(path, version),))

    def children(self, path: str) -> list[str]:
        check_path(path)
        with self._faults():
            rows = self._db.execute(
                "SELECT path FROM node WHERE parent = ? ORDER BY path", (path,)
            ).fetchall()
        if not rows and not self.exists(path):
            raise NoNode(path)
        start = len(path.rstrip("/")) + 1
        return [child[start:] for (child,) in rows]

    def exists(self, path: str) -> bool:
        check_path(path)
        with self._faults():
            return self._db.execute("SELECT 1 FROM node WHERE path = ?", (path,)).fetchone() is not None

    def multi(self, ops: Sequence[Op]) -> None:
        with self._turn:
            with self._transaction():
                self._apply(ops)
            self._tell(touched_paths(ops))

    def watch(self, watcher: Watcher) -> None:
        self._watchers.append(watcher)

    def _tell(self, paths: Sequence[str]) -> None:
        for watcher in self._watchers:
            for path in paths:
                watcher.changed(path)

    def _apply(self, ops: Sequence[Op]) -> None:
        before = self._created_last
        for op in ops:
            match op:
                case Create():
                    self._create(op)
                case SetData():
                    self._set(op.path, op.data, op.version)
                case Delete():
                    self._delete(op)
                case CheckVersion():
                    self._check_version(op.path, op.version)
        if self._created_last != before:
            self._db.execute("UPDATE creations SET last = ?", (self._created_last,))

    def close(self) -> None:
        with self._faults():
            self._db.execute("DELETE FROM node WHERE ephemeral")
            self._db.close()

    def _create(self, op: Create) -> None:
        check_path(op.path)
        parent = parent_of(op.path)
        row = self._db.execute("SELECT ephemeral FROM node WHERE path = ?", (parent,)).fetchone()
        if row is None:
            raise NoNode(parent)
        if row[0]:
            raise NoChildrenForEphemerals(parent)
        # The number of a creation that is rolled back stays unused, which does no harm.
        self._created_last += 1
        try:
            self._db.execute(
                "INSERT INTO node VALUES (?, ?, ?, 0, ?, ?)",
                (op.path, parent, op.data, op.ephemeral, self._created_last),
            )
        except sqlite3.IntegrityError:
            raise NodeExists(op.path) from None

    def _set(self, path: str, data: bytes, version: int) -> int:
        changed = self._check_version(path, version) + 1
        self._db.execute("UPDATE node SET data = ?, version = ? WHERE path = ?", (data, changed, path))
        return changed

    def _delete(self, op: Delete) -> None:
        assert op.path != "/", "the root stays"
        self._check_version(op.path, op.version)
        if self._db.execute("SELECT 1 FROM node WHERE parent = ? LIMIT 1", (op.path,)).fetchone():
            raise NotEmpty(op.path)
        self._db.execute("DELETE FROM node WHERE path = ?", (op.path,))

    def _check_version(self, path: str, expected: int) -> int:
        check_path(path)
        row = self._db.execute("SELECT version FROM node WHERE path = ?", (path,)).fetchone()
        if row is None:
            raise NoNode(path)
        (found,) = row
        if expected not in (ANY_VERSION, found):
            raise BadVersion(path, expected, found)
        return int(found)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._faults():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    @contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            with self._turn:
                yield
        except (sqlite3.Error, OSError) as error:
            raise StorageFault(
                self._path,
                f"the coordination store {self._path} failed: {error}; check the disk's free space and the "
                "file's permissions",
            ) from error


def _reading(data: bytes, version: int, created: int, ephemeral: int) -> Reading:
    return Reading(data, Stat(version, created, ONLY_SESSION if ephemeral else NO_OWNER))
