"""The embedded store: the tree in one SQLite file, for a broker that stands alone.

Write-ahead log with full synchronisation: what a call returned from survives `kill -9` and loss of power. One
connection; calls from several threads take turns. Ephemeral nodes of a process that died go when the file
is opened next: its only user is then this one.
"""

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from moldau.coordination.store import (
    ANY_VERSION,
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
    SetData,
    check_path,
    parent_of,
)
from moldau.core.errors import StorageFault

SCHEMA_VERSION: Final = 1
_SCHEMA: Final = """
CREATE TABLE node (
    path TEXT PRIMARY KEY,
    parent TEXT NOT NULL,
    data BLOB NOT NULL,
    version INTEGER NOT NULL,
    ephemeral INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX node_parent ON node (parent);
INSERT INTO node VALUES ('/', '', x'', 0, 0);
"""


class SqliteStore:
    def __init__(self, path: str) -> None:
        """Opens or makes the file; `:memory:` keeps the tree in memory only."""
        self._path = path
        self._turn = threading.RLock()
        with self._faults():
            # Autocommit: transactions are begun and ended in `_transaction`, nowhere else.
            self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=FULL")
            self._prepare()

    def _prepare(self) -> None:
        (found,) = self._db.execute("PRAGMA user_version").fetchone()
        if found == 0:
            self._db.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version={SCHEMA_VERSION}; COMMIT;")
        elif found != SCHEMA_VERSION:
            raise StorageFault(
                self._path,
                f"{self._path} is a coordination store of version {found}, this program knows version "
                f"{SCHEMA_VERSION}; open it with the program that wrote it",
            )
        elif self._db.execute("SELECT 1 FROM node WHERE ephemeral LIMIT 1").fetchone():
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

    def set(self, path: str, data: bytes, version: int = ANY_VERSION) -> int:
        with self._transaction():
            return self._set(path, data, version)

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
        with self._transaction():
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
        try:
            self._db.execute(
                "INSERT INTO node VALUES (?, ?, ?, 0, ?)", (op.path, parent, op.data, op.ephemeral)
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
        except sqlite3.Error as error:
            raise StorageFault(
                self._path,
                f"the coordination store {self._path} failed: {error}; check the disk's free space and the "
                "file's permissions",
            ) from error
