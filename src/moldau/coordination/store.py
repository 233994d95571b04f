"""The coordination port: a tree of small versioned nodes, as ZooKeeper keeps one.

Paths are absolute, parts separated by `/`, without a trailing one; the root `/` is always there. Each node
holds bytes and a version that starts at 0 and grows by one with every `set`. An ephemeral node has no children
and goes when its owner's session ends.

Calls block, so they run on worker threads; several threads may call at once. Watchers are called on any thread of
the store, so a watcher hands over to its own thread and returns at once. A watch covers the whole tree and lasts
until the store is closed. The store replaces an expired session by itself. It does not create ephemeral nodes again,
because only their owner knows whether it still wants them.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

from moldau.core.errors import MoldauError, StorageFault

ANY_VERSION: Final = -1
NO_OWNER: Final = 0


class StoreError(MoldauError):
    """The store rejected a change because the tree differs from what the caller expected. Nothing was changed."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(message)
        self.path = path


class NoNode(StoreError):
    def __init__(self, path: str) -> None:
        super().__init__(path, f"there is no node {path}")


class NodeExists(StoreError):
    def __init__(self, path: str) -> None:
        super().__init__(path, f"node {path} exists already")


class BadVersion(StoreError):
    def __init__(self, path: str, expected: int, found: int) -> None:
        super().__init__(
            path, f"node {path} is at version {found}, not {expected}: it was changed in the meantime"
        )


class NotEmpty(StoreError):
    def __init__(self, path: str) -> None:
        super().__init__(path, f"node {path} has children")


class NoChildrenForEphemerals(StoreError):
    def __init__(self, path: str) -> None:
        super().__init__(path, f"node {path} is ephemeral and can have no children")


class StoreUnavailable(StorageFault):
    """The store did not answer. A change may have been made or not: read before retrying."""


class StoreForbids(StoreUnavailable):
    """The store does not let us do it: our login, or its absence, gives no right to. Nothing was changed."""


class Node(NamedTuple):
    data: bytes
    version: int


class Stat(NamedTuple):
    version: int
    created: int
    """Position of the node's creation in the order of all changes to the tree: later nodes have larger ones."""
    owner: int
    """The session that an ephemeral node belongs to; NO_OWNER for any other node."""


class Reading(NamedTuple):
    data: bytes
    stat: Stat


class Create(NamedTuple):
    path: str
    data: bytes = b""
    ephemeral: bool = False


class SetData(NamedTuple):
    path: str
    data: bytes
    version: int = ANY_VERSION


class Delete(NamedTuple):
    path: str
    version: int = ANY_VERSION


class CheckVersion(NamedTuple):
    """Changes nothing; fails the whole `multi` if the node is not at this version."""

    path: str
    version: int


Op = Create | SetData | Delete | CheckVersion


class Watcher(Protocol):
    """Called on any thread, one call at a time; must neither block nor call the store."""

    def changed(self, path: str) -> None:
        """The node was created, changed or deleted; read it to know which. Several changes may cause one call."""

    def disconnected(self) -> None:
        """The store cannot be reached. The session may have expired; that is known only after reconnecting."""

    def connected(self, *, new_session: bool) -> None:
        """Connected again; changes may have been missed, so read everything. With a new session, the ephemeral nodes
        of the old one are gone or will go soon."""


class Store(Protocol):
    @property
    def session_id(self) -> int:
        """Of the current session: the `Stat.owner` of ephemeral nodes created now."""

    def create(self, path: str, data: bytes = b"", *, ephemeral: bool = False) -> None:
        """NodeExists; NoNode if the parent is missing; NoChildrenForEphemerals."""

    def get(self, path: str) -> Node:
        """NoNode."""

    def read_many(self, paths: Sequence[str]) -> list[Reading | None]:
        """Each node, or None where there is none. Not a snapshot: others may write between two reads."""

    def set(self, path: str, data: bytes, version: int = ANY_VERSION) -> int:
        """The new version. NoNode, BadVersion."""

    def delete(self, path: str, version: int = ANY_VERSION) -> None:
        """NoNode, BadVersion, NotEmpty."""

    def children(self, path: str) -> list[str]:
        """Names, sorted, without the parent's path. NoNode."""

    def exists(self, path: str) -> bool: ...

    def stat(self, path: str) -> Stat | None: ...

    def multi(self, ops: Sequence[Op]) -> None:
        """All of the operations in order, or none: the first one that fails raises its error."""

    def watch(self, watcher: Watcher) -> None:
        """Reports every change from now on, including this session's own."""

    def close(self) -> None:
        """Ends the session and with it its ephemeral nodes."""


def check_path(path: str) -> None:
    """Asserts that the path is well formed: a malformed one is a bug of ours."""
    assert path == "/" or (path.startswith("/") and not path.endswith("/") and "//" not in path), path


def parent_of(path: str) -> str:
    return path.rpartition("/")[0] or "/"


def touched_paths(ops: Sequence[Op]) -> list[str]:
    return [op.path for op in ops if not isinstance(op, CheckVersion)]
