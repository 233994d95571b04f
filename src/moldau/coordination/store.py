"""The coordination port: a tree of small versioned nodes, as ZooKeeper keeps one.

Paths are absolute, parts separated by `/`, without a trailing one; the root `/` is always there. Each node
holds bytes and a version that starts at 0 and grows by one with every `set`. An ephemeral node has no children
and goes when its owner's session ends. Calls block, so they run on worker threads; they may come from several.

Watches belong to this port too and are not in it yet: a single broker is the only writer of its store.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

from moldau.core.errors import MoldauError

ANY_VERSION: Final = -1


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


class Node(NamedTuple):
    data: bytes
    version: int


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


class Store(Protocol):
    def create(self, path: str, data: bytes = b"", *, ephemeral: bool = False) -> None:
        """NodeExists; NoNode when the parent is missing; NoChildrenForEphemerals."""

    def get(self, path: str) -> Node:
        """NoNode."""

    def set(self, path: str, data: bytes, version: int = ANY_VERSION) -> int:
        """The new version. NoNode, BadVersion."""

    def delete(self, path: str, version: int = ANY_VERSION) -> None:
        """NoNode, BadVersion, NotEmpty."""

    def children(self, path: str) -> list[str]:
        """Names, sorted, without the parent's path. NoNode."""

    def exists(self, path: str) -> bool: ...

    def multi(self, ops: Sequence[Op]) -> None:
        """All of the operations in order, or none: the first one refused raises its error."""

    def close(self) -> None:
        """Ends the session; its ephemeral nodes go."""


def check_path(path: str) -> None:
    """Ours to get right: a wrong path is a bug, not an answer."""
    assert path == "/" or (path.startswith("/") and not path.endswith("/") and "//" not in path), path


def parent_of(path: str) -> str:
    return path.rpartition("/")[0] or "/"
