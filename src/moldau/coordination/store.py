"""The coordination port: a tree of small versioned nodes, as ZooKeeper keeps one.

Paths are absolute, parts separated by `/`, without a trailing one; the root `/` is always there. Each node
holds bytes and a version that starts at 0 and grows by one with every `set`. An ephemeral node has no children
and goes when its owner's session ends.

Calls block, so they run on worker threads; they may come from several. Watches are told on whatever thread the
store has at hand: a watcher hands over to its own thread and returns at once. A watch stays until the store is
closed and covers the whole tree. A session that was lost is begun anew by the store itself; ephemeral nodes are
not made anew, because only their owner knows whether it still wants them.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

from moldau.core.errors import MoldauError, StorageFault

ANY_VERSION: Final = -1
NO_OWNER: Final = 0


class StoreError(MoldauError):
    """A store refused: the tree is not as the caller thought. Nothing was changed."""

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
        super().__init__(path, f"node {path} is at version {found}, not {expected}: somebody else changed it")


class NotEmpty(StoreError):
    def __init__(self, path: str) -> None:
        super().__init__(path, f"node {path} has children")


class NoChildrenForEphemerals(StoreError):
    def __init__(self, path: str) -> None:
        super().__init__(path, f"node {path} is ephemeral and can have no children")


class StoreUnavailable(StorageFault):
    """The store did not answer. Whether a change was made is not known: read again before trying again."""


class Node(NamedTuple):
    data: bytes
    version: int


class Stat(NamedTuple):
    version: int
    created: int
    """Position of its creation in the order of all changes to the tree: a node made later has a larger one."""
    owner: int
    """The session that an ephemeral node goes with; NO_OWNER for any other node."""


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
    """Changes nothing; fails the whole `multi` when the node is not at this version."""

    path: str
    version: int


Op = Create | SetData | Delete | CheckVersion


class Watcher(Protocol):
    """Called on any thread, one call at a time; must neither block nor call the store."""

    def changed(self, path: str) -> None:
        """The node was made, changed or deleted: read it to know. Several changes may be told as one."""

    def disconnected(self) -> None:
        """The store cannot be reached. The session may be over, which shows only on coming back."""

    def connected(self, *, new_session: bool) -> None:
        """Reached again, changes may have been missed: read everything anew. With a new session, ephemeral nodes
        of the old one are gone or about to go."""


class Store(Protocol):
    @property
    def session_id(self) -> int:
        """Of the session in force: what `Stat.owner` is for ephemeral nodes made now."""

    def create(self, path: str, data: bytes = b"", *, ephemeral: bool = False) -> None:
        """NodeExists; NoNode when the parent is missing; NoChildrenForEphemerals."""

    def get(self, path: str) -> Node:
        """NoNode."""

    def read_many(self, paths: Sequence[str]) -> list[Reading | None]:
        """Each node, or None where there is none. Not one moment's picture: others may write in between."""

    def set(self, path: str, data: bytes, version: int = ANY_VERSION) -> int:
        """The new version. NoNode, BadVersion."""

    def delete(self, path: str, version: int = ANY_VERSION) -> None:
        """NoNode, BadVersion, NotEmpty."""

    def children(self, path: str) -> list[str]:
        """Names, sorted, without the parent's path. NoNode."""

    def exists(self, path: str) -> bool: ...

    def stat(self, path: str) -> Stat | None: ...

    def multi(self, ops: Sequence[Op]) -> None:
        """All of the operations in order, or none: the first one refused raises its error."""

    def watch(self, watcher: Watcher) -> None:
        """Tells every change from now on, this session's own too."""

    def close(self) -> None:
        """Ends the session; its ephemeral nodes go."""


def check_path(path: str) -> None:
    """Ours to get right: a wrong path is a bug, not an answer."""
    assert path == "/" or (path.startswith("/") and not path.endswith("/") and "//" not in path), path


def parent_of(path: str) -> str:
    return path.rpartition("/")[0] or "/"


def touched_paths(ops: Sequence[Op]) -> list[str]:
    return [op.path for op in ops if not isinstance(op, CheckVersion)]
